// Threads that share one job.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace galton {

// Run body(thread) on each of `threads` threads and wait for all; the caller is the first of them. What one of them throws
// is thrown here, once all have ended.
inline void run_on_threads(int threads, const std::function<void(int)>& body) {
    std::exception_ptr failure;
    std::mutex failing;
    auto guarded = [&](int t) {
        try {
            body(t);
        } catch (...) {
            std::lock_guard guard(failing);
            if (!failure) failure = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> others;
        for (int t = 1; t < threads; ++t) others.emplace_back(guarded, t);
        guarded(0);
    }
    if (failure) std::rethrow_exception(failure);
}

// The half-open part of [0, n) that belongs to one of `threads` threads.
inline std::pair<size_t, size_t> share(size_t n, int thread, int threads) {
    auto t = static_cast<size_t>(thread), all = static_cast<size_t>(threads);
    return {n * t / all, n * (t + 1) / all};
}

}  // namespace galton
