// Python's `Span` and `Stop` (galton/backend/protocol.py), which are named tuples, as the kernels take them.
#pragma once

#include <nanobind/stl/tuple.h>

#include "solve/sweeps.hpp"

namespace galton {

struct Span {
    Range range;
    int threads;
};

}  // namespace galton

namespace nanobind::detail {

// A struct made of the parts of a tuple.
template <class Struct, class... Parts>
struct from_tuple {
    bool from_python(handle source, uint8_t flags, cleanup_list* cleanup) noexcept {
        make_caster<std::tuple<Parts...>> tuple;
        if (!tuple.from_python(source, flags, cleanup)) return false;
        value = std::apply([](auto... parts) { return Struct{parts...}; }, tuple.operator std::tuple<Parts...>());
        return true;
    }

    NB_TYPE_CASTER(Struct, make_caster<std::tuple<Parts...>>::Name)
};

template <>
struct type_caster<galton::Span> : from_tuple<galton::Span, size_t, size_t, int> {};
template <>
struct type_caster<galton::Stopping> : from_tuple<galton::Stopping, int, double, bool> {};

}  // namespace nanobind::detail
