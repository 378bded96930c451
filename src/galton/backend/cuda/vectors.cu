// The vector operations of BiCGStab (van der Vorst 1992), fused: the least that has to be read and written between two products.
//
// Execution plan: a thread per number; for dot products as many as the device holds, with every so many numbers each. Scalars live on
// the device: rho, alpha, omega and beta, and sums of products, to which each warp adds what its threads have.
#include "graph/pattern.cuh"
#include "../../device/cuda/meeting.cuh"

enum { RHO, ALPHA, OMEGA, BETA, FIRST_SUM, SECOND_SUM };

__device__ inline double quotient(double a, double b) { return b == 0 ? 0.0 : a / b; }

// All threads of a warp must call it.
__device__ inline void add_to_sum(double part, double* sum) {
#ifdef __CUDA_ARCH__
    for (int step = 16; step; step /= 2) part += __shfl_xor_sync(0xffffffffu, part, step);
    if (threadIdx.x % 32 != 0) return;
#endif
    if (part != 0) atomicAdd(sum, part);
}

// The sums of a·b and, unless c is null, of a·c.
extern "C" __global__ void dots(count_t n, const double* a, const double* b, const double* c, double* scalars) {
    double first = 0, second = 0;
    for (count_t i = thread_number(); i < n; i += thread_count()) {
        first += a[i] * b[i];
        if (c) second += a[i] * c[i];
    }
    add_to_sum(first, scalars + FIRST_SUM);
    if (c) add_to_sum(second, scalars + SECOND_SUM);
}

// After shadow·r: the new rho and beta.
extern "C" __global__ void begin_step(double* scalars) {
    const double rho = scalars[FIRST_SUM];
    scalars[BETA] = quotient(rho, scalars[RHO]) * quotient(scalars[ALPHA], scalars[OMEGA]);
    scalars[RHO] = rho;
    scalars[FIRST_SUM] = scalars[SECOND_SUM] = 0;
}

// After shadow·v: alpha.
extern "C" __global__ void half_step(double* scalars) {
    scalars[ALPHA] = quotient(scalars[RHO], scalars[FIRST_SUM]);
    scalars[FIRST_SUM] = scalars[SECOND_SUM] = 0;
}

// After t·s and t·t: omega.
extern "C" __global__ void end_step(double* scalars) {
    scalars[OMEGA] = quotient(scalars[FIRST_SUM], scalars[SECOND_SUM]);
    scalars[FIRST_SUM] = scalars[SECOND_SUM] = 0;
}

// p = r + beta (p - omega v)
extern "C" __global__ void turn(count_t n, const double* r, const double* v, double* p, const double* scalars) {
    const count_t i = thread_number();
    if (i < n) p[i] = r[i] + scalars[BETA] * (p[i] - scalars[OMEGA] * v[i]);
}

// r = r - alpha v, which is called s from here on
extern "C" __global__ void subtract(count_t n, double* r, const double* v, const double* scalars) {
    const count_t i = thread_number();
    if (i < n) r[i] -= scalars[ALPHA] * v[i];
}

// x = x + alpha p + omega s, r = s - omega t; p and s are given as the preconditioner left them
extern "C" __global__ void settle(count_t n, const double* p, const double* s, const double* t, double* x, double* r,
                                  const double* scalars) {
    const count_t i = thread_number();
    if (i >= n) return;
    x[i] += scalars[ALPHA] * p[i] + scalars[OMEGA] * s[i];
    r[i] -= scalars[OMEGA] * t[i];
}
