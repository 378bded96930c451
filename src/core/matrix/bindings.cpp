#include "bindings.hpp"
#include "matrix/bindings.hpp"
#include "matrix/rows.hpp"

namespace galton {

namespace {

template <class T>
const T* take(Matrix& matrix, const nb::object& object, size_t* size = nullptr) {
    if (object.is_none()) return nullptr;
    auto array = nb::cast<In<T>>(object);
    matrix.owners.append(object);
    if (size) *size = array.shape(0);
    return array.data();
}

template <class T>
bool holds(const nb::object& object) {
    return nb::isinstance<In<T>>(object);
}

void make_matrix(Matrix* self, const nb::object& groups, const nb::object& starts, const nb::object& columns,
                 const nb::object& values, const nb::object& dictionary) {
    new (self) Matrix();
    MatrixView& view = self->view;
    size_t size = 0;
    if (holds<int32_t>(starts)) {
        view.starts = take<int32_t>(*self, starts, &size);
    } else {
        view.wide_starts = take<int64_t>(*self, starts, &size);
    }
    view.n_rows = view.n_states = size - 1;
    view.groups = take<int32_t>(*self, groups, &size);
    if (view.groups != nullptr) view.n_states = size - 1;
    view.columns = take<int32_t>(*self, columns, &view.n_entries);
    view.dictionary = take<double>(*self, dictionary);
    if (!view.dictionary) {
        view.plain = take<double>(*self, values);
    } else if (holds<uint8_t>(values)) {
        view.bytes = take<uint8_t>(*self, values);
    } else {
        view.shorts = take<uint16_t>(*self, values);
    }
}

using Doubles = nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig>;
using Offsets = nb::ndarray<nb::numpy, const int64_t, nb::ndim<1>, nb::c_contig>;

// Divide rows by their sums where rows.hpp says so; returns the first that is off by more than rounding, and its sum.
nb::object finish_rows(Offsets starts, Offsets ends, Doubles values) {
    nb::object off = nb::none();
    for (size_t r = 0; r < starts.size(); ++r) {
        const auto begin = static_cast<size_t>(starts.data()[r]), size = static_cast<size_t>(ends.data()[r]) - begin;
        double* row = values.data() + begin;
        const RowSum sum = sum_row(size, [&](size_t k) { return row[k]; });
        if (!is_off(sum, size)) continue;
        for (size_t k = 0; k < size; ++k) row[k] = sum.share(row[k]);
        if (off.is_none() && std::abs(sum.distance()) > OFF_BY_MORE_THAN_ROUNDING) off = nb::make_tuple(r, sum.high + sum.low);
    }
    return off;
}

}  // namespace

void bind_matrix(nb::module_& m) {
    m.def("finish_rows", &finish_rows, nb::arg("starts").noconvert(), nb::arg("ends").noconvert(),
          nb::arg("values").noconvert());
    nb::class_<Matrix>(m, "Matrix")
        .def("__init__", &make_matrix, nb::arg("groups").none(), nb::arg("starts"), nb::arg("columns"), nb::arg("values"),
             nb::arg("dictionary").none());
}

}  // namespace galton
