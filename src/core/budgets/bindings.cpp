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

void make_levels(Levels* self, const Matrix& matrix, const In<int32_t>& component, size_t n_components,
                 const std::optional<In<int32_t>>& merged, const std::optional<In<uint8_t>>& skip, const In<uint16_t>& classes,
                 const In<uint8_t>& stays, const std::optional<In<double>>& earned, const In<int32_t>& landing,
                 size_t n_landings, int optimum) {
    const MatrixView& view = matrix.view;
    const LevelQuestion question{view,
                                 data_of(component, view.n_states),
                                 n_components,
                                 merged ? data_of(*merged, view.n_states) : nullptr,
                                 skip ? data_of(*skip, view.n_rows) : nullptr,
                                 data_of(classes, view.n_rows),
                                 stays.data(),
                                 stays.shape(0),
                                 earned ? data_of(*earned, view.n_rows) : nullptr,
                                 data_of(landing, view.n_states),
                                 n_landings,
                                 optimum};
    for (size_t s = 0; s < view.n_states; ++s)
        if ((question.component[s] >= 0 && static_cast<size_t>(question.component[s]) >= n_components) ||
            (question.landing[s] >= 0 && static_cast<size_t>(question.landing[s]) >= n_landings))
            throw std::invalid_argument("a component or a landing has a number that is too large");
    for (size_t r = 0; r < view.n_rows; ++r)
        if (question.classes[r] >= question.n_classes) throw std::invalid_argument("a row is of no class");
    nb::gil_scoped_release released;
    new (self) Levels(question);
}

std::tuple<size_t, bool> solve(Levels& levels, Out<double> level, Out<double> kept, size_t own, In<int64_t> targets,
                               double tolerance, size_t most_sweeps, int threads) {
    const size_t size = 2 * levels.n_landings();
    if (level.shape(0) != 2 * levels.n_states()) throw std::invalid_argument("a level has two numbers for each state");
    const int64_t* where = data_of(targets, levels.n_classes());
    auto exists = [&](size_t place) { return (place + 1) * size <= kept.shape(0); };
    if (!exists(own)) throw std::invalid_argument("no such level");
    for (size_t k = 0; k < levels.n_classes(); ++k)
        if (where[k] >= 0 && !exists(static_cast<size_t>(where[k]))) throw std::invalid_argument("no such level");
    nb::gil_scoped_release released;
    const LevelOutcome found = levels.solve(level.data(), kept.data(), own, where, tolerance, most_sweeps, threads);
    return {found.sweeps, found.close};
}

}  // namespace

void bind_budgets(nb::module_& m) {
    // Matrices and vectors are read when levels are made, and not needed afterwards.
    nb::class_<Levels>(m, "Levels")
        .def("__init__", &make_levels, nb::arg("matrix"), nb::kw_only(), nb::arg("component"), nb::arg("n_components"),
             nb::arg("merged").none(), nb::arg("skip").none(), nb::arg("classes"), nb::arg("stays"), nb::arg("earned").none(),
             nb::arg("landing"), nb::arg("n_landings"), nb::arg("optimum"))
        .def("solve", &solve, nb::arg("level"), nb::arg("kept"), nb::arg("own"), nb::arg("targets"), nb::kw_only(),
             nb::arg("tolerance"), nb::arg("most_sweeps"), nb::arg("threads"))
        .def_prop_ro("unknowns", &Levels::n_unknowns)
        .def_prop_ro("layers", &Levels::n_layers)
        .def_prop_ro("cyclic", &Levels::n_cyclic)
        .def_prop_ro("hard", &Levels::n_hard);
}

}  // namespace galton
