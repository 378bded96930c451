#include <nanobind/stl/optional.h>

#include "bindings.hpp"
#include "drift.hpp"
#include "elimination.hpp"

namespace galton {

namespace {

using MaybeIn = std::optional<In<double>>;

const double* data_of(const MaybeIn& array) { return array ? array->data() : nullptr; }

void bind_drift_bounds(const Matrix& matrix, const MaybeIn& state, const MaybeIn& choice, In<double> h, Out<double> lower,
                       Out<double> upper, int threads) {
    nb::gil_scoped_release released;
    drift_bounds(matrix.view, data_of(state), data_of(choice), h.data(), lower.data(), upper.data(), threads);
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

}  // namespace

void bind_long_run(nb::module_& m) {
    m.def("drift_bounds", &bind_drift_bounds, nb::arg("matrix"), nb::arg("state").none(), nb::arg("choice").none(),
          nb::arg("h"), nb::arg("lower"), nb::arg("upper"), nb::arg("threads"));
    m.def("eliminate", &bind_eliminate, nb::arg("matrix"), nb::arg("reward"), nb::arg("members"), nb::arg("starts"),
          nb::arg("values"), nb::arg("errors"));
}

}  // namespace galton
