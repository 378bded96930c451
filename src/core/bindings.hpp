// What each part of the core shows to Python.
#pragma once

#include "arrays.hpp"
#include "matrix.hpp"

namespace galton {

// A matrix whose arrays live in Python: the view the kernels take, and the objects that keep its memory alive.
struct Matrix {
    MatrixView view;
    nb::list owners;
};

void bind_matrix(nb::module_& m);
void bind_solve(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_steps(nb::module_& m);
void bind_long_run(nb::module_& m);
void bind_regions(nb::module_& m);

}  // namespace galton
