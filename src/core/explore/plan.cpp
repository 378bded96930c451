#include "explore/plan.hpp"

#include <algorithm>
#include <cmath>

namespace galton {

namespace {

constexpr size_t MANY_VALUES = 16, MANY_COMMANDS = 64;  // from which on guards are dispatched by the value they ask for

struct Asked {
    int variable;
    int32_t value;
};

// The values of variables that a guard asks for: those of its conjuncts that say `x = 17`.
void values_asked(const Program& program, int index, std::vector<Asked>& found) {
    const Node& node = program.node(index);
    if (node.op == Op::And) {
        values_asked(program, node.args[0], found);
        values_asked(program, node.args[1], found);
    } else if (node.op == Op::Eq) {
        const Node *a = &program.node(node.args[0]), *b = &program.node(node.args[1]);
        if (b->op == Op::Var) std::swap(a, b);
        if (a->op == Op::Var && b->op == Op::Const && b->kind == Kind::Int)
            found.push_back({static_cast<int>(a->value), static_cast<int32_t>(b->value)});
    }
}

// For each command the value that its guard is dispatched by; variable -1 for those that are not. Of several variables
// it is the one with the most values.
std::vector<Asked> choose_dispatch(const Program& program) {
    std::vector<Asked> chosen(program.commands.size(), Asked{-1, 0});
    if (program.commands.size() < MANY_COMMANDS) return chosen;
    std::vector<std::vector<Asked>> asked(program.commands.size());
    std::vector<std::unordered_map<int32_t, size_t>> values(program.fields.size());
    for (size_t c = 0; c < asked.size(); ++c) {
        const int guard = program.commands[c].guard;
        if (!program.node(guard).partial) values_asked(program, guard, asked[c]);
        for (const Asked& one : asked[c]) ++values[static_cast<size_t>(one.variable)][one.value];
    }
    for (size_t c = 0; c < asked.size(); ++c) {
        size_t most = MANY_VALUES - 1;
        for (const Asked& one : asked[c]) {
            const size_t many = values[static_cast<size_t>(one.variable)].size();
            if (many > most) chosen[c] = one, most = many;
        }
    }
    return chosen;
}

GuardPlan plan_guard(const Program& program, int node, Tape& tape) {
    if (program.node(node).partial) return {true, node, {}};
    return {false, node, tape.add(node)};
}

// x, x + c, c + x and x - c as a shift of x; false if it is something else.
bool as_shift(const Program& program, int index, Source& source) {
    const Node& node = program.node(index);
    if (node.kind != Kind::Int) return false;
    auto shift = [&](int variable, double by) {
        source = {Source::Shifted, Kind::Int, static_cast<int>(program.node(variable).value), by, {}};
        return true;
    };
    if (node.op == Op::Var) return shift(index, 0);
    if (node.op != Op::Add && node.op != Op::Sub) return false;
    const Node &a = program.node(node.args[0]), &b = program.node(node.args[1]);
    if (a.op == Op::Var && b.op == Op::Const) return shift(node.args[0], node.op == Op::Add ? b.value : -b.value);
    if (a.op == Op::Const && b.op == Op::Var && node.op == Op::Add) return shift(node.args[1], a.value);
    return false;
}

// A boolean variable's value is the comparison `x = 1` of its 0 or 1: read it directly.
bool as_boolean_variable(const Program& program, int index, Source& source) {
    const Node& node = program.node(index);
    if (node.op != Op::Eq || program.node(node.args[0]).op != Op::Var) return false;
    const Node& one = program.node(node.args[1]);
    const Field& field = program.fields[static_cast<size_t>(program.node(node.args[0]).value)];
    if (one.op != Op::Const || one.value != 1 || field.low != 0 || field.high != 1) return false;
    source = {Source::Shifted, Kind::Int, static_cast<int>(program.node(node.args[0]).value), 0, {}};
    return true;
}

Source plan_source(const Program& program, int index, Tape& tape, std::vector<int>& variables, bool shifts) {
    const Node& node = program.node(index);
    if (node.op == Op::Const) return {Source::Constant, node.kind, 0, node.value, {}};
    if (node.partial) return {Source::OneByOne, node.kind, index, 0, {}};
    Source source;
    if (shifts && (as_shift(program, index, source) || as_boolean_variable(program, index, source))) return source;
    variables_of(program, index, variables);
    return {Source::OnTape, node.kind, 0, 0, tape.add(index)};
}

UpdatePlan plan_update(const Program& program, const Update& update, CommandPlan& command) {
    UpdatePlan plan;
    plan.probability = plan_source(program, update.probability, command.tape, command.variables, false);
    plan.mask.assign(static_cast<size_t>(program.words), 0);
    plan.value = plan.mask;
    for (size_t i = 0; i < update.assignments.size(); ++i) {
        const Assignment& assignment = update.assignments[i];
        const Field& field = program.fields[static_cast<size_t>(assignment.field)];
        auto word = static_cast<size_t>(field.word);
        Source source = plan_source(program, assignment.node, command.tape, command.variables, true);
        plan.mask[word] |= field.mask() << field.shift;
        bool in_range = source.constant >= static_cast<double>(field.low) && source.constant <= static_cast<double>(field.high);
        if (source.how == Source::Constant && in_range) {
            plan.value[word] |= static_cast<uint64_t>(static_cast<int64_t>(source.constant) - field.low) << field.shift;
        } else {
            plan.assignments.push_back({source, assignment.field, static_cast<int>(i)});
        }
    }
    return plan;
}

CommandPlan plan_command(const Program& program, const Command& command) {
    CommandPlan plan{Tape(program), {}, {}, false, command.sum_is_wrong};
    for (const Update& update : command.updates) {
        plan.updates.push_back(plan_update(program, update, plan));
        if (plan.updates.back().probability.how != Source::Constant) plan.sum_checked = program.type != ModelType::Ctmc;
    }
    return plan;
}

// Only arithmetic on finite numbers that cannot leave them, such as most rewards, is safe to evaluate anywhere.
bool may_be_infinite(const Program& program, int index) {
    const Node& node = program.node(index);
    if (node.partial || has_poles(node.op)) return true;
    if (node.op == Op::Const) return !std::isfinite(node.value);
    for (int arg : node.args)
        if (arg >= 0 && program.node(arg).kind != Kind::Bool && may_be_infinite(program, arg)) return true;
    return false;
}

}  // namespace

Plan::Plan(const Program& program) : program(program), guards(program), finish(program), initial(program) {
    const std::vector<Asked> asked = choose_dispatch(program);
    for (size_t c = 0; c < program.commands.size(); ++c) {
        const Command& command = program.commands[c];
        command_guards.push_back(asked[c].variable < 0 ? plan_guard(program, command.guard, guards)
                                                       : dispatch(asked[c].variable, asked[c].value, static_cast<int>(c)));
        commands.push_back(plan_command(program, command));
        registers.cover(commands.back().tape.count);
    }
    if (program.terminal >= 0) terminal = plan_guard(program, program.terminal, guards);
    for (int proposition : program.reader.propositions) propositions.push_back(plan_guard(program, proposition, guards));
    for (int label : program.labels) labels.push_back(plan_guard(program, label, finish));
    for (const RewardItem& item : program.rewards) {
        RewardPlan plan{plan_guard(program, item.guard, finish), {}, Tape(program), {}, item.structure, item.action, item.value,
                        may_be_infinite(program, item.value)};
        plan.value = plan_source(program, item.value, plan.tape, plan.variables, false);
        registers.cover(plan.tape.count);
        rewards.push_back(std::move(plan));
    }
    if (program.initial >= 0) initial_guard = plan_guard(program, program.initial, initial);
    registers.cover(initial.count);
    for (const Product& product : program.products) deepest = std::max(deepest, static_cast<int>(product.factors.size()));
}

GuardPlan Plan::dispatch(int variable, int32_t value, int command) {
    auto of_variable = std::find_if(dispatches.begin(), dispatches.end(), [&](auto& one) { return one.variable == variable; });
    if (of_variable == dispatches.end()) of_variable = dispatches.insert(dispatches.end(), Dispatch{variable, {}});
    GuardsOfValue& guards = of_variable->by_value.try_emplace(value, GuardsOfValue{Tape(program), {}}).first->second;
    guards.commands.push_back(command);
    GuardPlan plan = plan_guard(program, program.commands[static_cast<size_t>(command)].guard, guards.tape);
    plan.dispatched = true;
    registers.cover(guards.tape.count);
    return plan;
}

}  // namespace galton
