#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>

#include "bindings.hpp"
#include "matrix/bindings.hpp"
#include "steps/forward.hpp"
#include "steps/steps.hpp"

namespace galton {

namespace {

template <class Array>
auto data_of(const Array& array, size_t size) {
    if (array.shape(0) != size) throw std::invalid_argument("an array has the wrong length");
    return array.data();
}

template <class Array>
auto data_of(const std::optional<Array>& array, size_t size) {
    return array ? data_of(*array, size) : nullptr;
}

using Seen = std::tuple<bool, double, double, double, double, double, double, double>;

Seen seen(bool swapped, const Extremes& e) {
    return {swapped, e.least, e.most, e.least_ratio, e.most_ratio, e.least_change, e.most_change, e.faintest};
}

// The states to watch, and (steps · states) room for their numbers; none without.
Watched watched_of(const std::optional<In<int32_t>>& states, const std::optional<Out<double>>& record, size_t steps, size_t n) {
    if (!states) return {};
    const size_t count = states->shape(0);
    const int32_t* first = states->data();
    if (!record) throw std::invalid_argument("watched states need a record");
    if (!std::is_sorted(first, first + count) || (count && (*first < 0 || static_cast<size_t>(first[count - 1]) >= n)))
        throw std::invalid_argument("watched states are numbers of states, in ascending order");
    return {first, count, data_of(*record, steps * count)};
}

// A stepper whose arrays live in Python.
struct Chain {
    nb::object matrix, stay;
    ChainStepper stepper;
};

void make_chain(Chain* self, nb::object matrix, double scale, nb::object stay) {
    const MatrixView& view = nb::cast<const Matrix&>(matrix).view;
    const double* rates = stay.is_none() ? nullptr : data_of(nb::cast<In<double>>(stay), view.n_states);
    new (self) Chain{matrix, stay, ChainStepper({view, scale, rates})};
}

Seen run_chain(const Chain& chain, size_t steps, std::optional<In<double>> weights, Out<double> x, Out<double> other,
               std::optional<Out<double>> sum, int threads, std::optional<In<int32_t>> watched,
               std::optional<Out<double>> record) {
    const size_t n = chain.stepper.matrix().n_states;
    if (chain.stepper.width() > n) throw std::invalid_argument("rows lead out of the chain; run_part takes such");
    const double* factors = data_of(weights, steps);
    double *from = data_of(x, n), *to = data_of(other, n), *total = data_of(sum, n);
    if (total && !factors) throw std::invalid_argument("a sum needs weights");
    const Watched kept = watched_of(watched, record, steps, n);
    Extremes extremes;
    nb::gil_scoped_release released;
    const bool swapped = chain.stepper.run(steps, factors, from, to, total, kept, threads, &extremes);
    return seen(swapped, extremes);
}

// One step for a part of a chain: vectors have numbers of states behind its own, which its rows may lead to.
void run_part(const Chain& chain, std::optional<double> weight, Out<double> x, Out<double> other,
              std::optional<Out<double>> sum, int threads) {
    const size_t size = x.shape(0);
    if (size < chain.stepper.width()) throw std::invalid_argument("an array has the wrong length");
    double *from = x.data(), *to = data_of(other, size), *total = data_of(sum, chain.stepper.matrix().n_states);
    if (total && !weight) throw std::invalid_argument("a sum needs a weight");
    nb::gil_scoped_release released;
    chain.stepper.run(1, weight ? &*weight : nullptr, from, to, total, {}, threads, nullptr);
}

// The same for an MDP.
struct Bellman {
    nb::object matrix, constant;
    BellmanStepper stepper;
};

void make_bellman(Bellman* self, nb::object matrix, nb::object constant, bool maximise) {
    const MatrixView& view = nb::cast<const Matrix&>(matrix).view;
    const double* added = constant.is_none() ? nullptr : data_of(nb::cast<In<double>>(constant), view.n_rows);
    new (self) Bellman{matrix, constant, BellmanStepper({view, added, maximise})};
}

Seen run_bellman(const Bellman& bellman, size_t steps, Out<double> x, Out<double> other, std::optional<Out<int32_t>> choices,
                 int threads, std::optional<In<int32_t>> watched, std::optional<Out<double>> record) {
    const size_t n = bellman.stepper.matrix().n_states;
    double *from = data_of(x, n), *to = data_of(other, n);
    int32_t* chosen = data_of(choices, steps * n);
    const Watched kept = watched_of(watched, record, steps, n);
    Extremes extremes;
    nb::gil_scoped_release released;
    const bool swapped = bellman.stepper.run(steps, from, to, chosen, kept, threads, &extremes);
    return seen(swapped, extremes);
}

nb::tuple bound_part_of(const Matrix& matrix, In<int32_t> states, In<int32_t> position, bool loops, int threads) {
    const int32_t* old = data_of(position, matrix.view.n_states);
    Part part;
    {
        nb::gil_scoped_release released;
        part = part_of(matrix.view, states.data(), states.shape(0), old, loops, threads);
    }
    nb::object groups = matrix.view.groups ? as_array(part.groups) : nb::none();
    nb::object entries = matrix.view.bytes    ? as_array(part.bytes)
                         : matrix.view.shorts ? as_array(part.shorts)
                                              : as_array(part.plain);
    return nb::make_tuple(groups, as_array(part.starts), as_array(part.columns), entries);
}

void bound_row_products(const Matrix& matrix, In<double> x, Out<double> y, int threads) {
    const double* from = data_of(x, matrix.view.n_states);
    double* to = data_of(y, matrix.view.n_rows);
    nb::gil_scoped_release released;
    row_products(matrix.view, from, to, threads);
}

void bound_exit_rates(const Matrix& matrix, bool loops, Out<double> high, Out<double> low, int threads) {
    double *first = data_of(high, matrix.view.n_rows), *second = data_of(low, matrix.view.n_rows);
    nb::gil_scoped_release released;
    exit_rates(matrix.view, loops, first, second, threads);
}

// A distribution that moves, of a chain whose arrays live in Python.
struct BoundForward {
    nb::object matrix, moving, high, low;
    Forward forward;
};

void make_forward(BoundForward* self, nb::object matrix, nb::object moving, nb::object high, nb::object low) {
    const MatrixView& view = nb::cast<const Matrix&>(matrix).view;
    if (view.groups) throw std::invalid_argument("only a chain can move by itself");
    const Leaving chain{view, data_of(nb::cast<In<uint8_t>>(moving), view.n_states),
                        data_of(nb::cast<In<double>>(high), view.n_states), data_of(nb::cast<In<double>>(low), view.n_states)};
    new (self) BoundForward{matrix, moving, high, low, Forward(chain)};
}

nb::tuple advance(BoundForward& self, In<int32_t> states, In<double> mass, double rate, size_t left, In<double> weights,
                  In<double> tails, double keep, double standstill, std::optional<In<double>> earning,
                  std::optional<In<double>> worth, double most_states, double most_entries) {
    const size_t count = weights.shape(0), n = states.shape(0);
    const Jumps jumps{.rate = rate,
                      .left = left,
                      .weights = weights.data(),
                      .tails = data_of(tails, count),
                      .count = count,
                      .keep = keep,
                      .standstill = standstill,
                      .earning = data_of(earning, self.forward.n_states()),
                      .worth = data_of(worth, self.forward.n_states()),
                      .most_states = most_states,
                      .most_entries = most_entries};
    const int32_t* from = states.data();
    const double* masses = data_of(mass, n);
    Moved found;
    {
        nb::gil_scoped_release released;
        found = self.forward.advance(from, masses, n, jumps);
    }
    return nb::make_tuple(as_array(found.states), as_array(found.mass), found.lost, found.earned, found.change, found.too_fast,
                          found.too_much, found.steps, found.entries, found.met, found.widest, as_array(found.worths));
}

}  // namespace

void bind_steps(nb::module_& m) {
    nb::class_<Chain>(m, "Chain")
        .def("__init__", &make_chain, nb::arg("matrix"), nb::arg("scale"), nb::arg("stay").none())
        .def("run", &run_chain, nb::arg("steps"), nb::arg("weights").none(), nb::arg("x"), nb::arg("other"),
             nb::arg("sum").none(), nb::arg("threads"), nb::arg("watched") = nb::none(), nb::arg("record") = nb::none())
        .def("run_part", &run_part, nb::arg("weight").none(), nb::arg("x"), nb::arg("other"), nb::arg("sum").none(),
             nb::arg("threads"))
        .def_prop_ro("segments", [](const Chain& chain) { return chain.stepper.n_segments(); })
        .def_prop_ro("alike", [](const Chain& chain) { return chain.stepper.n_alike(); });
    nb::class_<Bellman>(m, "Bellman")
        .def("__init__", &make_bellman, nb::arg("matrix"), nb::arg("constant").none(), nb::arg("maximise"))
        .def("run", &run_bellman, nb::arg("steps"), nb::arg("x"), nb::arg("other"), nb::arg("choices").none(),
             nb::arg("threads"), nb::arg("watched") = nb::none(), nb::arg("record") = nb::none());
    nb::class_<BoundForward>(m, "Forward")
        .def("__init__", &make_forward, nb::arg("matrix"), nb::arg("moving"), nb::arg("high"), nb::arg("low"))
        .def("advance", &advance, nb::arg("states"), nb::arg("mass"), nb::arg("rate"), nb::arg("left"), nb::arg("weights"),
             nb::arg("tails"), nb::kw_only(), nb::arg("keep"), nb::arg("standstill"), nb::arg("earning").none(),
             nb::arg("worth").none(), nb::arg("most_states"), nb::arg("most_entries"));
    m.def("part_of", &bound_part_of, nb::arg("matrix"), nb::arg("states"), nb::arg("position"), nb::arg("loops"),
          nb::arg("threads"));
    m.def("row_products", &bound_row_products, nb::arg("matrix"), nb::arg("x"), nb::arg("y"), nb::arg("threads"));
    m.def("exit_rates", &bound_exit_rates, nb::arg("matrix"), nb::arg("loops"), nb::arg("high"), nb::arg("low"),
          nb::arg("threads"));
}

}  // namespace galton
