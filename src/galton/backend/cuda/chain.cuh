// The rows of a chain, as kernels that need nothing else of a system take them.
#pragma once

#include "rows.cuh"

#define CHAIN_PARAMETERS \
    const offset_t *starts, const int *columns, const code_t *codes, const double *dictionary, count_t n_states
#define CHAIN \
    Rows { Pattern{starts, columns, nullptr}, codes, dictionary, {}, {}, 0, nullptr }
