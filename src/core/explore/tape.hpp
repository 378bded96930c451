// Expressions over a block of states: a tape of instructions, each a loop over a column.
//
// A block holds up to BLOCK states with a column per variable. A truth value is a bit mask (64 states a word), so that
// a conjunction costs next to nothing; numbers are columns of int32 or double. A tape runs either over the whole block
// (guards, labels) or over a selection of its states (updates, probabilities, rewards), whose variables are gathered
// first. Only total expressions come here; partial ones go through scalar.hpp.
#pragma once

#include <cstring>
#include <unordered_map>

#include "explore/program.hpp"
#include "explore/scalar.hpp"

namespace galton {

inline constexpr int BLOCK = 1024;
inline constexpr int MASK_WORDS = BLOCK / 64;

struct Mask {
    uint64_t bits[MASK_WORDS];
};

// The first n bits.
inline Mask full_mask(int n) {
    Mask m;
    for (int k = 0; k < MASK_WORDS; ++k) {
        int rest = n - 64 * k;
        m.bits[k] = rest >= 64 ? ~uint64_t{0} : rest <= 0 ? 0 : (uint64_t{1} << rest) - 1;
    }
    return m;
}

inline bool any(const Mask& m) {
    uint64_t all = 0;
    for (uint64_t word : m.bits) all |= word;
    return all != 0;
}

inline Mask operator&(const Mask& a, const Mask& b) {
    Mask m;
    for (int k = 0; k < MASK_WORDS; ++k) m.bits[k] = a.bits[k] & b.bits[k];
    return m;
}

inline Mask operator|(const Mask& a, const Mask& b) {
    Mask m;
    for (int k = 0; k < MASK_WORDS; ++k) m.bits[k] = a.bits[k] | b.bits[k];
    return m;
}

inline Mask operator~(const Mask& a) {
    Mask m;
    for (int k = 0; k < MASK_WORDS; ++k) m.bits[k] = ~a.bits[k];
    return m;
}

inline bool test(const Mask& m, int i) { return m.bits[i >> 6] >> (i & 63) & 1; }

// The positions of the set bits, in order; returns how many.
inline int select(const Mask& m, uint16_t* selection) {
    int count = 0;
    for (int k = 0; k < MASK_WORDS; ++k) {
        uint64_t word = m.bits[k];
        if (word == ~uint64_t{0}) {
            for (int i = 0; i < 64; ++i) selection[count + i] = static_cast<uint16_t>(64 * k + i);
            count += 64;
            continue;
        }
        while (word) {
            selection[count++] = static_cast<uint16_t>(64 * k + __builtin_ctzll(word));
            word &= word - 1;
        }
    }
    return count;
}

// The mask of a selection.
inline Mask mask_of(const uint16_t* selection, int count) {
    Mask m{};
    for (int j = 0; j < count; ++j) m.bits[selection[j] >> 6] |= uint64_t{1} << (selection[j] & 63);
    return m;
}

// Eight bytes of 0 or 1 into eight bits: the multiplication moves byte i to bit 56 + i.
inline uint64_t gather_bits(const uint8_t* bytes) {
    uint64_t result = 0;
    for (int k = 0; k < 8; ++k) {
        uint64_t eight;
        std::memcpy(&eight, bytes + 8 * k, 8);
        result |= (eight * 0x0102040810204080ull >> 56) << (8 * k);
    }
    return result;
}

// Where an instruction finds an operand.
struct Operand {
    enum Where : uint8_t { Register, Variable, Immediate } where = Immediate;
    int index = 0;
    double value = 0;
};

struct Instruction {
    Op op;
    Kind kind;          // of the result
    Kind operand_kind;  // of the operands (of `then` and `otherwise` for Ite)
    int target;         // register of the result's kind
    Operand a, b, c;
};

// Columns that a tape writes to; one set per thread, as large as the largest tape needs.
struct Registers {
    std::vector<Mask> masks;
    std::vector<int32_t> ints;
    std::vector<double> reals;

    int32_t* ints_of(int r) { return ints.data() + static_cast<size_t>(r) * BLOCK; }
    double* reals_of(int r) { return reals.data() + static_cast<size_t>(r) * BLOCK; }
};

struct RegisterCount {
    int masks = 0, ints = 0, reals = 0;

    void cover(const RegisterCount& other) {
        masks = std::max(masks, other.masks);
        ints = std::max(ints, other.ints);
        reals = std::max(reals, other.reals);
    }
    Registers allocate() const {
        return {std::vector<Mask>(static_cast<size_t>(masks)), std::vector<int32_t>(static_cast<size_t>(ints) * BLOCK),
                std::vector<double>(static_cast<size_t>(reals) * BLOCK)};
    }
};

class Tape {
  public:
    explicit Tape(const Program& program) : program_(&program) {}

    // Make sure a node is computed; gives the place of its value after a run.
    Operand add(int index) {
        const Node& node = program_->node(index);
        if (node.op == Op::Const) return {Operand::Immediate, 0, node.value};
        if (node.op == Op::Var) return {Operand::Variable, static_cast<int>(node.value), 0};
        if (auto found = known_.find(index); found != known_.end()) return {Operand::Register, found->second, 0};
        Instruction step{node.op, node.kind, node.kind, 0, {}, {}, {}};
        Operand* operands[] = {&step.a, &step.b, &step.c};
        for (int i = 0; i < 3; ++i)
            if (node.args[i] >= 0) *operands[i] = add(node.args[i]);
        step.operand_kind = program_->node(node.args[node.op == Op::Ite ? 1 : 0]).kind;
        step.target = node.kind == Kind::Bool ? count.masks++ : node.kind == Kind::Int ? count.ints++ : count.reals++;
        known_[index] = step.target;
        steps_.push_back(step);
        return {Operand::Register, step.target, 0};
    }

    bool empty() const { return steps_.empty(); }

    // `variables[v]` is the column of variable v, already gathered where the run is over a selection.
    void run(const int32_t* const* variables, int n, Registers& registers) const;

    RegisterCount count;

  private:
    const Program* program_;
    std::vector<Instruction> steps_;
    std::unordered_map<int, int> known_;
};

// The variables that an expression reads, added to `found` where they are not there yet.
void variables_of(const Program& program, int node, std::vector<int>& found);

}  // namespace galton
