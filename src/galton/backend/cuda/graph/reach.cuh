// Two states, or labels of states, that are known to be reachable from another, or to lead to it.
#pragma once

#define JUMPS 4  // how often they are followed, one after the other, in one pass

#define NOTHING (-1)       // less than every state, and
#define BEYOND 0x7fffffff  // more: what a state reaches of which nothing is known

struct __align__(8) Reach {
    int greatest, least;
};

__device__ inline Reach both(Reach a, Reach b) { return {max(a.greatest, b.greatest), min(a.least, b.least)}; }
