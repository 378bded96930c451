// Graph analysis as Python sees it: masks in, arrays out.
#include <algorithm>
#include <optional>
#include <stdexcept>

#include <nanobind/stl/optional.h>

#include "bindings.hpp"
#include "graph/interruptible.hpp"
#include "graph/rank_search.hpp"

namespace galton {

namespace {

using Mask = In<bool>;
using MaybeMask = std::optional<In<bool>>;

const bool* pointer(const Mask& mask, size_t size) {
    if (mask.shape(0) != size) throw std::invalid_argument("a mask of the wrong length");
    return mask.data();
}

const bool* pointer(const MaybeMask& mask, size_t size) { return mask ? pointer(*mask, size) : nullptr; }

nb::tuple components(const Matrix& matrix, const MaybeMask& within, const MaybeMask& choices) {
    const bool *states = pointer(within, matrix.view.n_states), *rows = pointer(choices, matrix.view.n_rows);
    Components found =
        interruptible(matrix, [&](const Stop& stop) { return strong_components(matrix.view, states, rows, stop); });
    return nb::make_tuple(as_array(found.component), as_array(found.order), as_array(found.starts), as_array(found.trivial),
                          as_array(found.bottom));
}

nb::object backward(const Matrix& matrix, Step step, const BackwardSearch& search) {
    Pages<bool> found(matrix.view.n_states);
    interruptible(matrix, [&](const Stop& stop) { search_backward(matrix.view, step, search, found.data(), stop); });
    return as_array(found);
}

template <Step step>
nb::object reach(const Matrix& matrix, const Mask& through, const Mask& goal) {
    const size_t n = matrix.view.n_states;
    return backward(matrix, step, {.through = pointer(through, n), .goal = pointer(goal, n)});
}

nb::object reach_by(const Matrix& matrix, const Mask& through, const Mask& goal, const MaybeMask& staying,
                    const Out<int32_t>& rows) {
    const size_t n = matrix.view.n_states;
    if (rows.shape(0) != n) throw std::invalid_argument("a strategy of the wrong length");
    return backward(matrix, Step::SomeRow, {pointer(through, n), pointer(goal, n), pointer(staying, n), rows.data()});
}

nb::object reach_surely(const Matrix& matrix, const Mask& through, const Mask& goal, const Mask& candidates) {
    const size_t n = matrix.view.n_states;
    const bool *states = pointer(through, n), *goals = pointer(goal, n);
    Pages<bool> found(n);
    std::copy_n(pointer(candidates, n), n, found.data());
    interruptible(matrix, [&](const Stop& stop) { search_sure(matrix.view, states, goals, found.data(), stop); });
    return as_array(found);
}

nb::tuple ends(const Matrix& matrix, const MaybeMask& within, const MaybeMask& choices) {
    const bool *states = pointer(within, matrix.view.n_states), *rows = pointer(choices, matrix.view.n_rows);
    EndComponents found =
        interruptible(matrix, [&](const Stop& stop) { return end_components(matrix.view, states, rows, stop); });
    return nb::make_tuple(as_array(found.component), as_array(found.staying), found.count);
}

nb::object reach_forward(const Matrix& matrix, const Mask& start, const MaybeMask& within) {
    const size_t n = matrix.view.n_states;
    const bool *first = pointer(start, n), *inside = pointer(within, n);
    Pages<bool> found(n);
    interruptible(matrix, [&](const Stop& stop) { search_forward(matrix.view, first, inside, found.data(), stop); });
    return as_array(found);
}

nb::tuple product(const Matrix& matrix, const In<int32_t>& letter, const In<int32_t>& successor, size_t n_letters,
                  const In<int64_t>& first) {
    const size_t n = matrix.view.n_states;
    if (letter.shape(0) != n) throw std::invalid_argument("letters of the wrong length");
    const ReadLetters letters{letter.data(), successor.data(), successor.shape(0) / n_letters, n_letters};
    try {
        AutomatonProduct found = interruptible(matrix, [&](const Stop& stop) {
            return automaton_product(matrix.view, letters, first.data(), first.shape(0), stop);
        });
        return nb::make_tuple(as_array(found.pairs), as_array(found.choice_starts), as_array(found.rows),
                              as_array(found.row_starts), as_array(found.entries), as_array(found.columns));
    } catch (const TooLarge&) {
        throw std::overflow_error("more states or choices than there are 32-bit numbers");
    }
}

std::vector<int32_t> listed(const In<int32_t>& numbers) { return {numbers.data(), numbers.data() + numbers.shape(0)}; }

template <class T>
T* checked(const Out<T>& array, size_t size) {
    if (array.shape(0) != size) throw std::invalid_argument("an array of the wrong length");
    return array.data();
}

void bind_rank_search(nb::module_& m) {
    using Found = Out<bool>;
    using Fresh = In<int32_t>;
    auto as_result = [](std::vector<int32_t> found) { return as_array(found); };
    m.def(
        "stay_among",
        [](const Matrix& matrix, const Mask& inside, Found staying) {
            stay_among(matrix.view, inside.data(), checked(staying, matrix.view.n_rows));
        },
        nb::arg("matrix"), nb::arg("inside"), nb::arg("staying"));
    nb::class_<RankSearch>(m, "RankSearch")
        .def(
            "__init__", [](RankSearch* self, const Matrix& matrix, size_t size) { new (self) RankSearch(matrix.view, size); },
            nb::arg("matrix"), nb::arg("size"), nb::keep_alive<1, 2>())
        .def(
            "backward",
            [=](const RankSearch& self, Found found, const Mask& through, const MaybeMask& allowed,
                std::optional<Out<int32_t>> left, std::optional<Found> hit, std::optional<Out<int32_t>> by,
                const Fresh& fresh) {
                bool* set = checked(found, self.size());
                const bool *states = pointer(through, self.states()), *rows = pointer(allowed, self.rows());
                int32_t* counts = left ? checked(*left, self.states()) : nullptr;
                bool* seen = hit ? checked(*hit, self.rows()) : nullptr;
                int32_t* joined_by = by ? checked(*by, self.states()) : nullptr;
                std::vector<int32_t> added = listed(fresh);
                {
                    nb::gil_scoped_release released;
                    added = self.backward(set, states, rows, counts, seen, joined_by, std::move(added));
                }
                return as_result(std::move(added));
            },
            nb::arg("found"), nb::arg("through"), nb::arg("allowed").none(), nb::arg("left").none(), nb::arg("hit").none(),
            nb::arg("by").none(), nb::arg("fresh"))
        .def(
            "greatest",
            [=](const RankSearch& self, Out<int64_t> colour, const Mask& within, const MaybeMask& allowed, const Fresh& fresh) {
                int64_t* colours = checked(colour, self.size());
                const bool *states = pointer(within, self.states()), *rows = pointer(allowed, self.rows());
                std::vector<int32_t> changed = listed(fresh);
                {
                    nb::gil_scoped_release released;
                    changed = self.greatest(colours, states, rows, std::move(changed));
                }
                return as_result(std::move(changed));
            },
            nb::arg("colour"), nb::arg("within"), nb::arg("allowed").none(), nb::arg("fresh"))
        .def(
            "forward",
            [=](const RankSearch& self, Found found, const Mask& within, const MaybeMask& allowed, const Fresh& fresh) {
                bool* set = checked(found, self.size());
                const bool *states = pointer(within, self.size()), *rows = pointer(allowed, self.rows());
                std::vector<int32_t> added = listed(fresh);
                {
                    nb::gil_scoped_release released;
                    added = self.forward(set, states, rows, std::move(added));
                }
                return as_result(std::move(added));
            },
            nb::arg("found"), nb::arg("within"), nb::arg("allowed").none(), nb::arg("fresh"))
        .def(
            "stay_together",
            [](const RankSearch& self, Out<int64_t> number, Found staying) {
                self.stay_together(checked(number, self.size()), checked(staying, self.rows()));
            },
            nb::arg("number"), nb::arg("staying"));
}

}  // namespace

void bind_graph(nb::module_& m) {
    bind_rank_search(m);
    m.def("strong_components", &components, nb::arg("matrix"), nb::arg("within").none(), nb::arg("choices").none());
    m.def("end_components", &ends, nb::arg("matrix"), nb::arg("within").none(), nb::arg("choices").none());
    m.def("reach_surely", &reach_surely, nb::arg("matrix"), nb::arg("through"), nb::arg("goal"), nb::arg("candidates"));
    m.def("reach_some", &reach<Step::SomeEntry>, nb::arg("matrix"), nb::arg("through"), nb::arg("goal"));
    m.def("reach_every", &reach<Step::EveryRow>, nb::arg("matrix"), nb::arg("through"), nb::arg("goal"));
    m.def("reach_by", &reach_by, nb::arg("matrix"), nb::arg("through"), nb::arg("goal"), nb::arg("staying").none(),
          nb::arg("rows").noconvert());
    m.def("automaton_product", &product, nb::arg("matrix"), nb::arg("letter"), nb::arg("successor"), nb::arg("n_letters"),
          nb::arg("first"));
    m.def("reach_forward", &reach_forward, nb::arg("matrix"), nb::arg("start"), nb::arg("within").none());
}

}  // namespace galton
