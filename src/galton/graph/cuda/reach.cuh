// Two states, or labels of states, that are known to be reachable from another, or to lead to it.
#pragma once

#define LEAPS 4  // how often they are followed in one pass

struct __align__(8) Reach {
    int greatest, least;
};

__device__ inline Reach both(Reach a, Reach b) { return {max(a.greatest, b.greatest), min(a.least, b.least)}; }
