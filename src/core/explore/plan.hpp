// What the expander runs: one tape for all guards, one per command for its updates. Made once, shared by all threads.
#pragma once

#include "explore/tape.hpp"

namespace galton {

// Where the new value of a field, or a probability, comes from.
struct Source {
    enum How : uint8_t {
        Constant,   // `constant`
        Shifted,    // variable `index` + `constant`: most assignments are of this form and need no tape
        OnTape,     // `operand` after the command's tape has run
        OneByOne,   // a partial expression: node `index`, state by state
    } how = Constant;
    Kind kind = Kind::Int;
    int index = 0;
    double constant = 0;
    Operand operand;
};

struct AssignmentPlan {
    Source source;
    int field;
    int number;  // its place in the update, for messages
};

struct UpdatePlan {
    Source probability;
    std::vector<uint64_t> mask, value;  // per word: the bits it writes, and those it writes the same for every state
    std::vector<AssignmentPlan> assignments;
};

struct CommandPlan {
    Tape tape;
    std::vector<int> variables;  // that the tape reads
    std::vector<UpdatePlan> updates;
    bool sum_checked = false;  // probabilities depend on the state and must add up to 1
    bool sum_is_wrong = false;
};

// A truth value over the block.
struct GuardPlan {
    bool partial = false;
    int node = -1;
    Operand operand;
    bool dispatched = false;  // it is on the tape of a value
};

struct RewardPlan {
    GuardPlan guard;
    Source value;
    Tape tape;
    std::vector<int> variables;
    int structure, action;
    int node;    // of the value
    bool risky;  // the value may be undefined, or not finite
};

// Guards that all ask for one value of a variable, `s=17 & …`. Generated models have thousands of such commands; a
// block of states needs only those for the values it has.
struct GuardsOfValue {
    Tape tape;
    std::vector<int> commands;
};

struct Dispatch {
    int variable;
    std::unordered_map<int32_t, GuardsOfValue> by_value;
};

struct Plan {
    explicit Plan(const Program& program);

    const Program& program;
    Tape guards;   // guards of commands, but those that are dispatched
    std::vector<Dispatch> dispatches;
    Tape finish;   // labels and the guards of rewards, needed once the states are known
    Tape initial;  // init … endinit
    std::vector<GuardPlan> command_guards;
    std::vector<CommandPlan> commands;
    std::vector<GuardPlan> labels;
    std::vector<RewardPlan> rewards;
    GuardPlan initial_guard;
    GuardPlan terminal;       // computed with the guards of commands; false where none is given
    std::vector<GuardPlan> propositions;  // of the reader, likewise
    RegisterCount registers;  // enough for any of the tapes
    int deepest = 1;          // factors of the largest product

  private:
    GuardPlan dispatch(int variable, int32_t value, int command);
};

}  // namespace galton
