#include <nanobind/stl/optional.h>

#include <stdexcept>

#include "bindings.hpp"
#include "matrix/bindings.hpp"
#include "regions/regions.hpp"
#include "regions/visit.hpp"

namespace galton {

namespace {

template <class Array>
auto data_of(const Array& array, size_t size) {
    if (array.shape(0) != size) throw std::invalid_argument("an array has the wrong length");
    return array.data();
}

// A matrix whose arrays live in Python.
struct BoundRows {
    ParametricRows view;
    nb::list owners;
};

void make_rows(BoundRows* self, In<int32_t> states, In<int64_t> starts, In<int32_t> terms, In<int64_t> group_starts,
               In<int32_t> columns, In<double> coefficients, size_t n_states, size_t n_terms, bool forward) {
    const size_t rows = states.shape(0), groups = terms.shape(0), entries = columns.shape(0);
    const ParametricRows view{states.data(),  data_of(starts, rows + 1),
                              terms.data(),   data_of(group_starts, groups + 1),
                              columns.data(), data_of(coefficients, entries),
                              rows,           n_states,
                              n_terms,        forward};
    auto below = [](const int32_t* numbers, size_t count, size_t most) {
        for (size_t i = 0; i < count; ++i)
            if (numbers[i] < 0 || static_cast<size_t>(numbers[i]) >= most) throw std::invalid_argument("a number is too large");
    };
    auto ascending = [](const int64_t* numbers, size_t count, size_t last) {
        for (size_t i = 0; i < count; ++i)
            if (numbers[i] > numbers[i + 1]) throw std::invalid_argument("starts do not ascend");
        if (numbers[0] != 0 || static_cast<size_t>(numbers[count]) != last)
            throw std::invalid_argument("rows do not end where they should");
    };
    below(view.states, rows, n_states);
    below(view.columns, entries, n_states);
    below(view.terms, groups, n_terms);
    ascending(view.starts, rows, groups);
    ascending(view.group_starts, groups, entries);
    new (self) BoundRows{view, nb::list()};
    for (const nb::object& array : {nb::cast(states), nb::cast(starts), nb::cast(terms), nb::cast(group_starts),
                                    nb::cast(columns), nb::cast(coefficients)})
        self->owners.append(array);
}

bool run(const BoundRows& rows, size_t steps, In<double> rates, std::optional<In<double>> weights, Out<double> x,
         Out<double> other, In<int32_t> watched, Out<double> sum, Out<double> changes, int threads) {
    constexpr size_t PAIR = 2 * LANES;
    const ParametricRows& view = rows.view;
    const double* table = data_of(rates, view.n_terms * PAIR);
    const double* factors = weights ? data_of(*weights, steps * LANES) : nullptr;
    double *from = data_of(x, view.n_states * PAIR), *to = data_of(other, view.n_states * PAIR);
    const size_t n_watched = watched.shape(0);
    double *total = data_of(sum, n_watched * PAIR), *largest = data_of(changes, PAIR);
    const int32_t* states = watched.data();
    nb::gil_scoped_release released;
    return region_steps(view, steps, table, factors, from, to, states, n_watched, total, largest, threads);
}

bool mark_visited(In<int64_t> starts, In<int32_t> columns, In<double> rates, In<int32_t> initial, Out<uint8_t> likely,
                  double time, double enough, double settled, size_t most_states, double most_work) {
    const size_t n_states = likely.shape(0);
    const RatesView chain{data_of(starts, n_states + 1), columns.data(), data_of(rates, columns.shape(0)), n_states};
    const VisitLimits limits{time, enough, settled, most_states, most_work};
    uint8_t* marks = likely.data();
    const std::vector<int32_t> states(initial.data(), initial.data() + initial.shape(0));
    nb::gil_scoped_release released;
    return visit(chain, states, limits, marks);
}

}  // namespace

void bind_regions(nb::module_& m) {
    m.attr("LANES") = LANES;
    nb::class_<BoundRows>(m, "ParametricRows")
        .def("__init__", &make_rows, nb::kw_only(), nb::arg("states"), nb::arg("starts"), nb::arg("terms"),
             nb::arg("group_starts"), nb::arg("columns"), nb::arg("coefficients"), nb::arg("n_states"), nb::arg("n_terms"),
             nb::arg("forward"))
        .def("run", &run, nb::arg("steps"), nb::kw_only(), nb::arg("rates"), nb::arg("weights").none(), nb::arg("x"),
             nb::arg("other"), nb::arg("watched"), nb::arg("sum"), nb::arg("changes"), nb::arg("threads"));
    m.def("visit", &mark_visited, nb::arg("starts"), nb::arg("columns"), nb::arg("rates"), nb::arg("initial"),
          nb::arg("likely"), nb::kw_only(), nb::arg("time"), nb::arg("enough"), nb::arg("settled"), nb::arg("most_states"),
          nb::arg("most_work"));
}

}  // namespace galton
