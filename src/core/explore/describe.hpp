// What went wrong in a program, as a dictionary that Python makes a sentence of (galton/backend/failures.py).
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include "explore/program.hpp"

namespace galton {

namespace nb = nanobind;

inline void describe(const Failure& failure, nb::dict& result) {
    result["fault"] = static_cast<int>(failure.fault);
    result["command"] = failure.command;
    result["update"] = failure.update;
    result["assignment"] = failure.assignment;
    result["node"] = failure.node;
    result["value"] = failure.value;
    result["state"] = failure.state;
}

}  // namespace galton
