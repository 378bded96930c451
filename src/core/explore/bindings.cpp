// Exploration as Python sees it: build a program, explore it, get arrays.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>

#include "base/arrays.hpp"
#include "base/parallel.hpp"
#include "bindings.hpp"
#include "explore/attribute.hpp"
#include "explore/describe.hpp"
#include "explore/search.hpp"

namespace galton {

namespace {

using FieldTuple = std::tuple<int, int, int, int64_t, int64_t>;
using NodeTuple = std::tuple<int, int, bool, bool, std::vector<int>, double>;
using UpdateTuple = std::tuple<int, std::vector<std::pair<int, int>>>;
using CommandTuple = std::tuple<int, bool, std::vector<UpdateTuple>>;
using ProductTuple = std::tuple<int, std::vector<std::vector<int>>>;
using RewardTuple = std::tuple<int, int, int, int>;
using OrbitsTuple = std::tuple<bool, std::vector<std::vector<std::tuple<int, int, int, uint64_t>>>>;
using ReaderTuple = std::tuple<int, std::vector<int>, std::vector<int32_t>, std::vector<uint8_t>>;

std::unique_ptr<Program> make_program(int type, int words, const std::vector<FieldTuple>& fields,
                                      const std::vector<NodeTuple>& nodes, const std::vector<CommandTuple>& commands,
                                      const std::vector<ProductTuple>& products, int actions, int reward_structures,
                                      const std::vector<RewardTuple>& rewards, const std::vector<int>& labels, int initial,
                                      const std::vector<std::pair<int64_t, int64_t>>& initial_ranges,
                                      const std::vector<uint64_t>& first_state, int terminal, const ReaderTuple& reader,
                                      const std::vector<OrbitsTuple>& orbits) {
    auto program = std::make_unique<Program>();
    program->type = static_cast<ModelType>(type);
    program->words = words;
    for (const auto& [word, shift, bits, low, high] : fields) program->fields.push_back({word, shift, bits, low, high});
    for (const auto& [op, kind, integral, partial, args, value] : nodes) {
        Node node{static_cast<Op>(op), static_cast<Kind>(kind), integral, partial, {-1, -1, -1}, value};
        std::copy(args.begin(), args.end(), node.args);
        program->nodes.push_back(node);
    }
    for (const auto& [guard, sum_is_wrong, updates] : commands) {
        Command command{guard, {}, sum_is_wrong};
        for (const auto& [probability, assignments] : updates) {
            Update update{probability, {}};
            for (auto [field, node] : assignments) update.assignments.push_back({field, node});
            command.updates.push_back(std::move(update));
        }
        program->commands.push_back(std::move(command));
    }
    for (const auto& [action, factors] : products) program->products.push_back({action, factors});
    program->actions = actions;
    program->reward_structures = reward_structures;
    for (auto [structure, action, guard, value] : rewards) program->rewards.push_back({structure, action, guard, value});
    program->labels = labels;
    program->initial = initial;
    program->initial_ranges = initial_ranges;
    program->first_state = first_state;
    program->terminal = terminal;
    const auto& [field, propositions, successor, final] = reader;
    program->reader = {field, propositions, successor, final};
    for (const auto& [rotates, blocks] : orbits) {
        Orbits found{rotates, {}};
        for (const auto& block : blocks) {
            auto& pieces = found.blocks.emplace_back();
            for (auto [word, shift, offset, mask] : block) pieces.push_back({word, shift, offset, mask});
        }
        program->orbits.push_back(std::move(found));
    }
    return program;
}

struct Outcome {
    Failure failure;
    Pages<uint64_t> states;
    SparseModel model;
    std::vector<uint64_t> initial;  // the words of initial states, where only states were asked for
    double discover_s = 0, assemble_s = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Outcome work(const Program& program, int threads, const Limits& limits, bool rows, bool transition_rewards,
             Progress& progress) {
    Outcome outcome;
    try {
        auto start = std::chrono::steady_clock::now();
        Plan plan(program);
        Discovery found = discover(plan, threads, limits, progress);
        if (progress.stop) throw ExploreFailure{{Fault::Interrupted, -1, -1, -1, -1, 0, {}}};
        outcome.discover_s = seconds_since(start);
        if (!rows) {
            outcome.initial = std::move(found.initial);
            outcome.states = std::move(found.states);
            return outcome;
        }
        start = std::chrono::steady_clock::now();
        outcome.model = assemble(plan, found.states, found, threads, limits, progress);
        if (transition_rewards && program.type != ModelType::Mdp) {
            for (const auto& rewards : outcome.model.choice_rewards)
                outcome.model.transition_rewards.emplace_back(rewards.size() ? outcome.model.transitions : 0);
            Attribution(plan, found.states, outcome.model).run(progress);
        }
        outcome.assemble_s = seconds_since(start);
        outcome.states = std::move(found.states);
    } catch (const ExploreFailure& failed) {
        outcome.failure = failed.failure;
    } catch (const NoThreads&) {
        throw;
    } catch (const std::bad_alloc&) {
        outcome.failure.fault = Fault::OutOfMemory;
    }
    return outcome;
}

nb::dict as_dict(Outcome& outcome, size_t words) {
    nb::dict result;
    if (outcome.failure.fault != Fault::None) {
        describe(outcome.failure, result);
        return result;
    }
    SparseModel& model = outcome.model;
    result["states"] = as_array(outcome.states, words);
    if (!outcome.initial.empty()) {
        result["initial_words"] = as_array(outcome.initial);
        return result;
    }
    result["row_starts"] = model.row_starts.size() ? as_array(model.row_starts) : as_array(model.wide_row_starts);
    result["columns"] = as_array(model.columns);
    if (model.coding == Coding::Plain) {
        result["values"] = as_array(model.values);
    } else {
        result["dictionary"] = as_array(model.dictionary);
        result["value_index"] = model.coding == Coding::Bytes ? as_array(model.byte_index) : as_array(model.short_index);
    }
    if (model.choice_starts.size()) {
        result["choice_starts"] = as_array(model.choice_starts);
        result["choice_actions"] = as_array(model.choice_actions);
    }
    result["labels"] = as_arrays(model.labels);
    result["state_rewards"] = as_arrays(model.state_rewards);
    result["choice_rewards"] = as_arrays(model.choice_rewards);
    result["transition_rewards"] = as_arrays(model.transition_rewards);
    result["initial"] = as_array(model.initial);
    result["deadlocks"] = as_array(model.deadlocks);
    if (model.off_state != SIZE_MAX) result["off"] = nb::make_tuple(model.off_state, model.off_sum);
    result["seconds"] = nb::make_tuple(outcome.discover_s, outcome.assemble_s);
    return result;
}

// Does a job on other threads; this one tells `watch(states, transitions, rows)` how far it is, ten times a second, and
// stops the work when Python has a signal pending.
template <class Job>
auto watched(Progress& progress, const nb::object& watch, Job&& work) {
    auto job = launch(std::forward<Job>(work));
    for (bool done = false; !done;) {
        {
            nb::gil_scoped_release released;
            done = job.wait_for(std::chrono::milliseconds(100)) == std::future_status::ready;
        }
        if (done) break;
        bool interrupted = PyErr_CheckSignals() != 0;
        if (!interrupted && !watch.is_none()) {
            try {
                watch(progress.states.load(), progress.transitions.load(), progress.rows.load());
            } catch (nb::python_error& error) {
                error.restore();
                interrupted = true;
            }
        }
        if (interrupted) {
            progress.stop = true;
            {
                nb::gil_scoped_release released;
                job.wait();
            }
            throw nb::python_error();
        }
    }
    return job.get();
}

// Without `rows` only states are looked for.
nb::dict explore(const Program& program, int threads, size_t max_states, size_t memory, bool transition_rewards,
                 const nb::object& watch, bool rows) {
    Progress progress;
    Limits limits{max_states, memory};
    Outcome outcome =
        watched(progress, watch, [&] { return work(program, threads, limits, rows, transition_rewards, progress); });
    return as_dict(outcome, static_cast<size_t>(program.words));
}

using Words = nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig>;

// One rank's part of an exploration that several share; galton/backend/petsc/explorer.py brings what ranks find for each
// other. What goes wrong in the program comes back as a dictionary, which is empty otherwise.
class RankExplorer {
  public:
    RankExplorer(const Program& program, int rank, int ranks, int threads, size_t max_states, size_t memory)
        : words_(static_cast<size_t>(program.words)), threads_(threads), limits_{max_states, memory}, plan_(program),
          discovery_(std::make_unique<RankDiscovery>(plan_, Ownership{rank, ranks, words_}, threads, limits_, progress_)) {
        ghosts_.ownership = {rank, ranks, words_};
    }

    nb::dict begin() {
        return guarded([&] { discovery().begin(); });
    }
    nb::dict receive(const Words& states) {
        return guarded([&] { discovery().receive(states.data(), states.shape(0)); });
    }
    nb::dict expand(size_t blocks) {
        return guarded([&] { discovery().expand(blocks); });
    }
    nb::object outbox(int rank) {
        auto words = discovery().take_outbox(rank);
        Pages<uint64_t> pages(words.size());
        std::copy(words.begin(), words.end(), pages.data());
        return as_array(pages, words_);
    }
    nb::object known() {
        if (discovery_) {
            Pages<uint64_t> pages = discovery_->known();
            return as_array(pages, words_);
        }
        Pages<uint64_t> pages(found_.states.size());
        std::copy_n(found_.states.data(), pages.size(), pages.data());
        return as_array(pages, words_);
    }
    size_t states() const { return discovery().states(); }
    size_t waiting() const { return discovery().waiting(); }
    size_t transitions() const { return progress_.transitions; }
    size_t count() const { return found_.count; }  // of states, once all are known

    // The rank of each state, where ranges of values begin with these; by their hashes, if there are none.
    nb::object owners(const Words& states, const Words& firsts) const {
        const Ownership ownership = ranges(firsts);
        std::vector<int32_t> found(states.shape(0));
        for (size_t i = 0; i < found.size(); ++i) found[i] = ownership.of(states.data() + i * words_, 1);
        return as_array(found);
    }

    // No state is to be looked for any more. Returns how many choices and transitions those of this rank have.
    nb::tuple finish() {
        {
            nb::gil_scoped_release released;
            found_ = discovery().finish();
            discovery_.reset();
        }
        return nb::make_tuple(found_.choices, found_.transitions);
    }

    // The states of this rank, in order, and the initial ones among them, which move to the ranks that have their range.
    nb::object take_states() { return as_array(found_.states, words_); }
    nb::object take_initial() {
        Pages<uint64_t> pages(found_.initial.size());
        std::copy(found_.initial.begin(), found_.initial.end(), pages.data());
        return as_array(pages, words_);
    }

    // How many transitions some states have, about.
    nb::object count_transitions(const Words& states) const {
        auto counts = galton::count_transitions(plan_, states.data(), states.shape(0));
        return as_array(counts);
    }

    // What came instead, in any order, and how many states, choices and transitions all ranks have.
    void settle(const Words& states, const Words& initial, const Words& firsts, size_t all_states, size_t all_choices,
                size_t all_transitions) {
        nb::gil_scoped_release released;
        ghosts_.ownership = ranges(firsts);
        found_.count = states.shape(0);
        found_.states = Pages<uint64_t>(states.size());
        std::copy_n(states.data(), states.size(), found_.states.data());
        sort_records(found_.states, Pages<uint64_t>(states.size()), words_, words_, threads_);
        found_.initial.assign(initial.data(), initial.data() + initial.size());
        found_.choices = all_choices;
        found_.transitions = all_transitions;
        found_.share = static_cast<double>(found_.count) / static_cast<double>(std::max<size_t>(all_states, 1));
    }

    nb::dict assemble(const nb::object& watch) {
        Outcome outcome;
        const auto start = std::chrono::steady_clock::now();
        const nb::dict wrong = guarded_by_python([&] {
            outcome.model = watched(progress_, watch, [&] {
                return galton::assemble(plan_, found_.states, found_, threads_, limits_, progress_, &ghosts_);
            });
        });
        if (wrong.size()) return wrong;
        outcome.assemble_s = seconds_since(start);
        outcome.states = std::move(found_.states);
        nb::dict found = as_dict(outcome, words_);
        found["ghosts"] = as_array(ghosts_.states, words_);
        found["ghost_starts"] = ghosts_.starts;
        return found;
    }

  private:
    Ownership ranges(const Words& firsts) const {
        return {ghosts_.ownership.rank, ghosts_.ownership.ranks, words_, {firsts.data(), firsts.data() + firsts.size()}};
    }

    RankDiscovery& discovery() const {
        if (!discovery_) throw std::logic_error("all states are known already");
        return *discovery_;
    }

    template <class Work>
    nb::dict guarded_by_python(Work&& work) {
        nb::dict wrong;
        try {
            work();
        } catch (const ExploreFailure& failed) {
            describe(failed.failure, wrong);
        } catch (const NoThreads&) {
            throw;
        } catch (const std::bad_alloc&) {
            describe({Fault::OutOfMemory, -1, -1, -1, -1, 0, {}}, wrong);
        }
        return wrong;
    }
    template <class Work>
    nb::dict guarded(Work&& work) {
        return guarded_by_python([&] {
            nb::gil_scoped_release released;
            work();
        });
    }

    size_t words_;
    int threads_;
    Limits limits_;
    Plan plan_;
    Progress progress_;
    std::unique_ptr<RankDiscovery> discovery_;
    Discovery found_;
    Ghosts ghosts_;
};

// The numbers of some of a rank's states, all of which are in order; neighbours are found fastest.
nb::object numbers_of(const Words& wanted, const Words& states) {
    const size_t words = states.shape(1), count = states.shape(0);
    const SortedStates sorted(states.data(), count, words);
    std::vector<int32_t> numbers(wanted.shape(0));
    std::vector<uint64_t*> key(words);
    size_t guess = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
        for (size_t w = 0; w < words; ++w) key[w] = const_cast<uint64_t*>(wanted.data()) + i * words + w;
        guess = count == 0 ? 0 : sorted.find(key.data(), 0, std::min(guess, count - 1));
        if (guess == count) throw std::logic_error("a state was asked for that is not this rank's");
        numbers[i] = static_cast<int32_t>(guess);
    }
    return as_array(numbers);
}

// Where each label of the program holds, for states that are already known: one array of truth values per label.
std::vector<Pages<uint8_t>> labels_of(const Program& program, const uint64_t* states, size_t n, int threads) {
    const auto words = static_cast<size_t>(program.words);
    std::vector<Pages<uint8_t>> masks;
    masks.reserve(program.labels.size());
    for (size_t k = 0; k < program.labels.size(); ++k) masks.emplace_back(n);
    const Plan plan(program);
    run_on_threads(threads, [&](int t) {
        Expander expander(plan);
        Registers registers = plan.finish.count.allocate();
        auto [begin, end] = share(n, t, threads);
        for (size_t first = begin; first < end; first += BLOCK) {
            const size_t count = std::min<size_t>(BLOCK, end - first);
            expander.load(states + first * words, static_cast<int>(count));
            expander.run(plan.finish, registers);
            for (size_t k = 0; k < masks.size(); ++k) {
                Mask mask = expander.mask_of(plan.labels[k], registers);
                for (size_t i = 0; i < count; ++i) masks[k][first + i] = test(mask, static_cast<int>(i));
            }
        }
    });
    return masks;
}

// A failure is told for the first state that has one, which one thread alone is sure to find first.
nb::dict evaluate_labels(const Program& program, nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig> states, int threads) {
    nb::dict result;
    const size_t n = states.shape(0);
    if (n < 64 * BLOCK) threads = 1;
    try {
        std::vector<Pages<uint8_t>> masks;
        masks.reserve(program.labels.size());
        {
            nb::gil_scoped_release released;
            try {
                masks = labels_of(program, states.data(), n, threads);
            } catch (const ExploreFailure&) {
                masks = labels_of(program, states.data(), n, 1);
            }
        }
        result["labels"] = as_arrays(masks);
    } catch (const ExploreFailure& failed) {
        describe(failed.failure, result);
    }
    return result;
}

}  // namespace

void bind_explore(nb::module_& m) {
    nb::class_<Program>(m, "Program");  // NOLINT(bugprone-unused-raii): it makes the type known
    m.def("make_program", &make_program, nb::kw_only(), nb::arg("type"), nb::arg("words"), nb::arg("fields"), nb::arg("nodes"),
          nb::arg("commands"), nb::arg("products"), nb::arg("actions"), nb::arg("reward_structures"), nb::arg("rewards"),
          nb::arg("labels"), nb::arg("initial"), nb::arg("initial_ranges"), nb::arg("first_state"), nb::arg("terminal"),
          nb::arg("reader"), nb::arg("orbits"));
    m.def("operations", [] {
        std::vector<std::tuple<std::string, bool, bool>> rows;
        rows.reserve(std::size(OPERATIONS));
        for (size_t i = 0; i < std::size(OPERATIONS); ++i)
            rows.emplace_back(OPERATIONS[i], lengthens(static_cast<Op>(i)), has_poles(static_cast<Op>(i)));
        return rows;
    });
    m.def("evaluate_labels", &evaluate_labels, nb::arg("program"), nb::arg("states"), nb::arg("threads"));
    m.def("explore", &explore, nb::arg("program"), nb::kw_only(), nb::arg("threads"), nb::arg("max_states"), nb::arg("memory"),
          nb::arg("transition_rewards"), nb::arg("watch").none(), nb::arg("rows"));
    m.def("numbers_of", &numbers_of, nb::arg("wanted"), nb::arg("states"));
    nb::class_<RankExplorer>(m, "RankExplorer")
        .def(nb::init<const Program&, int, int, int, size_t, size_t>(), nb::arg("program"), nb::kw_only(), nb::arg("rank"),
             nb::arg("ranks"), nb::arg("threads"), nb::arg("max_states"), nb::arg("memory"), nb::keep_alive<1, 2>())
        .def("begin", &RankExplorer::begin)
        .def("receive", &RankExplorer::receive, nb::arg("states"))
        .def("expand", &RankExplorer::expand, nb::arg("blocks"))
        .def("outbox", &RankExplorer::outbox, nb::arg("rank"))
        .def("known", &RankExplorer::known)
        .def_prop_ro("states", &RankExplorer::states)
        .def_prop_ro("waiting", &RankExplorer::waiting)
        .def_prop_ro("transitions", &RankExplorer::transitions)
        .def_prop_ro("count", &RankExplorer::count)
        .def("owners", &RankExplorer::owners, nb::arg("states"), nb::arg("firsts"))
        .def("finish", &RankExplorer::finish)
        .def("take_states", &RankExplorer::take_states)
        .def("take_initial", &RankExplorer::take_initial)
        .def("count_transitions", &RankExplorer::count_transitions, nb::arg("states"))
        .def("settle", &RankExplorer::settle, nb::arg("states"), nb::arg("initial"), nb::arg("firsts"), nb::kw_only(),
             nb::arg("all_states"), nb::arg("all_choices"), nb::arg("all_transitions"))
        .def("assemble", &RankExplorer::assemble, nb::arg("watch").none());
}

}  // namespace galton
