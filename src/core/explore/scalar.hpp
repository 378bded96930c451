// One expression in one state, with PRISM's short-circuit rules: the slow path for partial expressions.
#pragma once

#include <algorithm>
#include <cmath>

#include "explore/program.hpp"

namespace galton {

struct UndefinedValue {
    int node;
};

inline double logarithm(double x, double base) {
    if (std::isnan(x) || x < 0 || !(base > 0) || std::isinf(base) || base == 1) return NAN;
    return std::log(x) / std::log(base);
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

// As in Java: C knows the powers of 1 whatever the exponent, and those of -1 where it is infinite.
inline double power(double x, double y) {
    if (std::isnan(y) || (std::isinf(y) && std::abs(x) == 1)) return NAN;
    return std::pow(x, y);
}

// Halves up; x + 0.5 would round the largest number below one half up as well.
inline double round_half_up(double x) {
    double below = std::floor(x);
    return below + (x - below >= 0.5);
}

inline double modulo(double a, double b) {
    double r = std::fmod(a, b);
    return (r < 0 ? r + b : r) + 0.0;  // never -0
}

// An integer of the language must not lose digits, and has no -0.
inline double exact(const Node& node, int index, double value) {
    if (!node.integral) return value;
    if (!(std::abs(value) < 0x1p53)) throw UndefinedValue{index};
    return value + 0.0;
}

// `variable(i)` gives the value of variable i.
template <class Variable>
double evaluate(const Program& program, int index, const Variable& variable) {
    const Node& node = program.node(index);
    auto arg = [&](int i) { return evaluate(program, node.args[i], variable); };
    switch (node.op) {
        case Op::Const: return node.value;
        case Op::Var: return variable(static_cast<int>(node.value));
        case Op::ToReal: return arg(0);
        case Op::Add: return exact(node, index, arg(0) + arg(1));
        case Op::Sub: return exact(node, index, arg(0) - arg(1));
        case Op::Mul: return exact(node, index, arg(0) * arg(1));
        case Op::Div: return arg(0) / arg(1);
        case Op::Neg: return exact(node, index, -arg(0));
        case Op::Min: return smaller(arg(0), arg(1));
        case Op::Max: return larger(arg(0), arg(1));
        case Op::Mod: {
            double a = arg(0), b = arg(1);
            if (!(b > 0)) throw UndefinedValue{index};
            return modulo(a, b);
        }
        case Op::Pow: {
            double a = arg(0), b = arg(1);
            if (node.integral && b < 0) throw UndefinedValue{index};
            return exact(node, index, power(a, b));
        }
        case Op::Log: return logarithm(arg(0), arg(1));
        case Op::Floor:
        case Op::Ceil:
        case Op::Round: {
            double a = arg(0);
            if (!std::isfinite(a)) throw UndefinedValue{index};
            return (node.op == Op::Floor ? std::floor(a) : node.op == Op::Ceil ? std::ceil(a) : round_half_up(a)) + 0.0;
        }
        case Op::Eq: return arg(0) == arg(1);
        case Op::Lt: return arg(0) < arg(1);
        case Op::Le: return arg(0) <= arg(1);
        case Op::And: return arg(0) != 0 && arg(1) != 0;
        case Op::Or: return arg(0) != 0 || arg(1) != 0;
        case Op::Not: return arg(0) == 0;
        case Op::Iff: return (arg(0) != 0) == (arg(1) != 0);
        case Op::Ite: return arg(0) != 0 ? arg(1) : arg(2);
    }
    return NAN;
}

}  // namespace galton
