// What each part of the core shows to Python: a file bindings.cpp in its folder.
#pragma once

#include <nanobind/nanobind.h>

namespace galton {

void bind_lang(nanobind::module_& m);
void bind_matrix(nanobind::module_& m);
void bind_explore(nanobind::module_& m);
void bind_graph(nanobind::module_& m);
void bind_lump(nanobind::module_& m);
void bind_solve(nanobind::module_& m);
void bind_steps(nanobind::module_& m);
void bind_long_run(nanobind::module_& m);
void bind_stiff(nanobind::module_& m);
void bind_regions(nanobind::module_& m);
void bind_budgets(nanobind::module_& m);
void bind_simulate(nanobind::module_& m);

}  // namespace galton
