// The operations of the language, as galton/lang/operations.py has them: their list, and what they do to numbers.
//
// A new one is added here and nowhere else in the core: to the list, to `has_value` where it may have none, and to
// `compute`. Tests compare all of it with the table.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

namespace galton {

// Same order as galton.lang.operations.Op.
#define GALTON_OPERATIONS(_)                                                                                       \
    _(Const) _(Var) _(ToReal) _(Add) _(Sub) _(Mul) _(Div) _(Neg) _(Min) _(Max) _(Mod) _(Pow) _(Log) _(Floor) _(Ceil) \
    _(Round) _(Eq) _(Lt) _(Le) _(And) _(Or) _(Not) _(Iff) _(Ite)

enum class Op : uint8_t {
#define GALTON_NAME(name) name,
    GALTON_OPERATIONS(GALTON_NAME)
#undef GALTON_NAME
};

inline constexpr const char* OPERATIONS[] = {
#define GALTON_NAME(name) #name,
    GALTON_OPERATIONS(GALTON_NAME)
#undef GALTON_NAME
};

// Whether an infinity may come out of small numbers.
inline bool has_poles(Op op) { return op == Op::Div || op == Op::Pow || op == Op::Log; }

// Whether an integer may come out that is longer than those that went in.
inline bool lengthens(Op op) { return op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Neg || op == Op::Pow; }

// Whether there is a result; `integral` where it is an integer.
inline bool has_value(Op op, bool integral, double a, double b) {
    switch (op) {
        case Op::Mod: return b > 0;
        case Op::Pow: return !integral || b >= 0;
        case Op::Floor:
        case Op::Ceil:
        case Op::Round: return std::isfinite(a);
        default: return true;
    }
}

// As in Java, and unlike in C++: what is not a number stays so, and -0.0 is less than 0.0.
template <class T>
T smaller(T x, T y) {
    if (x == y) return std::signbit(static_cast<double>(x)) ? x : y;
    return x < y || x != x ? x : y;
}

template <class T>
T larger(T x, T y) {
    if (x == y) return std::signbit(static_cast<double>(x)) ? y : x;
    return x > y || x != x ? x : y;
}

inline int32_t modulo(int32_t x, int32_t y) {
    int32_t r = x % y;
    return r < 0 ? r + y : r;
}

inline double modulo(double a, double b) {
    double r = std::fmod(a, b);
    return (r < 0 ? r + b : r) + 0.0;  // never -0
}

// As in Java: C knows the powers of 1 whatever the exponent, and those of -1 where it is infinite.
inline double power(double x, double y) {
    if (std::isnan(y) || (std::isinf(y) && std::abs(x) == 1)) return NAN;
    return std::pow(x, y);
}

inline double logarithm(double x, double base) {
    if (std::isnan(x) || x < 0 || !(base > 0) || std::isinf(base) || base == 1) return NAN;
    return std::log(x) / std::log(base);
}

// Halves up; x + 0.5 would round the largest number below one half up as well.
inline double round_half_up(double x) {
    double below = std::floor(x);
    return below + (x - below >= 0.5);
}

// Calls `each` with what an operation does to numbers of type T, a function of one or two of them that a loop can
// inline, and returns what that returns.
template <class T, class Each>
auto compute(Op op, const Each& each) {
    switch (op) {
        case Op::Add: return each([](T x, T y) { return x + y; });
        case Op::Sub: return each([](T x, T y) { return x - y; });
        case Op::Mul: return each([](T x, T y) { return x * y; });
        case Op::Neg: return each([](T x) { return -x; });
        case Op::Min: return each([](T x, T y) { return smaller(x, y); });
        case Op::Max: return each([](T x, T y) { return larger(x, y); });
        case Op::Mod: return each([](T x, T y) { return modulo(x, y); });
        default: break;
    }
    if constexpr (std::is_same_v<T, double>) {
        switch (op) {
            case Op::Div: return each([](double x, double y) { return x / y; });
            case Op::Pow: return each([](double x, double y) { return power(x, y); });
            case Op::Log: return each([](double x, double y) { return logarithm(x, y); });
            case Op::Floor: return each([](double x) { return std::floor(x); });
            case Op::Ceil: return each([](double x) { return std::ceil(x); });
            case Op::Round: return each([](double x) { return round_half_up(x); });
            default: break;
        }
    }
    throw std::logic_error("an operation without a meaning");
}

}  // namespace galton
