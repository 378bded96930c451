#include "bindings.hpp"

#include <stdexcept>

#include "base/arrays.hpp"
#include "stiff/basis.hpp"

namespace galton {

namespace {

using Vectors = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

double bind_orthogonalise(Vectors vectors, Out<double> x, Out<double> parts, int threads) {
    if (vectors.shape(0) != parts.shape(0) || vectors.shape(1) != x.shape(0))
        throw std::invalid_argument("vectors of other sizes");
    nb::gil_scoped_release released;
    return orthogonalise(vectors.data(), vectors.shape(0), vectors.shape(1), x.data(), parts.data(), threads);
}

void bind_combine(Vectors factors, Vectors vectors, Sums sums, int threads) {
    if (factors.shape(1) != vectors.shape(0) || factors.shape(0) != sums.shape(0) || vectors.shape(1) != sums.shape(1)) {
        throw std::invalid_argument("vectors of other sizes");
    }
    nb::gil_scoped_release released;
    combine(factors.data(), factors.shape(0), vectors.data(), vectors.shape(0), vectors.shape(1), sums.data(), threads);
}

}  // namespace

void bind_stiff(nb::module_& m) {
    m.def("orthogonalise", &bind_orthogonalise, nb::arg("vectors"), nb::arg("x"), nb::arg("parts"), nb::arg("threads"));
    m.def("combine", &bind_combine, nb::arg("factors"), nb::arg("vectors"), nb::arg("sums"), nb::arg("threads"));
}

}  // namespace galton
