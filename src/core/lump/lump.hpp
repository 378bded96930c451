// The coarsest partition of the states of a model into blocks that behave alike: strong bisimulation, lumpability.
//
// Blocks are split by signatures until all states of a block have the same one (Blom and Orzan 2003; Derisavi, Hermanns and
// Sanders 2003; Wimmer, Derisavi and Hermanns 2010). Splitting goes by hashes. That may leave states together that differ,
// never part states that are alike; so in the end every state is compared exactly with the first of its block, and where
// one differs, its block is split by the signatures themselves.
#pragma once

#include <vector>

#include "base/memory.hpp"
#include "graph/graph.hpp"
#include "lump/signatures.hpp"

namespace galton {

// When to give up: above so many blocks, or after so many entries that were gone over.
struct LumpLimits {
    size_t blocks, entries;
};

struct Lumping {
    Pages<int32_t> first;  // the first state of each block; blocks are numbered in the order of these
    size_t rounds = 0, entries = 0;
    bool finished = false;
};

// `block` holds a partition that must not be made coarser, numbered from 0 without gaps, and gets the coarsest refinement.
Lumping lump(const MatrixView& matrix, size_t dictionary, const Sight& sight, int32_t* block, const LumpLimits& limits,
             int threads, const Stop& stop);

// Blocks split by numbers that their states, or rows, have. Returns how many blocks there are then.
size_t split_by_keys(size_t n, const uint64_t* keys, int32_t* block);

// Rows whose columns are blocks already, the states of the matrix: weights into one block added up, and of equal rows of a
// state the first.
struct Quotient {
    Pages<int32_t> groups;           // none for a chain
    Pages<int64_t> starts, sources;  // where each row begins, and the row it is from
    Pages<int32_t> columns, kinds;   // `kinds` only where entries have them
    Pages<double> values;
};

Quotient quotient(const MatrixView& matrix, size_t dictionary, const Sight& sight, const Stop& stop);

// Enough primes to tell apart all sums in rows of a matrix.
std::vector<Residues> residues_for(const MatrixView& matrix, size_t dictionary, int threads);

}  // namespace galton
