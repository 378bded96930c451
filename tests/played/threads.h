// What g++ needs to compile CUDA kernels for tests without a device: threads run one after the other.
#include <cfenv>
#include <cmath>

#define __global__
#define __device__
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(threads)

namespace played {
struct Index {
    unsigned x;
};
}  // namespace played

static played::Index threadIdx, blockIdx, blockDim, gridDim;

template <class Number>
Number atomicAdd(Number* place, Number by) {
    const Number before = *place;
    *place += by;
    return before;
}

template <class Number>
Number atomicOr(Number* place, Number bits) {
    const Number before = *place;
    *place |= bits;
    return before;
}

template <class Number>
Number atomicAnd(Number* place, Number bits) {
    const Number before = *place;
    *place &= bits;
    return before;
}

template <class Number>
Number atomicMax(Number* place, Number other) {
    const Number before = *place;
    if (other > before) *place = other;
    return before;
}

template <class Number>
Number atomicCAS(Number* place, Number expected, Number wanted) {
    const Number before = *place;
    if (before == expected) *place = wanted;
    return before;
}

template <class Number>
Number atomicMin(Number* place, Number other) {
    const Number before = *place;
    if (other < before) *place = other;
    return before;
}

// Operations that round in one direction.
template <class Operation>
double rounded(int direction, Operation&& operation) {
    std::fesetround(direction);
    const volatile double result = operation();
    std::fesetround(FE_TONEAREST);
    return result;
}
#define ROUNDED(name, direction, expression, ...)                     \
    inline double name(__VA_ARGS__) {                                 \
        return rounded(direction, [=]() { return (expression); });    \
    }
ROUNDED(__dadd_ru, FE_UPWARD, a + b, volatile double a, volatile double b)
ROUNDED(__dadd_rd, FE_DOWNWARD, a + b, volatile double a, volatile double b)
ROUNDED(__dmul_ru, FE_UPWARD, a * b, volatile double a, volatile double b)
ROUNDED(__dmul_rd, FE_DOWNWARD, a * b, volatile double a, volatile double b)
ROUNDED(__fma_ru, FE_UPWARD, std::fma(a, b, c), volatile double a, volatile double b, volatile double c)
ROUNDED(__fma_rd, FE_DOWNWARD, std::fma(a, b, c), volatile double a, volatile double b, volatile double c)

inline void __threadfence() {}
inline int max(int a, int b) { return a > b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
