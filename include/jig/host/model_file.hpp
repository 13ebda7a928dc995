#pragma once
// A GGUF model on disk: the file, or all parts of a split file, mapped, validated and indexed.
//
//   auto m = jig::host::open_model_file("model-00001-of-00003.gguf");   // any part will do
//   gguf::file_set set = m->set();                                      // keys and tensors of all parts

#include <span>
#include <string>
#include <vector>

#include "jig/gguf/file_set.hpp"
#include "jig/gguf/split.hpp"
#include "jig/host/mapped_file.hpp"

namespace jig::host {

/// An open model. Move-only; views taken from it stay valid when it is moved and end with it.
class model_file {
 public:
  gguf::file_set set() const noexcept { return gguf::file_set(std::span<const gguf::file>(files_)); }
  std::span<const gguf::file> files() const noexcept { return files_; }
  std::span<const mapped_file> maps() const noexcept { return maps_; }
  /// The path of each file; empty for a model in memory, as are the maps.
  std::span<const std::string> paths() const noexcept { return paths_; }

  /// Lets the pages of some data leave memory, see mapped_file::release.
  void release(std::span<const u8> data) const noexcept {
    for (const mapped_file& m : maps_) {
      const u8* first = m.bytes().data();
      if (data.data() >= first && data.data() < first + m.bytes().size()) m.release(data);
    }
  }

  /// Adds one file: mapped, validated with its index. Errors: those of mapped_file::open, gguf::open, build_index.
  result<void> add(const std::string& path, map_mode mode) {
    JIG_TRY(mapped_file m, mapped_file::open(path, mode));
    JIG_CHECK(add(m.bytes()));
    maps_.push_back(std::move(m));
    paths_.push_back(path);
    return {};
  }
  /// Adds one file that lies in memory and stays there. Errors: those of gguf::open, build_index.
  result<void> add(std::span<const u8> bytes) {
    JIG_TRY(gguf::file f, gguf::open(bytes));
    std::vector<u32> index(f.index_words());
    JIG_CHECK(f.build_index(index));
    files_.push_back(f);
    indices_.push_back(std::move(index));
    return {};
  }

 private:
  std::vector<mapped_file> maps_;
  std::vector<gguf::file> files_;
  std::vector<std::vector<u32>> indices_;
  std::vector<std::string> paths_;
};

/// Opens a model file; given any part of a split model, opens all its parts from the same folder. Every check of the
/// container is done, and the parts are checked against each other.
/// Errors: those of mapped_file::open, gguf::open, file::build_index and gguf::check_split; bad_split with the missing
/// part's path, or if the file says that it is a part but is not named like one.
inline result<model_file> open_model_file(const std::string& path, map_mode mode = map_mode::automatic) {
  model_file m;
  JIG_CHECK(m.add(path, mode));
  JIG_TRY(const gguf::split_info split, gguf::read_split_info(m.files().front()));
  if (split.count == 1) return m;
  const auto name = gguf::parse_split_path(path);
  if (!name) return fail(errc::bad_split, "not named -NNNNN-of-NNNNN.gguf: " + path).got(split.count);
  if (name->count != split.count || name->no != split.no) return fail(errc::bad_split, path).got(split.no);
  model_file all;
  std::string buffer(path.size() + 32, '\0');
  for (u32 i = 0; i < split.count; ++i) {
    JIG_TRY(const std::string_view part, gguf::split_path(name->prefix, i, split.count, buffer));
    const auto added = all.add(std::string(part), mode);
    if (!added && added.error().code == errc::cannot_open) return fail(errc::bad_split, added.error().name()).got(i);
    JIG_CHECK(added);
  }
  JIG_CHECK(gguf::check_split(all.files()));
  return all;
}

/// A model that lies in memory, whole. Errors: those of gguf::open and build_index; bad_split for a part of a model.
inline result<model_file> open_model_bytes(std::span<const u8> bytes) {
  model_file m;
  JIG_CHECK(m.add(bytes));
  JIG_TRY(const gguf::split_info split, gguf::read_split_info(m.files().front()));
  if (split.count != 1) return fail(errc::bad_split, "in memory").got(split.count);
  return m;
}

}  // namespace jig::host
