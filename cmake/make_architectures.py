#!/usr/bin/env python3
"""Writes docs/architectures.md and include/jig/arch/headers.hpp from the headers of include/jig/arch and the kit in
tests/data/archs.

    python3 cmake/make_architectures.py            writes the files
    python3 cmake/make_architectures.py --check    fails if a file is not what would be written
"""
import json
import pathlib
import re
import statistics
import sys
import textwrap

root = pathlib.Path(__file__).resolve().parent.parent
listed = re.search(r"struct all_archs : archs<(.*?)> \{\};", (root / "include/jig/arch/all.hpp").read_text(), re.S)
order = re.findall(r"arch::(\w+)", listed.group(1))

structs = {}
for path in sorted((root / "include/jig/arch").glob("*.hpp")):
    text = path.read_text()
    for m in re.finditer(r"^struct (\w+)(?: : (\w+))? \{\n(.*?)^\};\n", text, re.S | re.M):
        name = re.search(r'name = "([^"]+)"', m.group(3))
        if name:
            structs[m.group(1)] = (name.group(1), m.group(2), m.group(3), path.name)


def inherited(struct, member):
    """The text of a member, of a base's if the struct has none of its own."""
    while struct in structs:
        _, base, body, _ = structs[struct]
        m = re.search(r"static constexpr (?:auto|decoder_spec) " + member + r"\b(.*?);\n", body, re.S)
        if m:
            return m.group(1)
        struct = base
    return ""


def blocks(struct, seen=()):
    """Building blocks: groups of the tensor table, followed through the tables that it is joined from."""
    text = inherited(struct, "tensors")
    found = []
    for other in re.findall(r"(\w+)::tensors", text):
        if other not in structs:  # a part that only this family has
            found.append(other)
        elif other not in seen:
            found += blocks(other, seen + (struct,))
    found += re.findall(r"tensors::(\w+)", text)
    if re.search(r"value forward\(", structs[struct][2]):
        found.append("own forward")
    out = []
    for f in found:
        if f not in out and f not in ("decoder", "norm", "one", "embedding"):
            out.append(f)
    return out


kit = {}
for path in sorted((root / "tests/data/archs").glob("*.json")):
    description = json.loads(path.read_text())
    if "logits" in description or "embedding" in description:
        kit.setdefault(description["architecture"], []).append(f"{path.stem} ({description['tolerance']:g})")

lines = ["""# Architectures

Made by `cmake/make_architectures.py` from the headers and from the kit in `tests/data/archs`; do not edit.

A family is a struct of tables in `include/jig/arch/`: its keys, its tensors, a `decoder_spec` that says what the
tensors do not show, and only rarely a forward pass of its own. Lines are those of the struct; a family that adds
nothing to a relative inherits its tables. Building blocks are groups of tensors; each has its code in
`include/jig/arch/blocks/`. The last column names the kit's models of the family, each with the tolerance (NMSE of the
logits or of the vector) that the tests hold it to, on the reference executor and on the CPU's kernels.

| family | header | lines | building blocks | kit |
| --- | --- | --: | --- | --- |"""]
sizes = []
for struct in order:
    name, base, body, header = structs[struct]
    sizes.append(body.count("\n") + 2)
    own = ", ".join(b.replace("_", " ") for b in blocks(struct))
    lines.append(f"| {name} | {header} | {sizes[-1]} | {own} | {', '.join(kit.get(name, [])) or '-'} |")
known = {structs[s][0] for s in order}
left = sorted(n for n in kit if n not in known)
covered = sum(len(v) for k, v in kit.items() if k in known)
summary = f"""{len(order)} families, {covered} models of the kit. Median length of a family:
{statistics.median(sizes):g} lines, the longest {max(sizes)}."""
missing = f"""{'Not written yet, of those in the kit: ' + ', '.join(left) + '. ' if left else ''}Loading a file of another
family is the error `unknown_architecture`, which lists what the program has; a program that was built without a family
of the table is told the header that adds it."""
lines += ["", textwrap.fill(summary, 120), "", textwrap.fill(missing, 120), ""]

header = """#pragma once
// Which header of jig/arch/ has which architecture: for programs that meet a file whose architecture they were not
// built with. Made by cmake/make_architectures.py; do not edit.

#include <string_view>

namespace jig {

/// An architecture by its name in files, and its header without ".hpp".
struct known_header {
  std::string_view name, header;
};
inline constexpr known_header known_headers[] = {
"""
for struct in order:
    name, _, _, file = structs[struct]
    header += f'    {{"{name}", "{file.removesuffix(".hpp")}"}},\n'
header += """};

/// The header of an architecture, empty if jig does not have it.
constexpr std::string_view header_of(std::string_view name) noexcept {
  for (const known_header& k : known_headers)
    if (k.name == name) return k.header;
  return {};
}

}  // namespace jig
"""

for target, text in ((root / "docs/architectures.md", "\n".join(lines)), (root / "include/jig/arch/headers.hpp", header)):
    if "--check" not in sys.argv:
        target.write_text(text)
    elif not target.exists() or target.read_text() != text:
        sys.exit(f"{target.relative_to(root)} is not up to date: run python3 cmake/make_architectures.py")
