#pragma once
// A file's bytes in memory, read-only: mapped where the system allows it, read into memory otherwise (pipes, file
// systems without mmap, Windows, WASI).
//
// A mapped file must not be cut short by others while it is in use: touching pages beyond its new end is a signal
// (SIGBUS), which no library can turn into an error.

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "jig/core/result.hpp"

#if defined(__unix__) || defined(__APPLE__)
#define JIG_HAS_MMAP 1
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#else
#define JIG_HAS_MMAP 0
#endif

namespace jig::host {

namespace detail {

/// An error about a file, with the system's reason before the path so that a long path does not hide it.
inline error file_error(errc code, const std::string& path, int reason) {
  return fail(code, reason != 0 ? std::string(std::strerror(reason)) + ": " + path : path);
}

}  // namespace detail

/// How to get at the bytes.
enum class map_mode {
  automatic,  ///< map, or read if that is refused
  read,       ///< always read: for files that others may shorten
};

/// The bytes of one file. Move-only.
class mapped_file {
 public:
  mapped_file() = default;
  mapped_file(mapped_file&& o) noexcept { swap(o); }
  mapped_file& operator=(mapped_file&& o) noexcept {
    mapped_file taken(std::move(o));
    swap(taken);
    return *this;
  }
  ~mapped_file() { close(); }

  /// Opens and maps or reads a whole file. Errors: cannot_open, cannot_read (the system's reason and the path),
  /// out_of_memory.
  static result<mapped_file> open(const std::string& path, map_mode mode = map_mode::automatic);

  std::span<const u8> bytes() const noexcept { return {data_, size_}; }
  bool is_mapped() const noexcept { return mapped_; }

  /// Tells the system that these bytes will not be needed soon: whole pages inside the range leave memory and come
  /// back from the file when touched. Nothing happens for files that were read.
  void release(std::span<const u8> range) const noexcept {
#if JIG_HAS_MMAP
    if (!mapped_ || range.empty()) return;
    const auto page = static_cast<usize>(::sysconf(_SC_PAGESIZE));
    const auto from = static_cast<usize>(range.data() - data_), to = from + range.size();
    const usize first = (from + page - 1) / page * page;
    const usize last = to == size_ ? to : to / page * page;
    if (first < last) (void)::madvise(const_cast<u8*>(data_) + first, last - first, MADV_DONTNEED);
#else
    (void)range;
#endif
  }

 private:
  void swap(mapped_file& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    std::swap(mapped_, o.mapped_);
  }
  void close() noexcept {
#if JIG_HAS_MMAP
    if (mapped_) ::munmap(const_cast<u8*>(data_), size_);
#endif
    if (!mapped_) std::free(const_cast<u8*>(data_));
  }
  template <class Read>
  result<void> read_all(const std::string& path, Read read);

  const u8* data_ = nullptr;
  usize size_ = 0;
  bool mapped_ = false;
};

/// Reads to the end with a buffer that doubles: the size of a pipe is not known. `read(p, n)` returns bytes read, 0 at
/// the end, -1 on an error with errno set.
template <class Read>
result<void> mapped_file::read_all(const std::string& path, Read read) {
  usize capacity = 0;
  for (;;) {
    if (size_ == capacity) {
      const usize wanted = capacity == 0 ? usize{1} << 16 : capacity * 2;
      void* grown = wanted > capacity ? std::realloc(const_cast<u8*>(data_), wanted) : nullptr;
      if (grown == nullptr) return fail(errc::out_of_memory, path).got(wanted);
      data_ = static_cast<u8*>(grown);
      capacity = wanted;
    }
    errno = 0;
    const auto n = read(const_cast<u8*>(data_) + size_, capacity - size_);
    if (n < 0) return detail::file_error(errc::cannot_read, path, errno);
    if (n == 0) return {};
    size_ += static_cast<usize>(n);
  }
}

#if JIG_HAS_MMAP

inline result<mapped_file> mapped_file::open(const std::string& path, map_mode mode) {
  struct descriptor {
    int fd;
    ~descriptor() {
      if (fd >= 0) ::close(fd);
    }
  } file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return detail::file_error(errc::cannot_open, path, errno);
  struct stat info {};
  if (::fstat(file.fd, &info) != 0) return detail::file_error(errc::cannot_read, path, errno);
  if (S_ISDIR(info.st_mode)) return detail::file_error(errc::cannot_read, path, EISDIR);
  mapped_file m;
  const bool regular = S_ISREG(info.st_mode) && info.st_size > 0;
  if (regular && static_cast<u64>(info.st_size) > SIZE_MAX) return fail(errc::out_of_memory, path);
  if (regular && mode == map_mode::automatic) {
    const auto size = static_cast<usize>(info.st_size);
    void* p = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (p != MAP_FAILED) {
      m.data_ = static_cast<const u8*>(p);
      m.size_ = size;
      m.mapped_ = true;
      return m;
    }
  }
  JIG_CHECK(m.read_all(path, [&](u8* p, usize n) {
    ssize_t got = 0;
    do got = ::read(file.fd, p, n);
    while (got < 0 && errno == EINTR);
    return got;
  }));
  return m;
}

#else

inline result<mapped_file> mapped_file::open(const std::string& path, map_mode) {
  struct stream {
    std::FILE* f;
    ~stream() {
      if (f != nullptr) std::fclose(f);
    }
  } file{std::fopen(path.c_str(), "rb")};
  if (file.f == nullptr) return detail::file_error(errc::cannot_open, path, errno);
  mapped_file m;
  JIG_CHECK(m.read_all(path, [&](u8* p, usize n) -> std::ptrdiff_t {
    const usize got = std::fread(p, 1, n, file.f);
    return got == 0 && std::ferror(file.f) ? -1 : static_cast<std::ptrdiff_t>(got);
  }));
  return m;
}

#endif

}  // namespace jig::host
