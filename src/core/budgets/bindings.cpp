#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <stdexcept>

#include "bindings.hpp"
#include "budgets/levels.hpp"
#include "matrix/bindings.hpp"

namespace galton {

namespace {

template <class T>
const T* data_of(const In<T>& array, size_t size) {
    if (array.shape(0) != size) throw std::invalid_argument("an array has the wrong length");
    return array.data();
}

// Levels of a model whose arrays live in Python.
struct BoundLevels {
    nb::list owners;
    Levels levels;
};

void make_levels(BoundLevels* self, const nb::object& matrix, const In<int32_t>& component, size_t n_components,
                 const std::optional<In<int32_t>>& merged, const std::optional<In<uint8_t>>& skip,
                 const In<uint16_t>& classes, const In<uint8_t>& stays, const std::optional<In<double>>& earned, int optimum) {
    const MatrixView& view = nb::cast<const Matrix&>(matrix).view;
    LevelQuestion question{view,
                           data_of(component, view.n_states),
                           n_components,
                           merged ? data_of(*merged, view.n_states) : nullptr,
                           skip ? data_of(*skip, view.n_rows) : nullptr,
                           data_of(classes, view.n_rows),
                           stays.data(),
                           stays.shape(0),
                           earned ? data_of(*earned, view.n_rows) : nullptr,
                           optimum};
    for (size_t s = 0; s < view.n_states; ++s)
        if (question.component[s] >= 0 && static_cast<size_t>(question.component[s]) >= n_components)
            throw std::invalid_argument("a component has a number that is too large");
    for (size_t r = 0; r < view.n_rows; ++r)
        if (question.classes[r] >= question.n_classes) throw std::invalid_argument("a row is of no class");
    nb::list owners;
    owners.append(matrix);
    owners.append(nb::cast(component));
    if (merged) owners.append(nb::cast(*merged));
    if (skip) owners.append(nb::cast(*skip));
    owners.append(nb::cast(classes));
    owners.append(nb::cast(stays));
    if (earned) owners.append(nb::cast(*earned));
    new (self) BoundLevels{owners, Levels(question)};
}

std::tuple<size_t, bool> solve(BoundLevels& self, Out<double> values, size_t own, In<int64_t> targets, double tolerance,
                               size_t most_sweeps, int threads) {
    Levels& levels = self.levels;
    const size_t size = 2 * levels.n_states(), n_levels = size ? values.shape(0) / size : 0;
    const int64_t* where = data_of(targets, levels.n_classes());
    if (own >= n_levels) throw std::invalid_argument("no such level");
    for (size_t k = 0; k < levels.n_classes(); ++k)
        if (where[k] >= static_cast<int64_t>(n_levels)) throw std::invalid_argument("no such level");
    nb::gil_scoped_release released;
    const LevelOutcome found = levels.solve(values.data(), own, where, tolerance, most_sweeps, threads);
    return {found.sweeps, found.close};
}

}  // namespace

void bind_budgets(nb::module_& m) {
    nb::class_<BoundLevels>(m, "Levels")
        .def("__init__", &make_levels, nb::arg("matrix"), nb::kw_only(), nb::arg("component"), nb::arg("n_components"),
             nb::arg("merged").none(), nb::arg("skip").none(), nb::arg("classes"), nb::arg("stays"), nb::arg("earned").none(),
             nb::arg("optimum"))
        .def("solve", &solve, nb::arg("values"), nb::arg("own"), nb::arg("targets"), nb::kw_only(), nb::arg("tolerance"),
             nb::arg("most_sweeps"), nb::arg("threads"))
        .def_prop_ro("unknowns", [](const BoundLevels& self) { return self.levels.n_unknowns(); })
        .def_prop_ro("layers", [](const BoundLevels& self) { return self.levels.n_layers(); })
        .def_prop_ro("cyclic", [](const BoundLevels& self) { return self.levels.n_cyclic(); })
        .def_prop_ro("hard", [](const BoundLevels& self) { return self.levels.n_hard(); });
}

}  // namespace galton
