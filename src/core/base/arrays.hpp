// Arrays that cross into Python without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "base/memory.hpp"

namespace galton {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A NumPy array that owns the pages.
template <class T>
nb::object as_array(Pages<T>& pages, size_t columns = 0) {
    auto* owned = new Pages<T>(std::move(pages));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Pages<T>*>(p); });
    if (columns) {
        return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(owned->data(), {owned->size() / columns, columns}, owner));
    }
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner));
}

template <class T>
nb::object as_array(std::vector<T>& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(owned->data(), {owned->size()}, owner));
}

template <class T>
nb::list as_arrays(std::vector<Pages<T>>& all) {
    nb::list list;
    for (Pages<T>& pages : all) list.append(pages.size() ? as_array(pages) : nb::none());
    return list;
}

}  // namespace galton
