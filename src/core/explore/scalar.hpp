// One expression in one state, with PRISM's short-circuit rules: the slow path for partial expressions.
#pragma once

#include <algorithm>
#include <cmath>

#include "explore/program.hpp"

namespace galton {

struct UndefinedValue {
    int node;
};

// An operation on numbers that are carried as doubles. An integer of the language must not lose digits, and has no -0.
inline double apply(const Node& node, int index, double a, double b) {
    if (!has_value(node.op, node.integral, a, b)) throw UndefinedValue{index};
    double value = compute<double>(node.op, [&](auto f) -> double {
        if constexpr (std::is_invocable_v<decltype(f), double, double>)
            return f(a, b);
        else
            return f(a);
    });
    if (!node.integral) return value;
    if (lengthens(node.op) && !(std::abs(value) < 0x1p53)) throw UndefinedValue{index};
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
        case Op::Eq: return arg(0) == arg(1);
        case Op::Lt: return arg(0) < arg(1);
        case Op::Le: return arg(0) <= arg(1);
        case Op::And: return arg(0) != 0 && arg(1) != 0;
        case Op::Or: return arg(0) != 0 || arg(1) != 0;
        case Op::Not: return arg(0) == 0;
        case Op::Iff: return (arg(0) != 0) == (arg(1) != 0);
        case Op::Ite: return arg(0) != 0 ? arg(1) : arg(2);
        default: break;
    }
    double a = arg(0);
    return apply(node, index, a, node.args[1] >= 0 ? arg(1) : 0);
}

}  // namespace galton
