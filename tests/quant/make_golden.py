#!/usr/bin/env python3
"""Copies what the tests of quant need from the golden kit to tests/data/quant: block bytes, and golden.txt.

  make_golden.py KIT OUT     (KIT = shared/golden/quant)

golden.txt holds, a line each:
  set TYPE SET ROWS HASH         the decoded values of TYPE.SET.bin: FNV-1a (64 bits) of their little-endian f32 bytes
  dot TYPE SET ROW ACT VALUE UNIT  dot of a row with an activation row: the reference's scalar result, sum |w * a|
  grid NAME ENTRIES HASH         a codebook, expanded to signed bytes
The rand sets of the plain floats are left out: tests convert every f16 and bf16 instead.
"""
import hashlib
import json
import os
import shutil
import sys


def fnv(data):
    h = 0xcbf29ce484222325
    for b in data:
        h = (h ^ b) * 0x100000001b3 & 0xffffffffffffffff
    return "%016x" % h


def main():
    kit, out = sys.argv[1:3]
    index = json.load(open(os.path.join(kit, "index.json")))
    acts = index["activation"]["rows"]
    lines = []

    def read(name):
        data = open(os.path.join(kit, name), "rb").read()
        assert hashlib.sha256(data).hexdigest() == index["files"][name]["sha256"], name
        return data

    def copy(name):
        read(name)
        shutil.copyfile(os.path.join(kit, name), os.path.join(out, name))

    copy("input.f32")
    copy("imatrix.f32")
    copy("activation.f32")
    for name in index["activation"]["as"].values():
        copy(name)
    for t, info in index["types"].items():
        for s, v in info["sets"].items():
            if info["block_values"] == 1 and s == "rand":
                continue
            copy(v["bytes_file"])
            lines.append("set %s %s %d %s" % (t, s, v["rows"], fnv(read(v["values_file"]))))
            if "dot_scalar" not in v:
                continue
            pairs = [(r, a) for r in range(v["rows"]) for a in range(acts) if s != "rand" or a == r % acts]
            for (r, a), d, n in zip(pairs, v["dot_scalar"], v["abs_sum"]):
                lines.append("dot %s %s %d %d %.9g %.4g" % (t, s, r, a, d, n))
    books = json.load(open(os.path.join(kit, "codebooks.json")))
    for name, b in books.items():
        if "codes" not in b:
            continue
        mask = (1 << b["bits"]) - 1
        grid = bytes(b["levels"][c >> (b["bits"] * j) & mask] & 255 for c in b["codes"] for j in range(b["coordinates"]))
        assert hashlib.sha256(grid).hexdigest() == b["sha256_expanded"], name
        lines.append("grid %s %d %s" % (name, b["entries"], fnv(grid)))
    open(os.path.join(out, "golden.txt"), "w").write("\n".join(lines) + "\n")


main()
