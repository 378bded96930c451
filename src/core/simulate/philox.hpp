// Random numbers that are a function of a counter: Philox 4x32-10.
//
// J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). There is no state:
// the key is the seed, and the counter says which path, which of its steps and which draw within the step is meant. So
// path i of a seed is the same whoever computes it, in whatever order, on the CPU and on a device
// (galton/backend/cuda/simulator/philox.cuh).
#pragma once

#include <array>
#include <cstdint>

namespace galton {

using Random4 = std::array<uint32_t, 4>;

inline Random4 philox(Random4 counter, uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
        const uint64_t a = uint64_t{0xD2511F53u} * counter[0], b = uint64_t{0xCD9E8D57u} * counter[2];
        counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key0, static_cast<uint32_t>(b),
                   static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key1, static_cast<uint32_t>(a)};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

// A double in [0, 1), a multiple of 2^-53.
inline double uniform(uint32_t low, uint32_t high) { return static_cast<double>((uint64_t{high} << 32 | low) >> 11) * 0x1p-53; }

// Which random numbers are meant. Steps have 48 bits, draws within one 16.
inline Random4 counter_of(uint64_t path, uint64_t step, uint32_t draw) {
    return {static_cast<uint32_t>(path), static_cast<uint32_t>(path >> 32), static_cast<uint32_t>(step),
            (static_cast<uint32_t>(step >> 32) & 0xFFFF) | draw << 16};
}

struct Seed {
    uint32_t low, high;

    explicit Seed(uint64_t seed) : low(static_cast<uint32_t>(seed)), high(static_cast<uint32_t>(seed >> 32)) {}
    Random4 draw(uint64_t path, uint64_t step, uint32_t number) const {
        return philox(counter_of(path, step, number), low, high);
    }
};

inline constexpr uint64_t BEFORE_THE_FIRST_STEP = (uint64_t{1} << 48) - 1;  // chooses among initial states

// Two numbers in [0, 1) for each of n paths: those of its step, draw 0.
void draw_all(Seed seed, const uint64_t* paths, const uint64_t* steps, int n, double* first, double* second);

}  // namespace galton
