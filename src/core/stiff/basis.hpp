// Vectors of a small space, all of them at once: what a window of time is proposed with (galton/solve/stiff/window.py).
//
// A vector is gone over in blocks of a fixed size, each while it is in the cache, and sums of blocks are added up in their
// order: results are the same for any number of threads. Nothing here is relied upon; proofs come afterwards.
#pragma once

#include <cstddef>

namespace galton {

// Takes the parts of x along m vectors out of it, twice (Gram and Schmidt; twice is enough: Giraud et al. 2005), and
// writes how much of each they were. The vectors are rows of n numbers of length 1. Returns the length of what is left.
double orthogonalise(const double* vectors, size_t m, size_t n, double* x, double* parts, int threads);

// Adds to each row of `sums` what its row of `factors` makes of the m vectors: sums += factors * vectors.
void combine(const double* factors, size_t rows, const double* vectors, size_t m, size_t n, double* sums, int threads);

}  // namespace galton
