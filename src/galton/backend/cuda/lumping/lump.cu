// Blocks of states split by signatures, as src/core/lump does it on the host. CODE is the type of numbers into a dictionary
// of values; where values are plain, `codes` is null and there is a weight for each entry.
#include "residues.cuh"
#include "../graph/push.cuh"

typedef CODE code_t;

// The rows of a model, the residues of their weights and the marks of rows.
struct Rows {
    Pattern graph;
    const code_t* codes;
    const word_t* weights;  // modulo one prime after the other
    count_t n_weights;      // modulo each
    const int* marks;
    const int* block;

    __device__ word_t weight(offset_t entry, int prime) const {
        return weights[prime * n_weights + (codes ? count_t(codes[entry]) : count_t(entry))];
    }
    __device__ int target(offset_t entry) const { return block[graph.columns[entry]]; }

    // A linear map of the sums into blocks: their order and grouping do not matter.
    __device__ word_t hash_row(count_t row, PrimeField field) const {
        word_t sum = 0;
        for (offset_t entry = graph.starts[row]; entry < graph.starts[row + 1]; ++entry) {
            const word_t key = stirred(word_t(target(entry)) + 0x9E3779B97F4A7C15ull);
            sum = field.sum(sum, field.product(weight(entry, 0), key));
        }
        return stirred(sum + stirred((marks ? word_t(marks[row]) : 0) + 1));
    }

    // The sum over the set of rows: `hashes` has room for those of all rows.
    __device__ word_t hash(count_t state, word_t* hashes, PrimeField field) const {
        const count_t first = graph.first_row(state), last = graph.first_row(state + 1);
        if (last - first == 1) return hash_row(first, field);
        word_t sum = 0;
        for (count_t row = first; row < last; ++row) {
            const word_t mine = hash_row(row, field);
            hashes[row] = mine;
            bool fresh = true;
            for (count_t other = first; other < row && fresh; ++other) fresh = hashes[other] != mine;
            if (fresh) sum += mine;
        }
        return sum;
    }

    // The sum of a row's weights into a block.
    __device__ word_t into(count_t row, int target_block, int prime, PrimeField field) const {
        word_t sum = 0;
        for (offset_t entry = graph.starts[row]; entry < graph.starts[row + 1]; ++entry) {
            if (target(entry) == target_block) sum = field.sum(sum, weight(entry, prime));
        }
        return sum;
    }

    // Whether row `a` leads into each of its blocks with the weight that row `b` has. Weights are positive: asked both
    // ways round, that makes rows equal.
    __device__ bool covers(count_t a, count_t b, const word_t* lacking, int primes) const {
        if (marks && marks[a] != marks[b]) return false;
        for (offset_t entry = graph.starts[a]; entry < graph.starts[a + 1]; ++entry) {
            const int to = target(entry);
            bool seen = false;
            for (offset_t e = graph.starts[a]; e < entry && !seen; ++e) seen = target(e) == to;
            for (int k = 0; k < primes && !seen; ++k) {
                const PrimeField field{lacking[k]};
                if (into(a, to, k, field) != into(b, to, k, field)) return false;
            }
        }
        return true;
    }
    __device__ bool same(count_t a, count_t b, const word_t* lacking, int primes) const {
        return covers(a, b, lacking, primes) && covers(b, a, lacking, primes);
    }
    __device__ bool all_of(count_t state, count_t other, const word_t* lacking, int primes) const {
        for (count_t a = graph.first_row(state); a < graph.first_row(state + 1); ++a) {
            bool found = false;
            for (count_t b = graph.first_row(other); b < graph.first_row(other + 1) && !found; ++b) {
                found = same(a, b, lacking, primes);
            }
            if (!found) return false;
        }
        return true;
    }
};

// One more in a counter. Early on all states are in few blocks: where a whole warp counts the same, one lane does.
__device__ inline void count_one(int* counters, int place) {
#ifdef __CUDA_ARCH__
    const unsigned lanes = __activemask();
    int alike;
    __match_all_sync(lanes, place, &alike);
    if (alike) {
        unsigned before;
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
        if (!(lanes & before)) atomicAdd(&counters[place], __popc(lanes));
        return;
    }
#endif
    atomicAdd(&counters[place], 1);
}

// The residues of values modulo a prime.
extern "C" __global__ void weigh(const word_t* values, const word_t* powers, word_t* weights, count_t lacking,
                                 count_t count) {
    const count_t number = thread_number();
    if (number >= count) return;
    const Binary value(values[number]);
    weights[number] = PrimeField{word_t(lacking)}.product(value.whole, powers[value.power]);
}

// The least power of two in a value, and the first above all: `reach` gets both.
extern "C" __global__ void reach(const word_t* values, int* found, count_t count) {
    const count_t number = thread_number();
    if (number >= count) return;
    const Binary value(values[number]);
    if (!value.whole) return;
    int low = 0, high = 0;
    while (!(value.whole >> low & 1)) ++low;
    while (value.whole >> high) ++high;
    if (value.power + low < found[0]) atomicMin(&found[0], value.power + low);
    if (value.power + high > found[1]) atomicMax(&found[1], value.power + high);
}

// Execution plan: a thread per state that is looked at (`listed` null: all). It computes the hash of its signature and
// finds, or takes, the slot of its block and hash in a table. Different pairs share a slot by rare chance; that is found in
// the end. Bits of states that wait are cleared.
extern "C" __global__ void look(const offset_t* starts, const int* columns, const int* groups, const code_t* codes,
                                const word_t* weights, count_t n_weights, const int* marks, const int* block,
                                word_t* hashes, count_t lacking, count_t hash_bits, const int* listed, unsigned* waiting,
                                word_t* keys, word_t* signatures, int* owners, int* counts, int* seen, int* slots,
                                count_t slot_mask, count_t count) {
    const count_t number = thread_number();
    if (number >= count) return;
    const int state = listed ? listed[number] : int(number);
    if (listed) atomicAnd(&waiting[state >> 5], ~(1u << (state & 31)));
    const Rows rows{{starts, columns, groups}, codes, weights, n_weights, marks, block};
    const word_t kept = hash_bits < 64 ? (1ull << hash_bits) - 1 : ~0ull;
    const word_t signature = rows.hash(state, hashes, PrimeField{word_t(lacking)}) & kept;
    const int mine = block[state];
    word_t key = stirred(signature + stirred(word_t(mine)));
    if (!key) key = 1;
    count_t slot = count_t(key >> 7) & slot_mask;
    while (true) {
        word_t found = *(volatile word_t*)(keys + slot);
        if (!found) {
            found = atomicCAS(&keys[slot], word_t(0), key);
            if (!found) {
                signatures[slot] = signature;
                owners[slot] = mine;
                break;
            }
        }
        if (found == key) break;
        slot = (slot + 1) & slot_mask;
    }
    slots[number] = int(slot);
    count_one(counts, int(slot));
    count_one(seen, mine);
}

// Execution plan: a thread per slot. Where all states of a block were looked at, its largest group is found.
extern "C" __global__ void find_largest(const word_t* keys, const int* owners, const int* counts, const int* seen,
                                        const int* sizes, word_t* largest, count_t n_slots) {
    const count_t slot = thread_number();
    if (slot >= n_slots || !keys[slot]) return;
    const int block = owners[slot];
    if (seen[block] == sizes[block]) atomicMax(&largest[block], word_t(counts[slot]) << 32 | word_t(slot));
}

// Execution plan: a thread per slot. States that were not looked at stay in their block, and so does a group with their
// hash; where there are none, the largest group does. All others become new blocks.
extern "C" __global__ void number_groups(const word_t* keys, const word_t* signatures, const int* owners,
                                         const int* counts, const word_t* largest, word_t* hashes, int* sizes,
                                         int* numbers, int* n_blocks, count_t most_blocks, count_t n_slots) {
    const count_t slot = thread_number();
    if (slot >= n_slots || !keys[slot]) return;
    const int block = owners[slot];
    const bool all_seen = largest[block], is_largest = (largest[block] & 0xffffffffull) == word_t(slot);
    if (all_seen ? is_largest : signatures[slot] == hashes[block]) {
        if (all_seen) hashes[block] = signatures[slot];
        numbers[slot] = block;
        return;
    }
    const int fresh = atomicAdd(n_blocks, 1);
    if (fresh >= most_blocks) {  // only where keys of different blocks collide, which ends the work
        numbers[slot] = block;
        return;
    }
    hashes[fresh] = signatures[slot];
    sizes[fresh] = counts[slot];
    atomicAdd(&sizes[block], -counts[slot]);
    numbers[slot] = fresh;
}

// Execution plan: a thread per state that was looked at, which goes to the block of its group.
extern "C" __global__ void move_states(int* block, const int* listed, const int* slots, const int* owners,
                                       const int* numbers, int* seen, word_t* largest, int* moved, word_t* tail,
                                       count_t count) {
    const count_t number = thread_number();
    if (number >= count) return;
    const int state = listed ? listed[number] : int(number), slot = slots[number];
    seen[owners[slot]] = 0;
    largest[owners[slot]] = 0;
    if (numbers[slot] == block[state]) return;
    block[state] = numbers[slot];
    Queue{moved, tail}.put(state);
}

// Execution plan: a thread per state that moved. It and the states before it will be looked at, each once, unless they are
// alone in their blocks.
extern "C" __global__ void list_before(const offset_t* before, const int* sources, const int* moved, const int* block,
                                       const int* sizes, unsigned* waiting, int* listed, word_t* tail, count_t count) {
    const count_t number = thread_number();
    if (number >= count) return;
    const int state = moved[number];
    const Queue next{listed, tail};
    for (offset_t k = before[state] - 1; k < before[state + 1]; ++k) {
        const int source = k < before[state] ? state : sources[k];
        if (sizes[block[source]] > 1 && set_bit(waiting, source)) next.put(source);
    }
}

// The first state of each block.
extern "C" __global__ void find_first(const int* block, int* first, count_t n_states) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    int* mine = &first[block[state]];
    if (*(volatile int*)mine > state) atomicMin(mine, int(state));
}

// Execution plan: a thread per state, which is compared exactly with the first of its block, and with the partition that
// splitting began with. `wrong` is set where one differs.
extern "C" __global__ void compare(const offset_t* starts, const int* columns, const int* groups, const code_t* codes,
                                   const word_t* weights, count_t n_weights, const int* marks, const int* block,
                                   const int* began, const int* first, const word_t* lacking, count_t primes, int* wrong,
                                   count_t n_states) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    const int other = first[block[state]];
    if (other == state) return;
    const Rows rows{{starts, columns, groups}, codes, weights, n_weights, marks, block};
    const int many = int(primes);
    if (began[state] != began[other] || !rows.all_of(state, other, lacking, many) ||
        !rows.all_of(other, state, lacking, many)) {
        *wrong = 1;
    }
}

// Rows as the sums of their weights into blocks, in the order of blocks: `sums` are residues modulo one prime after the
// other.
struct Merged {
    const long long* starts;
    const int* blocks;
    const word_t* sums;
    count_t n_sums;  // modulo each prime
    count_t primes;
    const int* groups;
    const int* marks;

    __device__ count_t first_row(count_t state) const { return groups ? groups[state] : state; }
    __device__ bool same(count_t a, count_t b) const {
        const long long length = starts[a + 1] - starts[a];
        if ((marks && marks[a] != marks[b]) || starts[b + 1] - starts[b] != length) return false;
        for (long long k = 0; k < length; ++k) {
            if (blocks[starts[a] + k] != blocks[starts[b] + k]) return false;
        }
        for (count_t prime = 0; prime < primes; ++prime) {
            const word_t* mine = sums + prime * n_sums;
            for (long long k = 0; k < length; ++k) {
                if (mine[starts[a] + k] != mine[starts[b] + k]) return false;
            }
        }
        return true;
    }
    __device__ bool all_of(count_t state, count_t other) const {
        for (count_t a = first_row(state); a < first_row(state + 1); ++a) {
            bool found = false;
            for (count_t b = first_row(other); b < first_row(other + 1) && !found; ++b) found = same(a, b);
            if (!found) return false;
        }
        return true;
    }
};

// Execution plan: a thread per entry, in the order of rows and then of the blocks they lead to, which are the upper and
// the lower half of `keys`. The first of a run adds the run up, and writes to its place.
extern "C" __global__ void add_runs(const word_t* keys, const long long* order, const long long* places, const code_t* codes,
                                    const word_t* weights, count_t n_weights, const word_t* lacking, count_t primes,
                                    int* blocks, word_t* sums, count_t n_sums, count_t n_entries) {
    const count_t number = thread_number();
    if (number >= n_entries) return;
    const word_t key = keys[number];
    if (number && keys[number - 1] == key) return;
    const count_t place = places[number];
    blocks[place] = int(unsigned(key));
    for (count_t prime = 0; prime < primes; ++prime) {
        const PrimeField field{lacking[prime]};
        word_t sum = 0;
        for (count_t k = number; k < n_entries && keys[k] == key; ++k) {
            sum = field.sum(sum, weights[prime * n_weights + (codes ? count_t(codes[order[k]]) : count_t(order[k]))]);
        }
        sums[prime * n_sums + place] = sum;
    }
}

// Execution plan: as `compare`, over rows whose weights have been added up.
extern "C" __global__ void compare_merged(const long long* starts, const int* blocks, const word_t* sums, count_t n_sums,
                                          count_t primes, const int* groups, const int* marks, const int* block,
                                          const int* began, const int* first, int* wrong, count_t n_states) {
    const count_t state = thread_number();
    if (state >= n_states) return;
    const int other = first[block[state]];
    if (other == state) return;
    const Merged rows{starts, blocks, sums, n_sums, primes, groups, marks};
    if (began[state] != began[other] || !rows.all_of(state, other) || !rows.all_of(other, state)) *wrong = 1;
}
