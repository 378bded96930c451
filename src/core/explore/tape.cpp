#include "explore/tape.hpp"

#include <algorithm>

namespace galton {

namespace {

// An operand as a loop sees it: a column, or one value for all states.
template <class T>
struct Column {
    const T* data;
    T operator()(int i) const { return data[i]; }
};

template <class T>
struct Same {
    T value;
    T operator()(int) const { return value; }
};

// Calls f with a Column or a Same, so that each combination becomes its own loop.
template <class T, class F>
void with(const Operand& operand, const int32_t* const* variables, Registers& registers, const F& f) {
    if (operand.where == Operand::Immediate) {
        f(Same<T>{static_cast<T>(operand.value)});
    } else if constexpr (std::is_same_v<T, int32_t>) {
        f(Column<T>{operand.where == Operand::Variable ? variables[operand.index] : registers.ints_of(operand.index)});
    } else {
        f(Column<T>{registers.reals_of(operand.index)});
    }
}

template <class A, class B, class Compare>
void compare(const A& a, const B& b, int n, Mask& out, const Compare& holds) {
    alignas(64) uint8_t bytes[64];
    for (int k = 0; k < MASK_WORDS; ++k) {
        int base = 64 * k;
        if (base >= n) {
            out.bits[k] = 0;
            continue;
        }
        for (int i = 0; i < 64; ++i) bytes[i] = holds(a(base + i), b(base + i));
        out.bits[k] = gather_bits(bytes);
    }
}

template <class T>
void run_comparison(const Instruction& step, const int32_t* const* variables, int n, Registers& registers) {
    Mask& out = registers.masks[static_cast<size_t>(step.target)];
    with<T>(step.a, variables, registers, [&](auto a) {
        with<T>(step.b, variables, registers, [&](auto b) {
            if (step.op == Op::Eq)
                compare(a, b, n, out, [](T x, T y) { return x == y; });
            else if (step.op == Op::Lt)
                compare(a, b, n, out, [](T x, T y) { return x < y; });
            else
                compare(a, b, n, out, [](T x, T y) { return x <= y; });
        });
    });
}

Mask mask_of(const Operand& operand, const Registers& registers) {
    if (operand.where == Operand::Register) return registers.masks[static_cast<size_t>(operand.index)];
    return operand.value != 0 ? full_mask(BLOCK) : Mask{};
}

void run_logic(const Instruction& step, const Registers& in, Mask& out) {
    Mask a = mask_of(step.a, in);
    switch (step.op) {
        case Op::And: out = a & mask_of(step.b, in); break;
        case Op::Or: out = a | mask_of(step.b, in); break;
        case Op::Iff: {
            Mask b = mask_of(step.b, in);
            out = (a & b) | ~(a | b);
            break;
        }
        case Op::Ite: out = (a & mask_of(step.b, in)) | (~a & mask_of(step.c, in)); break;
        default: out = ~a; break;
    }
}

template <class T>
void run_choice(const Instruction& step, const int32_t* const* variables, int n, Registers& registers, T* out) {
    const Mask condition = mask_of(step.a, registers);
    with<T>(step.b, variables, registers, [&](auto then) {
        with<T>(step.c, variables, registers, [&](auto otherwise) {
            for (int i = 0; i < n; ++i) out[i] = test(condition, i) ? then(i) : otherwise(i);
        });
    });
}

// A number from numbers: a loop of its own for each operation, and for each kind of operands.
template <class In, class Out>
void run_number(const Instruction& step, const int32_t* const* variables, int n, Registers& registers, Out* out) {
    with<In>(step.a, variables, registers, [&](auto a) {
        if (step.op == Op::ToReal) {
            for (int i = 0; i < n; ++i) out[i] = static_cast<Out>(a(i));
            return;
        }
        compute<In>(step.op, [&](auto f) {
            if constexpr (std::is_invocable_v<decltype(f), In, In>) {
                with<In>(step.b, variables, registers, [&](auto b) {
                    for (int i = 0; i < n; ++i) out[i] = static_cast<Out>(f(a(i), b(i)));
                });
            } else {
                for (int i = 0; i < n; ++i) out[i] = static_cast<Out>(f(a(i)));
            }
        });
    });
}

template <class Out>
void run_numbers(const Instruction& step, const int32_t* const* variables, int n, Registers& registers, Out* out) {
    if (step.op == Op::Ite)
        run_choice<Out>(step, variables, n, registers, out);
    else if (step.operand_kind == Kind::Int)
        run_number<int32_t, Out>(step, variables, n, registers, out);
    else
        run_number<double, Out>(step, variables, n, registers, out);
}

}  // namespace

void Tape::run(const int32_t* const* variables, int n, Registers& registers) const {
    for (const Instruction& step : steps_) {
        if (step.kind == Kind::Int) {
            run_numbers(step, variables, n, registers, registers.ints_of(step.target));
        } else if (step.kind == Kind::Real) {
            run_numbers(step, variables, n, registers, registers.reals_of(step.target));
        } else if (step.op == Op::Eq || step.op == Op::Lt || step.op == Op::Le) {
            if (step.operand_kind == Kind::Int)
                run_comparison<int32_t>(step, variables, n, registers);
            else
                run_comparison<double>(step, variables, n, registers);
        } else {
            run_logic(step, registers, registers.masks[static_cast<size_t>(step.target)]);
        }
    }
}

void variables_of(const Program& program, int index, std::vector<int>& found) {
    std::vector<int> open{index};
    std::unordered_map<int, bool> seen;
    while (!open.empty()) {
        int current = open.back();
        open.pop_back();
        if (!seen.emplace(current, true).second) continue;
        const Node& node = program.node(current);
        if (node.op == Op::Var) {
            int variable = static_cast<int>(node.value);
            if (std::find(found.begin(), found.end(), variable) == found.end()) found.push_back(variable);
        }
        for (int arg : node.args)
            if (arg >= 0) open.push_back(arg);
    }
}

}  // namespace galton
