// The core as one Python module; _core.pyi has its types.
#include "bindings.hpp"

NB_MODULE(_core, m) {
    nanobind::set_leak_warnings(false);
    galton::bind_lang(m);
    galton::bind_matrix(m);
    galton::bind_explore(m);
    galton::bind_graph(m);
    galton::bind_lump(m);
    galton::bind_solve(m);
    galton::bind_steps(m);
    galton::bind_long_run(m);
    galton::bind_stiff(m);
    galton::bind_regions(m);
    galton::bind_budgets(m);
    galton::bind_simulate(m);
}
