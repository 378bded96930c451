#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include <chrono>

#include "bindings.hpp"
#include "long_run/average.hpp"
#include "long_run/bias.hpp"
#include "long_run/drift.hpp"
#include "long_run/elimination_order.hpp"
#include "long_run/incomplete_elimination.hpp"
#include "long_run/symmetric_sweep.hpp"
#include "matrix/bindings.hpp"

namespace galton {

namespace {

using MaybeIn = std::optional<In<double>>;

const double* data_of(const MaybeIn& array) { return array ? array->data() : nullptr; }

void bind_drift_bounds(const Matrix& matrix, const MaybeIn& state, const MaybeIn& choice, In<double> high, const MaybeIn& low,
                       Out<double> lower, Out<double> upper, int threads) {
    nb::gil_scoped_release released;
    drift_bounds(matrix.view, data_of(state), data_of(choice), high.data(), data_of(low), lower.data(), upper.data(), threads);
}

// The averages of many components; those of component k are members[starts[k]] up to members[starts[k + 1]].
void bind_eliminate(const Matrix& matrix, In<double> reward, In<int32_t> members, In<int64_t> starts, Out<double> values,
                    Out<double> errors) {
    nb::gil_scoped_release released;
    std::vector<int32_t> position(matrix.view.n_states);
    for (size_t k = 0; k + 1 < starts.shape(0); ++k) {
        const auto first = static_cast<size_t>(starts.data()[k]), last = static_cast<size_t>(starts.data()[k + 1]);
        Average average = eliminate(matrix.view, reward.data(), members.data() + first, last - first, position.data());
        values.data()[k] = average.value;
        errors.data()[k] = average.relative_error;
    }
}

// Loops are no exits.
nb::object bind_exit_rates(const Matrix& matrix) {
    std::vector<double> rates(matrix.view.n_states);
    {
        nb::gil_scoped_release released;
        visit(matrix.view, [&](const auto& rows) {
            for (size_t s = 0; s < rates.size(); ++s) {
                for (size_t e = rows.first_entry(s); e < rows.first_entry(s + 1); ++e) {
                    if (static_cast<size_t>(rows.columns[e]) != s) rates[s] += rows.values[e];
                }
            }
        });
    }
    return as_array(rates);
}

template <std::vector<int32_t> (*Order)(const MatrixView&, int32_t)>
nb::object bind_order(const Matrix& matrix, int32_t last) {
    std::vector<int32_t> order;
    {
        nb::gil_scoped_release released;
        order = Order(matrix.view, last);
    }
    return as_array(order);
}

// The objects below refer to the matrix and the arrays they are given: Python keeps those alive (nb::keep_alive).
void make_elimination(IncompleteElimination* self, const Matrix& matrix, In<double> exit_rates, In<int32_t> order,
                      double threshold, size_t capacity, size_t operations, int threads, bool ending) {
    new (self)
        IncompleteElimination(matrix.view, exit_rates.data(), order.data(), threshold, capacity, operations, threads, ending);
}

nb::tuple as_tuple(const Bias::Step& step, int steps) {
    return nb::make_tuple(step.gain + step.least, step.gain + step.most, step.broken, steps);
}

nb::tuple begin(Bias& self, In<double> reward, Out<double> h) {
    Bias::Step step;
    {
        nb::gil_scoped_release released;
        step = self.begin(reward.data(), h.data());
    }
    return as_tuple(step, 0);
}

// Steps until the bounds are close, the recursion is broken, or a fifth of a second is over.
nb::tuple advance(Bias& self, Preconditioner& preconditioner, double relative, double absolute, int most) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::milliseconds(200);
    Bias::Step step;
    int steps = 0;
    {
        nb::gil_scoped_release released;
        do {
            step = self.advance(preconditioner);
            ++steps;
        } while (!step.broken && step.width() > std::max(relative * std::abs(step.gain), absolute) && steps < most &&
                 Clock::now() < end);
    }
    return as_tuple(step, steps);
}

}  // namespace

void bind_long_run(nb::module_& m) {
    m.def("drift_bounds", &bind_drift_bounds, nb::arg("matrix"), nb::kw_only(), nb::arg("state").none(),
          nb::arg("choice").none(), nb::arg("high"), nb::arg("low").none(), nb::arg("lower"), nb::arg("upper"),
          nb::arg("threads"));
    m.def("eliminate", &bind_eliminate, nb::arg("matrix"), nb::arg("reward"), nb::arg("members"), nb::arg("starts"),
          nb::arg("values"), nb::arg("errors"));
    m.def("leaving_rates", &bind_exit_rates, nb::arg("matrix"));
    m.def(
        "busiest_state",
        [](const Matrix& matrix, int32_t first, size_t steps) { return busiest_state(matrix.view, first, steps); },
        nb::arg("matrix"), nb::arg("first"), nb::arg("steps"), nb::call_guard<nb::gil_scoped_release>());
    m.def("far_first", &bind_order<far_first>, nb::arg("matrix"), nb::arg("last"));
    m.def("nested_dissection", &bind_order<nested_dissection>, nb::arg("matrix"), nb::arg("last"));
    nb::class_<Preconditioner>(m, "Preconditioner")
        .def(
            "solve", [](Preconditioner& self, In<double> b, Out<double> h) { self.solve(b.data(), h.data()); }, nb::arg("b"),
            nb::arg("h"));
    nb::class_<SymmetricSweep, Preconditioner>(m, "SymmetricSweep")
        .def(
            "__init__",
            [](SymmetricSweep* self, const Matrix& matrix, In<double> exit_rates, int threads) {
                new (self) SymmetricSweep(matrix.view, exit_rates.data(), threads);
            },
            nb::arg("matrix"), nb::arg("leaving_rates"), nb::arg("threads"), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
    nb::class_<IncompleteElimination, Preconditioner>(m, "IncompleteElimination")
        .def("__init__", &make_elimination, nb::arg("matrix"), nb::kw_only(), nb::arg("leaving_rates"), nb::arg("order"),
             nb::arg("threshold"), nb::arg("capacity"), nb::arg("operations"), nb::arg("threads"), nb::arg("ending") = false,
             nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
        .def("advance", &IncompleteElimination::advance, nb::call_guard<nb::gil_scoped_release>())
        .def(
            "solve_ending",
            [](IncompleteElimination& self, In<double> b, Out<double> h) { self.solve_ending(b.data(), h.data()); },
            nb::arg("b"), nb::arg("h"), nb::call_guard<nb::gil_scoped_release>())
        .def("share_of_last", &IncompleteElimination::share_of_last)
        .def("busiest", &IncompleteElimination::busiest)
        .def_prop_ro("fits", &IncompleteElimination::fits)
        .def_prop_ro("entries", &IncompleteElimination::entries);
    nb::class_<Bias>(m, "Bias")
        .def(
            "__init__",
            [](Bias* self, const Matrix& matrix, size_t z, int threads) { new (self) Bias(matrix.view, z, threads); },
            nb::arg("matrix"), nb::arg("z"), nb::arg("threads"), nb::keep_alive<1, 2>())
        .def("begin", &begin, nb::arg("reward"), nb::arg("h"), nb::keep_alive<1, 3>())
        .def("advance", &advance, nb::arg("preconditioner"), nb::arg("relative"), nb::arg("absolute"), nb::arg("most"));
}

}  // namespace galton
