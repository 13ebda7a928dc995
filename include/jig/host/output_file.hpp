#pragma once
// Safe output: a file is written beside its place under another name and renamed when it is complete, so that neither
// an error nor a full disk ever leaves half a file or destroys the old one.

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <system_error>

#include "jig/host/mapped_file.hpp"

namespace jig::host {

/// A file being written. Without commit() nothing remains of it. Move-only.
class output_file {
 public:
  /// Opens a temporary file in the folder of `path`; a symbolic link is followed. "-", pipes and devices are written
  /// directly. Errors: cannot_write (the system's reason and the path).
  static result<output_file> create(const std::string& path) {
    namespace fs = std::filesystem;
    output_file out;
    out.path_ = path;
    if (path == "-") {
      out.stream_ = stdout;
      return out;
    }
    std::error_code ignored;
    if (const fs::path real = fs::canonical(path, ignored); !ignored) out.path_ = real.string();
    const fs::file_status old = fs::status(out.path_, ignored);
    if (fs::is_directory(old)) return detail::file_error(errc::cannot_write, path, EISDIR);
    const bool direct = fs::exists(old) && !fs::is_regular_file(old);
    out.written_path_ = direct ? out.path_ : out.path_ + ".tmp" + std::to_string(std::random_device{}());
    errno = 0;
    out.stream_ = std::fopen(out.written_path_.c_str(), direct ? "wb" : "wbx");
    if (out.stream_ == nullptr) return detail::file_error(errc::cannot_write, path, errno);
    out.temporary_ = !direct;
    if (fs::exists(old) && !direct) fs::permissions(out.written_path_, old.permissions(), ignored);
    return out;
  }

  output_file(output_file&& o) noexcept
      : path_(std::move(o.path_)),
        written_path_(std::move(o.written_path_)),
        stream_(std::exchange(o.stream_, nullptr)),
        temporary_(std::exchange(o.temporary_, false)) {}
  output_file& operator=(output_file&&) = delete;
  ~output_file() {
    close();
    if (temporary_) std::remove(written_path_.c_str());
  }

  /// Errors: cannot_write (for example "No space left on device: PATH").
  result<void> write(std::span<const u8> bytes) {
    errno = 0;
    if (std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) return error_now();
    return {};
  }

  /// Makes the file appear under its name. Errors: cannot_write.
  result<void> commit() {
    errno = 0;
    if (std::fflush(stream_) != 0) return error_now();
#if JIG_HAS_MMAP
    if (temporary_ && ::fsync(::fileno(stream_)) != 0) return error_now();
#endif
    if (close() != 0) return error_now();
    if (!temporary_) return {};
    std::error_code failed;
    std::filesystem::rename(written_path_, path_, failed);
    if (failed) return detail::file_error(errc::cannot_write, path_, failed.value());
    temporary_ = false;
    return {};
  }

 private:
  output_file() = default;
  int close() noexcept {
    std::FILE* f = std::exchange(stream_, nullptr);
    return f != nullptr && f != stdout ? std::fclose(f) : 0;
  }
  error error_now() const { return detail::file_error(errc::cannot_write, path_, errno); }

  std::string path_, written_path_;
  std::FILE* stream_ = nullptr;
  bool temporary_ = false;
};

}  // namespace jig::host
