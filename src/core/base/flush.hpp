// Numbers too small to matter, which are slow.
#pragma once

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace galton {

// Treat numbers that are not normal as zero while this lives.
class FlushToZero {
  public:
#if defined(__SSE2__)
    FlushToZero() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
    ~FlushToZero() { _mm_setcsr(saved_); }

  private:
    unsigned saved_;
#endif
};

}  // namespace galton
