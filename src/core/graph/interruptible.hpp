// Long work that Ctrl-C ends.
#pragma once

#include <chrono>

#include "base/parallel.hpp"
#include "graph/graph.hpp"
#include "matrix/bindings.hpp"

namespace galton {

// Work on a large model is done on another thread, while this one looks for Ctrl-C; a small one is not worth a thread.
template <class Work>
auto interruptible(const Matrix& matrix, Work&& work) {
    constexpr size_t LARGE = size_t{1} << 22;
    Stop stop{false};
    nb::gil_scoped_release released;
    if (matrix.view.n_entries < LARGE) return work(stop);
    auto job = launch([&] { return work(stop); });
    while (job.wait_for(std::chrono::milliseconds(50)) != std::future_status::ready) {
        nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals() == 0) continue;
        stop = true;
        {
            nb::gil_scoped_release again;
            job.wait();
        }
        throw nb::python_error();
    }
    return job.get();
}

}  // namespace galton
