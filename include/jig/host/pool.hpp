#pragma once
// The thread pool behind jig::parallel: the caller works too, waiting threads spin briefly and then park.
//
// One run is one epoch. Each index has a slot that holds the last epoch it was claimed in; a thread owns an index by
// moving its slot to the current epoch. The caller, done with its own part, claims every index that nobody has begun.
// So no run ever waits for a thread that is still asleep, a lost wake-up could only cost speed, and eight threads on
// two CPUs finish as soon as two threads on two CPUs. Threads are not pinned and signals stay with the program's own
// threads.

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#endif

#include "jig/host/cpu_count.hpp"
#include "jig/ops/parallel.hpp"

namespace jig::host {

namespace detail {

/// Tells the core that this is a spin loop.
inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb" ::: "memory");  // `yield` is a no-op on most cores
#endif
}

/// True while this thread executes a part of some run: a run inside a run is executed by the thread alone.
inline thread_local bool inside_run = false;

/// Spins until done() or until the time is over; true if done() came true.
template <class Done>
bool spin(std::chrono::nanoseconds limit, Done done) noexcept {
  if (done()) return true;
  if (limit.count() <= 0) return false;
  const auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < 16; ++i) {
      if (done()) return true;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

/// Keeps new threads from taking signals that the program's own threads expect.
class signals_blocked {
 public:
#if defined(__unix__) || defined(__APPLE__)
  signals_blocked() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_;
#endif
};

}  // namespace detail

/// What a pool is made of; the defaults suit a program that owns the machine.
struct pool_options {
  u32 threads = 0;  ///< with the caller; 0 = default_threads(); more than pool::max_threads are not made
  u32 usable = 0;   ///< threads that may be busy at once; 0 = what affinity and quota allow
  std::chrono::nanoseconds spin = std::chrono::microseconds(50);  ///< before parking; 0 = park at once
};

/// Threads that execute one function together. Any thread may call run(); one run is served at a time.
class pool {
 public:
  static constexpr u32 max_threads = 1024;

  explicit pool(const pool_options& options = {}) noexcept : spin_(options.spin) {
    cpu_budget cpus;
    try {
      if (!options.threads || !options.usable) cpus = measure_cpus();
    } catch (...) {
      // Out of memory or files: one thread is what is certain.
    }
    const u32 wanted = std::min(options.threads ? options.threads : cpus.preferred, max_threads);
    usable_ = options.usable ? options.usable : cpus.usable;
    crowded_ = wanted > usable_;
    start(wanted);
  }

  ~pool() {
    stop_.store(true, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_seq_cst);
    epoch_.notify_all();
    for (std::thread& t : workers_) t.join();
  }

  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Threads with the caller: less than asked for if the system refused to make more.
  u32 threads() const noexcept { return threads_; }

  /// The handle for kernels; valid as long as the pool.
  parallel handle() noexcept {
    return {[](void* self, parallel::task t, void* context) { static_cast<pool*>(self)->run(t, context); }, this,
            threads_};
  }

  /// Executes t(context, index, threads()) for every index and returns when all are done; inside another run of this
  /// or any pool t(context, 0, 1) on the calling thread. Indices are usually executed by different threads, but one
  /// thread may execute several, one after another: tasks must not wait for each other.
  void run(parallel::task t, void* context) noexcept {
    if (threads_ == 1 || detail::inside_run) {
      t(context, 0, 1);
      return;
    }
    const std::lock_guard lock(one_run_);
    task_ = t;
    context_ = context;
    pending_.store(threads_, std::memory_order_relaxed);
    const u32 epoch = epoch_.load(std::memory_order_relaxed) + 1;
    epoch_.store(epoch, std::memory_order_seq_cst);  // publishes the three stores above
    wake();
    take(epoch, 0, true);
    wait_for_others();
  }

 private:
  static constexpr usize line = 64;

  struct alignas(line) slot {
    std::atomic<u32> claimed{0};  ///< the last epoch in which somebody took this index
  };

  void start(u32 wanted) noexcept {
    try {
      slots_ = std::make_unique<slot[]>(wanted);
      workers_.reserve(wanted - 1);
      const detail::signals_blocked guard;
      for (u32 i = 1; i < wanted; ++i) workers_.emplace_back([this, i] { serve(i); });
    } catch (...) {
      // The system's limit of threads or memory is reached: those that exist do the work.
    }
    threads_ = static_cast<u32>(workers_.size()) + 1;
  }

  /// Wakes parked workers as far as there are CPUs for them. notify is cheap when nobody is parked.
  void wake() noexcept {
    if (!crowded_) {
      epoch_.notify_all();
      return;
    }
    // Either this load sees that a worker has stopped spinning, or that worker sees the new epoch before it parks.
    const u32 awake = spinning_.load(std::memory_order_seq_cst);
    for (u32 i = awake; i + 1 < usable_; ++i) epoch_.notify_one();
  }

  /// Executes index `own` and then, if `others`, every index that nobody has taken in this epoch.
  void take(u32 epoch, u32 own, bool others) noexcept {
    u32 done = execute(epoch, own) ? 1 : 0;
    if (others)
      for (u32 k = 1; k < threads_; ++k) done += execute(epoch, own + k < threads_ ? own + k : own + k - threads_);
    if (done == 0) return;
    if (pending_.fetch_sub(done, std::memory_order_seq_cst) == done) pending_.notify_one();
  }

  bool execute(u32 epoch, u32 index) noexcept {
    std::atomic<u32>& claimed = slots_[index].claimed;
    u32 previous = epoch - 1;
    if (claimed.load(std::memory_order_relaxed) != previous) return false;
    if (!claimed.compare_exchange_strong(previous, epoch, std::memory_order_acquire)) return false;
    // From here the epoch cannot end, so task_ and context_ stay as they are, even for a worker that woke up late.
    detail::inside_run = true;
    task_(context_, index, threads_);
    detail::inside_run = false;
    return true;
  }

  void wait_for_others() noexcept {
    const auto done = [this] { return pending_.load(std::memory_order_acquire) == 0; };
    if (detail::spin(crowded_ ? std::min(spin_, crowded_spin) : spin_, done)) return;
    for (;;) {
      const u32 left = pending_.load(std::memory_order_acquire);
      if (left == 0) return;
      pending_.wait(left, std::memory_order_acquire);
    }
  }

  void serve(u32 index) noexcept {
    u32 seen = 0;
    for (;;) {
      seen = next_epoch(seen);
      if (stop_.load(std::memory_order_relaxed)) return;
      take(seen, index, crowded_);
    }
  }

  /// Waits until the epoch is another one than `seen`. In a crowded pool no more threads spin than CPUs are free.
  u32 next_epoch(u32 seen) noexcept {
    const auto changed = [&] { return epoch_.load(std::memory_order_seq_cst) != seen; };
    const bool may_spin = !crowded_ || spinning_.fetch_add(1, std::memory_order_seq_cst) + 1 < usable_;
    if (may_spin) detail::spin(spin_, changed);
    if (crowded_) spinning_.fetch_sub(1, std::memory_order_seq_cst);
    while (!changed()) epoch_.wait(seen, std::memory_order_seq_cst);
    return epoch_.load(std::memory_order_acquire);
  }

  static constexpr std::chrono::nanoseconds crowded_spin = std::chrono::microseconds(5);

  std::chrono::nanoseconds spin_;
  u32 usable_ = 1, threads_ = 1;
  bool crowded_ = false;
  std::atomic<bool> stop_{false};
  parallel::task task_ = nullptr;
  void* context_ = nullptr;
  std::mutex one_run_;
  std::unique_ptr<slot[]> slots_;
  std::vector<std::thread> workers_;
  alignas(line) std::atomic<u32> epoch_{0};
  alignas(line) std::atomic<u32> pending_{0};
  alignas(line) std::atomic<u32> spinning_{0};
};

}  // namespace jig::host
