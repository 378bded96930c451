// A matrix that Python has made, as the other bindings take it.
#pragma once

#include "base/arrays.hpp"
#include "matrix/matrix.hpp"

namespace galton {

// A matrix whose arrays live in Python: the view the kernels take, and the objects that keep its memory alive.
struct Matrix {
    MatrixView view;
    nb::list owners;
};

}  // namespace galton
