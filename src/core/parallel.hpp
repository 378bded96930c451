// Threads that share one job.
#pragma once

#include <functional>
#include <thread>
#include <vector>

namespace galton {

// Run body(thread) on each of `threads` threads and wait for all; the caller is the first of them.
inline void run_on_threads(int threads, const std::function<void(int)>& body) {
    std::vector<std::thread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(body, t);
    body(0);
    for (std::thread& thread : others) thread.join();
}

// The half-open part of [0, n) that belongs to one of `threads` threads.
inline std::pair<size_t, size_t> share(size_t n, int thread, int threads) {
    auto t = static_cast<size_t>(thread), all = static_cast<size_t>(threads);
    return {n * t / all, n * (t + 1) / all};
}

}  // namespace galton
