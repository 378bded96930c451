// The lowered program as the core sees it: a typed expression graph, commands over packed states, and their products.
//
// Python builds it (galton/lower/lowering.py explains the ideas); this file only gives it a shape that loops can run over.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "explore/operations.hpp"
#include "explore/orbits.hpp"

namespace galton {

enum class Kind : uint8_t { Bool, Int, Real };

struct Node {
    Op op;
    Kind kind;
    bool integral;  // an integer of the language, even when carried as Real
    bool partial;   // may have no value: only ever evaluated one state at a time
    int32_t args[3] = {-1, -1, -1};
    double value = 0;  // of a Const; the index of a Var
};

// value = ((words[word] >> shift) & mask) + low
struct Field {
    int word, shift, bits;
    int64_t low, high;
    uint64_t mask() const { return bits == 0 ? 0 : (~uint64_t{0} >> (64 - bits)); }
};

struct Assignment {
    int field;
    int node;
};

struct Update {
    int probability;
    std::vector<Assignment> assignments;
};

struct Command {
    int guard;
    std::vector<Update> updates;
    bool sum_is_wrong = false;  // constant probabilities that do not add up to 1: an error once it is enabled
};

// One command of each factor moves at the same time.
struct Product {
    int action;
    std::vector<std::vector<int>> factors;
};

// `action` is -1 for state rewards.
struct RewardItem {
    int structure;
    int action;
    int guard;
    int value;
};

// A deterministic automaton beside the program. In every transition it reads the state that is left: bit k of its letter
// says whether proposition k holds there. Its own state is a field that no command knows.
struct Reader {
    int field = -1;                  // -1: there is none
    std::vector<int> propositions;   // nodes, never partial
    std::vector<int32_t> successor;  // of state q and letter a at [q << propositions | a]
    std::vector<uint8_t> final;      // states past which nobody asks what follows
};

enum class ModelType : uint8_t { Dtmc, Ctmc, Mdp };

struct Program {
    ModelType type;
    int words;
    std::vector<Field> fields;
    std::vector<Node> nodes;
    std::vector<Command> commands;
    std::vector<Product> products;
    int actions;
    int reward_structures;
    std::vector<RewardItem> rewards;
    std::vector<int> labels;
    int initial = -1;                   // node of init … endinit
    std::vector<std::pair<int64_t, int64_t>> initial_ranges;  // of each variable, all that it leaves possible
    std::vector<uint64_t> first_state;  // where there is none
    int terminal = -1;                  // node that holds where nobody asks what follows; never partial
    Reader reader;
    std::vector<Orbits> orbits;  // of symmetries, on different variables; only states that stand for others are explored

    const Node& node(int i) const { return nodes[static_cast<size_t>(i)]; }
    bool is_constant(int i) const { return node(i).op == Op::Const; }
};

// What can go wrong while exploring. Python turns it into a sentence about the state, the command and its line.
enum class Fault : uint8_t {
    None,
    OutOfRange,
    BadProbability,
    BadSum,
    Undefined,
    TooManyStates,
    OutOfMemory,
    Interrupted,
    NoInitialState,
    BadReward,
    TooManySuccessors,
    BadProduct,
    BadTotal,
};

struct Failure {
    Fault fault = Fault::None;
    int command = -1, update = -1, assignment = -1, node = -1;
    double value = 0;
    std::vector<uint64_t> state;
};

struct ExploreFailure {
    Failure failure;
};

}  // namespace galton
