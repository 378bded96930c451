// Threads that share one job.
#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace galton {

// The system has no more threads to give. Python knows what there is too little of as MemoryError.
struct NoThreads : std::bad_alloc {
    const char* what() const noexcept override {
        return "the system has no more threads to give; ask for fewer with --threads";
    }
};

// Run body(thread) on each of `threads` threads and wait for all; the caller is the first of them. What one of them throws
// is thrown here, once all have ended.
inline void run_on_threads(int threads, const std::function<void(int)>& body) {
    std::exception_ptr failure;
    std::mutex failing;
    std::atomic<int> start{0};  // 1: all are there, 2: not all, and none begins, because bodies may wait for each other
    auto guarded = [&](int t) {
        start.wait(0);
        if (start == 2) return;
        try {
            body(t);
        } catch (...) {
            std::lock_guard guard(failing);
            if (!failure) failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        try {
            others.reserve(static_cast<size_t>(threads));
            for (int t = 1; t < threads; ++t) others.emplace_back(guarded, t);
            start = 1;
        } catch (const std::system_error&) {
            failure = std::make_exception_ptr(NoThreads());
            start = 2;
        } catch (...) {
            failure = std::current_exception();
            start = 2;
        }
        start.notify_all();
        guarded(0);
    }
    if (failure) std::rethrow_exception(failure);
}

// A job on a thread of its own.
template <class Job>
auto launch(Job&& job) {
    try {
        return std::async(std::launch::async, std::forward<Job>(job));
    } catch (const std::system_error&) {
        throw NoThreads();
    }
}

// The half-open part of [0, n) that belongs to one of `threads` threads.
inline std::pair<size_t, size_t> share(size_t n, int thread, int threads) {
    auto t = static_cast<size_t>(thread), all = static_cast<size_t>(threads);
    return {n * t / all, n * (t + 1) / all};
}

}  // namespace galton
