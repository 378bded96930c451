// Levels of a chain: states by the number of jumps from which they can be near, and sweeps from level to level.
//
// Execution plan: the threads of the whole device stay for all levels and meet after each, because most levels are over sooner
// than a launch begins. LANES threads to a state; neighbouring warps are on different multiprocessors, so that a narrow level is
// shared by all of them. Where threads cannot wait for each other, every level is a launch.
#include "chain.cuh"
#include "../../device/cuda/meeting.cuh"
#include "graph/push.cuh"

// The place of a thread among all: warps are dealt to the blocks in turn.
__device__ inline count_t dealt() {
    return (count_t(threadIdx.x / 32) * gridDim.x + blockIdx.x) * 32 + threadIdx.x % 32;
}

// Breadth first, along edges that are turned round, from the states of level `level`, which are in the queue from `begin` to `end`.
// `found` counts the states of each level. No more than `levels` levels, counted from here.
extern "C" __global__ void find_levels(const offset_t* before, const int* sources, int* level_of, int* queue,
                                       unsigned long long* found, count_t level, count_t levels, count_t begin, count_t end,
                                       unsigned long long* arrived) {
    for (count_t k = 1; k <= levels && begin < end; ++k) {
        ++level;
        const Queue next{queue + end, found + level};
        for (count_t i = begin + dealt(); i < end; i += thread_count()) {
            const int state = queue[i];
            for (offset_t e = before[state]; e < before[state + 1]; ++e) {
                const int source = sources[e];
                if (level_of[source] < 0 && atomicCAS(level_of + source, -1, int(level)) == -1) next.put(source);
            }
        }
        if (k < levels) meet(arrived, k);
        begin = end;
        end += count_t(*(volatile unsigned long long*)(found + level));
    }
}

// What a state's equation is divided by, inverted. That is the rate at which the state is left or, where more than half of that
// leads on to nearer levels, the rate of those transitions alone: what goes elsewhere then counts as if it came back at once, which
// is nearly true where the flow is towards near levels, and makes errors that vary slowly vanish. (As in the modified factorisation
// of Gustafsson 1978. Where less leads on, it would let errors grow from level to level.) `behind` is the first state of the next level.
extern "C" __global__ void weigh_levels(CHAIN_PARAMETERS, const int* behind, double* weights) {
    const count_t state = state_of_thread(0);
    if (state >= n_states) return;
    const Rows rows = CHAIN;
    double all = 0, onward = 0;
    const count_t end = starts[state + 1], next = behind[state];
    for (count_t e = starts[state] + first_lane(); e < end; e += LANE_STEP) {
        const double value = rows.value(e);
        if (columns[e] != state) all += value;
        if (columns[e] >= next) onward += value;
    }
    all = over_lanes(all, [](double a, double b) { return a + b; });
    onward = over_lanes(onward, [](double a, double b) { return a + b; });
    if (lane() == 0) weights[state] = 1 / (2 * onward >= all ? onward : all);
}

// What a thread has asked for of a row before all meet: everything but x, which others are still writing.
struct Ahead {
    static constexpr int ENTRIES = 4;

    count_t state;
    offset_t next, end;  // the entries after those
    int columns[ENTRIES];
    code_t codes[ENTRIES];
    double factor, mine;
};

// The equations of levels `first` to `last`, which are next to each other in `bounds`, farther ones before nearer ones.
//   onwards:  x(s) = a(s) y(s) + k(s) Σ v x(t) over t in levels before
//   back:     x(s) += k(s) Σ v x(t) over t in levels behind, less gain · time(s)
// a and k are 1 where they are null; so is the gain 0.
extern "C" __global__ void sweep_levels(CHAIN_PARAMETERS, const int* bounds, count_t first, count_t last, count_t back,
                                        const double* a, const double* k, const double* y, const double* gain, const double* time,
                                        double* x, unsigned long long* arrived) {
    const Rows rows = CHAIN;
    const double gained = gain ? *gain : 0;
    const count_t mine = dealt() / LANES, stride = thread_count() / LANES;
    count_t begin, behind;
    Ahead row;

    auto ask = [&](count_t state) {
        row.state = state;
        if (state >= behind) return;
        row.next = starts[state] + first_lane();
        row.end = starts[state + 1];
#pragma unroll
        for (int i = 0; i < Ahead::ENTRIES; ++i, row.next += LANE_STEP) {
            row.columns[i] = row.next < row.end ? columns[row.next] : int(state);  // which no sum takes
            row.codes[i] = row.next < row.end ? codes[row.next] : code_t(0);
        }
        row.factor = k ? k[state] : 1;
        row.mine = back ? x[state] : a ? a[state] * y[state] : y[state];
        if (back && gain) row.mine -= gained * time[state];
    };
    auto enter = [&](count_t number) {
        const count_t level = back ? last - 1 - number : first + number;
        begin = bounds[level];
        behind = bounds[level + 1];
        ask(begin + mine);
    };
    auto product = [&](int column, code_t code) {
        const bool counts = back ? column >= behind : column < begin;
        return counts ? rows.decoded(code) * x[column] : 0.0;
    };

    enter(0);
    for (count_t number = 0; number < last - first; ++number) {
        if (number) meet(arrived, number);
        for (; row.state < behind; ask(row.state + stride)) {
            double sum = 0;
#pragma unroll
            for (int i = 0; i < Ahead::ENTRIES; ++i) sum += product(row.columns[i], row.codes[i]);
            for (offset_t e = row.next; e < row.end; e += LANE_STEP) sum += product(columns[e], codes[e]);
            sum = over_lanes(sum, [](double left, double right) { return left + right; });
            if (lane() == 0) x[row.state] = row.mine + row.factor * sum;
        }
        if (number + 1 < last - first) enter(number + 1);
    }
}
