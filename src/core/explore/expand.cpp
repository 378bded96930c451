#include "explore/expand.hpp"

#include <algorithm>
#include <cmath>

namespace galton {

Expander::Expander(const Plan& plan)
    : plan_(plan), program_(plan.program), words_(plan.program.words), states_(words_, 1), read_(words_, 1),
      decoded_(program_.fields.size() * BLOCK), gathered_data_(program_.fields.size() * BLOCK),
      variables_(program_.fields.size()), gathered_(program_.fields.size()), guard_registers_(plan.guards.count.allocate()),
      scratch_(plan.registers.allocate()), bits_(words_, 1), successors_(words_, 1), deltas_(words_, 1),
      levels_(words_, plan.deepest + 1), number_(BLOCK), pointers_(static_cast<size_t>(words_)),
      representative_(program_.orbits) {
    for (size_t v = 0; v < variables_.size(); ++v) variables_[v] = decoded_.data() + v * BLOCK;
    const int reading = program_.reader.field < 0 ? -1 : program_.fields[static_cast<size_t>(program_.reader.field)].word;
    for (int w = 0; w < words_; ++w) base_words_.push_back(w == reading ? read_(0, w) : states_(0, w));
    bases_ = base_words_.data();
    letters_.resize(reading < 0 ? 0 : BLOCK);
    for (const GuardPlan& guard : plan.command_guards) place_.push_back(guard.dispatched ? NOWHERE : ON_TAPE);
}

void Expander::load(const uint64_t* states, int n) {
    n_ = n;
    live_ = full_mask(n);
    for (int w = 0; w < words_; ++w) {
        uint64_t* out = states_(0, w);
        for (int i = 0; i < n; ++i) out[i] = states[i * words_ + w];
    }
    for (size_t v = 0; v < program_.fields.size(); ++v) {
        const Field& field = program_.fields[v];
        if (field.bits == 0) continue;  // its value is a constant and was folded
        const uint64_t* words = states_(0, field.word);
        const uint64_t mask = field.mask();
        const auto low = static_cast<uint32_t>(field.low);  // unsigned: the sum may pass through the sign bit
        int32_t* out = decoded_.data() + v * BLOCK;
        for (int i = 0; i < n; ++i) out[i] = static_cast<int32_t>(static_cast<uint32_t>(words[i] >> field.shift & mask) + low);
    }
}

void Expander::run_guards() {
    run(plan_.guards, guard_registers_);
    for (int command : placed_) place_[static_cast<size_t>(command)] = NOWHERE;
    placed_.clear();
    dispatched_.clear();
    for (const Dispatch& dispatch : plan_.dispatches) {
        const int32_t* column = variables_[static_cast<size_t>(dispatch.variable)];
        values_.assign(column, column + n_);
        std::sort(values_.begin(), values_.end());
        values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
        for (int32_t value : values_) {
            auto found = dispatch.by_value.find(value);
            if (found == dispatch.by_value.end()) continue;
            run(found->second.tape, scratch_);
            for (int command : found->second.commands) {
                place_[static_cast<size_t>(command)] = static_cast<int32_t>(dispatched_.size());
                dispatched_.push_back(mask_of(plan_.command_guards[static_cast<size_t>(command)], scratch_));
                placed_.push_back(command);
            }
        }
    }
}

// The automaton's next state, in the word that has it; where it is final there is no more to expand.
void Expander::read_letters() {
    const Reader& reader = program_.reader;
    const Field& field = program_.fields[static_cast<size_t>(reader.field)];
    const size_t width = plan_.propositions.size();
    if (field.bits == 0) {
        std::fill_n(letters_.begin(), n_, 0);
    } else {
        const int32_t* before = variables_[static_cast<size_t>(reader.field)];
        for (int i = 0; i < n_; ++i) letters_[static_cast<size_t>(i)] = before[i] << width;
    }
    for (size_t k = 0; k < width; ++k) {
        const Mask mask = mask_of(plan_.propositions[k], guard_registers_);
        for (int i = 0; i < n_; ++i) letters_[static_cast<size_t>(i)] |= static_cast<int32_t>(test(mask, i)) << k;
    }
    const uint64_t *state = states_(0, field.word), keep = ~(field.mask() << field.shift);
    uint64_t* out = bases_[field.word];
    for (int i = 0; i < n_; ++i) {
        const auto after = static_cast<size_t>(reader.successor[static_cast<size_t>(letters_[static_cast<size_t>(i)])]);
        out[i] = (state[i] & keep) | static_cast<uint64_t>(after) << field.shift;
        active_.bits[i >> 6] &= ~(static_cast<uint64_t>(reader.final[after]) << (i & 63));
    }
}

Mask Expander::mask_of(const GuardPlan& guard, const Registers& registers, const Mask& where) {
    if (!guard.partial) {
        if (guard.operand.where == Operand::Register) return registers.masks[static_cast<size_t>(guard.operand.index)] & where;
        return guard.operand.value != 0 ? where : Mask{};
    }
    Mask mask{};
    for (int i = 0; i < n_; ++i) {
        if (!test(where, i)) continue;
        try {
            double holds = galton::evaluate(program_, guard.node, [&](int v) { return variables_[static_cast<size_t>(v)][i]; });
            mask.bits[i >> 6] |= static_cast<uint64_t>(holds != 0) << (i & 63);
        } catch (const UndefinedValue& undefined) {
            fail(Fault::Undefined, -1, -1, -1, undefined.node, 0, i);
        }
    }
    return mask;
}

std::vector<uint64_t> Expander::state_at(int i) {
    std::vector<uint64_t> state(static_cast<size_t>(words_));
    for (int w = 0; w < words_; ++w) state[w] = states_(0, w)[i];
    return state;
}

void Expander::fail(Fault fault, int command, int update, int assignment, int node, double value, int state) {
    throw ExploreFailure{{fault, command, update, assignment, node, value, state_at(state)}};
}

void Expander::gather(const std::vector<int>& variables, const uint16_t* selection, int count) {
    for (int variable : variables) {
        auto v = static_cast<size_t>(variable);
        if (count == n_) {
            gathered_[v] = variables_[v];
            continue;
        }
        int32_t* out = gathered_data_.data() + v * BLOCK;
        for (int j = 0; j < count; ++j) out[j] = variables_[v][selection[j]];
        gathered_[v] = out;
    }
}

void Expander::read(const Source& source, const uint16_t* selection, int count, double* out) {
    if (source.how == Source::Constant) {
        std::fill(out, out + count, source.constant);
    } else if (source.how == Source::Shifted) {
        const int32_t* column = variables_[static_cast<size_t>(source.index)];
        for (int j = 0; j < count; ++j) out[j] = column[selection[j]] + source.constant;
    } else if (source.how == Source::OneByOne) {
        for (int j = 0; j < count; ++j) {
            int i = selection[j];
            try {
                out[j] = galton::evaluate(program_, source.index, [&](int v) { return variables_[static_cast<size_t>(v)][i]; });
            } catch (const UndefinedValue& undefined) {
                fail(Fault::Undefined, -1, -1, -1, undefined.node, 0, i);
            }
        }
    } else if (source.kind == Kind::Bool) {
        const Mask& mask = scratch_.masks[static_cast<size_t>(source.operand.index)];
        for (int j = 0; j < count; ++j) out[j] = test(mask, j);
    } else if (source.kind == Kind::Real) {
        std::copy_n(scratch_.reals_of(source.operand.index), count, out);
    } else {
        const int32_t* column = source.operand.where == Operand::Variable ? gathered_[static_cast<size_t>(source.operand.index)]
                                                                          : scratch_.ints_of(source.operand.index);
        for (int j = 0; j < count; ++j) out[j] = column[j];
    }
}

// Run a command's tape over the states where it is enabled, and settle its probabilities.
void Expander::evaluate(int command, const uint16_t* selection, int count) {
    const CommandPlan& plan = plan_.commands[static_cast<size_t>(command)];
    if (!plan.tape.empty() || !plan.variables.empty()) {
        gather(plan.variables, selection, count);
        run_gathered(plan.tape, count);
    }
    if (plan.sum_is_wrong) {
        double sum = 0;
        for (const UpdatePlan& update : plan.updates) sum += update.probability.constant;
        fail(Fault::BadSum, command, -1, -1, -1, sum, selection[0]);
    }
    const size_t updates = plan.updates.size();
    if (probabilities_.size() < updates) {
        probabilities_.resize(updates, std::vector<double>(BLOCK));
        probability_constant_.resize(updates);
        probability_value_.resize(updates);
    }
    for (size_t u = 0; u < updates; ++u) {
        const Source& source = plan.updates[u].probability;
        probability_constant_[u] = source.how == Source::Constant;
        probability_value_[u] = source.constant;
        if (probability_constant_[u]) {
            if (!(source.constant >= 0) || std::isinf(source.constant))
                fail(Fault::BadProbability, command, static_cast<int>(u), -1, -1, source.constant, selection[0]);
            continue;
        }
        double* out = probabilities_[u].data();
        read(source, selection, count, out);
        bool bad = false;
        for (int j = 0; j < count; ++j) bad |= !(out[j] >= 0 && out[j] < INFINITY);
        for (int j = 0; bad && j < count; ++j)
            if (!(out[j] >= 0 && out[j] < INFINITY))
                fail(Fault::BadProbability, command, static_cast<int>(u), -1, -1, out[j], selection[j]);
    }
    if (plan.sum_checked) check_sum(command, selection, count);
}

void Expander::check_sum(int command, const uint16_t* selection, int count) {
    const size_t updates = plan_.commands[static_cast<size_t>(command)].updates.size();
    for (int j = 0; j < count; ++j) {
        double sum = 0;
        for (size_t u = 0; u < updates; ++u) sum += probability_at(u, j);
        if (!(std::abs(sum - 1) <= SUM_TOLERANCE)) fail(Fault::BadSum, command, -1, -1, -1, sum, selection[j]);
    }
}

// The bits that an update writes, for each selected state; a value that leaves its range is an error.
void Expander::new_bits(int command, int update, const uint16_t* selection, int count) {
    const UpdatePlan& plan = plan_.commands[static_cast<size_t>(command)].updates[static_cast<size_t>(update)];
    for (int w = 0; w < words_; ++w) std::fill_n(bits_(0, w), count, plan.value[static_cast<size_t>(w)]);
    for (const AssignmentPlan& assignment : plan.assignments) {
        const Field& field = program_.fields[static_cast<size_t>(assignment.field)];
        const Source& source = assignment.source;
        uint64_t* out = bits_(0, field.word);
        const auto range = static_cast<uint64_t>(field.high - field.low);
        const int shift = field.shift;
        uint64_t bad = 0;
        auto put = [&](int j, int64_t offset) {
            auto value = static_cast<uint64_t>(offset);
            bad |= value > range;
            out[j] |= (value & field.mask()) << shift;
        };
        if (source.how == Source::Shifted) {
            const int32_t* column = variables_[static_cast<size_t>(source.index)];
            const int64_t by = static_cast<int64_t>(source.constant) - field.low;
            for (int j = 0; j < count; ++j) put(j, column[selection[j]] + by);
        } else if (source.how == Source::OnTape && source.kind == Kind::Int) {
            const int32_t* column = source.operand.where == Operand::Variable
                                        ? gathered_[static_cast<size_t>(source.operand.index)]
                                        : scratch_.ints_of(source.operand.index);
            for (int j = 0; j < count; ++j) put(j, column[j] - field.low);
        } else {
            read_assigned(update, assignment, selection, count, number_.data());
            for (int j = 0; j < count; ++j) {
                double value = number_[static_cast<size_t>(j)];
                bool inside = value >= static_cast<double>(field.low) && value <= static_cast<double>(field.high);
                put(j, inside ? static_cast<int64_t>(value) - field.low : -1);
            }
        }
        if (bad) blame_range(command, update, assignment, selection, count);
    }
}

// The values that an update assigns. A partial one has none where the update has no chance to happen.
void Expander::read_assigned(int update, const AssignmentPlan& assignment, const uint16_t* selection, int count, double* out) {
    if (assignment.source.how != Source::OneByOne) return read(assignment.source, selection, count, out);
    for (int j = 0; j < count; ++j) {
        out[j] = static_cast<double>(program_.fields[static_cast<size_t>(assignment.field)].low);
        if (probability_at(static_cast<size_t>(update), j) != 0) read(assignment.source, selection + j, 1, out + j);
    }
}

// A value out of range counts only where the update has a chance to happen.
void Expander::blame_range(int command, int update, const AssignmentPlan& assignment, const uint16_t* selection, int count) {
    const Field& field = program_.fields[static_cast<size_t>(assignment.field)];
    std::vector<double> values(BLOCK);
    read_assigned(update, assignment, selection, count, values.data());
    for (int j = 0; j < count; ++j) {
        double value = values[static_cast<size_t>(j)];
        bool inside = value >= static_cast<double>(field.low) && value <= static_cast<double>(field.high);
        if (!inside && probability_at(static_cast<size_t>(update), j) != 0)
            fail(Fault::OutOfRange, command, update, assignment.number, -1, value, selection[j]);
    }
}

// Synchronised modules multiply their branches, and 40 of them with two each are more than there are numbers for.
void Expander::count_successors(double branches, int count) {
    if (made_ - branches <= MANY_SUCCESSORS) made_by_.assign(BLOCK, 0.0);
    for (int j = 0; j < count; ++j) {
        double& made = made_by_[leaf_[j]];
        made += branches;
        if (made > INT32_MAX) fail(Fault::TooManySuccessors, -1, -1, -1, -1, made, leaf_[j]);
    }
}

void Expander::blame_product(double value, int j) { fail(Fault::BadProduct, command_, -1, -1, -1, value, leaf_[j]); }

// Products of positive numbers that vanish or have no bound are an error; others are 0 because one of their factors is.
void Expander::check_products(int count) {
    for (int j = 0; j < count; ++j) {
        double& product = number_[static_cast<size_t>(j)];
        if (product > 0 && product < INFINITY) continue;
        auto is_zero = [&](const Part& part) {
            return !part.constant && dense_probabilities_[static_cast<size_t>(part.column)][leaf_[j]] == 0;
        };
        bool impossible = false;
        for (const Alternative* alternative : chosen_)
            if (alternative->parts.size() == 1) impossible |= is_zero(alternative->parts[0]);
        for (const Part* part : path_) impossible |= is_zero(*part);
        if (!impossible) blame_product(product, j);
        product = 0;
    }
}

// A command of a product: the difference that each of its updates makes, placed by the state's position in the block.
void Expander::prepare(int command, const Mask& mask, Alternative& alternative) {
    int count = select(mask, selection_);
    evaluate(command, selection_, count);
    const CommandPlan& plan = plan_.commands[static_cast<size_t>(command)];
    for (size_t u = 0; u < plan.updates.size(); ++u) {
        if (probability_constant_[u] && probability_value_[u] == 0) continue;
        new_bits(command, static_cast<int>(u), selection_, count);
        Part part{used_groups_++, &plan.updates[u], static_cast<bool>(probability_constant_[u]), probability_value_[u], -1};
        deltas_.grow(used_groups_);
        for (int w = 0; w < words_; ++w) {
            const uint64_t written = part.plan->mask[static_cast<size_t>(w)];
            if (!written) continue;
            const uint64_t *state = states_(0, w), *bits = bits_(0, w);
            uint64_t* out = deltas_(part.group, w);
            for (int j = 0; j < count; ++j) out[selection_[j]] = (state[selection_[j]] ^ bits[j]) & written;
        }
        if (!part.constant) {
            part.column = used_columns_++;
            if (dense_probabilities_.size() < static_cast<size_t>(used_columns_)) dense_probabilities_.emplace_back(BLOCK);
            double* out = dense_probabilities_[static_cast<size_t>(part.column)].data();
            for (int j = 0; j < count; ++j) out[selection_[j]] = probabilities_[u][static_cast<size_t>(j)];
        }
        alternative.parts.push_back(part);
    }
}

}  // namespace galton
