// Random paths as Python sees them.
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>

#include "base/arrays.hpp"
#include "bindings.hpp"
#include "explore/describe.hpp"
#include "simulate/model_walker.hpp"
#include "simulate/program_walker.hpp"

namespace galton {

namespace {

using QuestionTuple = std::tuple<int, bool, double, double, uint64_t>;  // kind, timed, low, high, most steps

Question as_question(const QuestionTuple& given) {
    const auto& [kind, timed, low, high, most] = given;
    return {static_cast<Question::Kind>(kind), timed, low, high, most};
}

// Works on other threads; this one tells `watch(paths)` how far it is, ten times a second, and stops the work when Python
// has a signal pending.
template <class Make>
nb::dict run(const Make& make_walker, const Question& question, bool continuous, uint64_t seed, uint64_t first, uint64_t count,
             int threads, bool traced, const nb::object& watch) {
    Supply supply;
    supply.first = first;
    supply.count = count;
    Results results{std::vector<uint8_t>(count), std::vector<double>(count), std::vector<uint64_t>(count)};
    Trace trace;
    std::optional<Failure> failure;
    if (traced) threads = 1;  // rows in one order
    auto work = [&] {
        try {
            run_on_threads(threads, [&](int) {
                try {
                    auto walker = make_walker();
                    follow(*walker, question, continuous, Seed(seed), supply, results, traced ? &trace : nullptr);
                } catch (...) {
                    supply.stop = true;
                    throw;
                }
            });
        } catch (const ExploreFailure& failed) {
            failure = failed.failure;
        }
    };
    auto job = launch(work);
    for (bool done = false; !done;) {
        {
            nb::gil_scoped_release released;
            done = job.wait_for(std::chrono::milliseconds(100)) == std::future_status::ready;
        }
        if (done) break;
        bool interrupted = PyErr_CheckSignals() != 0;
        if (!interrupted && !watch.is_none()) {
            try {
                watch(supply.done.load());
            } catch (nb::python_error& error) {
                error.restore();
                interrupted = true;
            }
        }
        if (interrupted) {
            supply.stop = true;
            {
                nb::gil_scoped_release released;
                job.wait();
            }
            throw nb::python_error();
        }
    }
    job.get();
    nb::dict found;
    if (failure) {
        describe(*failure, found);
        return found;
    }
    found["verdicts"] = as_array(results.verdicts);
    found["values"] = as_array(results.values);
    found["steps"] = as_array(results.steps);
    if (traced) {
        found["path"] = as_array(trace.path);
        found["step"] = as_array(trace.step);
        found["time"] = as_array(trace.time);
        found["states"] = as_array(trace.states);
        found["actions"] = as_array(trace.actions);
        nb::list of_states, of_steps;
        for (auto& rewards : trace.state_rewards) of_states.append(as_array(rewards));
        for (auto& rewards : trace.step_rewards) of_steps.append(as_array(rewards));
        found["state_rewards"] = of_states;
        found["step_rewards"] = of_steps;
    }
    return found;
}

nb::dict simulate_program(const Program& program, const std::vector<uint64_t>& initial, int goal, int through,
                          const std::vector<uint8_t>& verdicts, uint32_t find_loops, const QuestionTuple& question,
                          uint64_t seed, uint64_t first, uint64_t count, int threads, bool traced, const nb::object& watch) {
    const Plan plan(program);
    const ProgramStart start{initial, goal, through, verdicts, find_loops};
    auto walker = [&] { return std::make_unique<ProgramWalker>(plan, start); };
    return run(walker, as_question(question), program.type == ModelType::Ctmc, seed, first, count, threads, traced, watch);
}

// All choices of one state, in order: the action, and probabilities or rates with the words of the successors.
struct Listing {
    int action = 0;
    size_t words;
    std::vector<std::pair<int, std::vector<std::pair<double, std::vector<uint64_t>>>>> choices;

    void begin(int action, const uint16_t*, int) { choices.push_back({action, {}}); }
    void end(int, const uint16_t*, int) {}
    void emit(const uint16_t*, int, uint64_t* const* successors, double p, const double* probabilities) {
        const double weight = probabilities ? probabilities[0] : p;
        if (weight == 0) return;
        std::vector<uint64_t> state(words);
        for (size_t w = 0; w < words; ++w) state[w] = successors[w][0];
        choices.back().second.emplace_back(weight, std::move(state));
    }
};

nb::dict list_successors(const Program& program, const std::vector<uint64_t>& state) {
    nb::dict found;
    const Plan plan(program);
    Expander expander(plan);
    Listing listing;
    listing.words = static_cast<size_t>(program.words);
    try {
        expander.load(state.data(), 1);
        expander.expand(listing);
    } catch (const ExploreFailure& failed) {
        describe(failed.failure, found);
        return found;
    }
    found["choices"] = nb::cast(listing.choices);
    return found;
}

template <class T>
std::vector<T> as_vector(In<T> array) {
    return {array.data(), array.data() + array.size()};
}

std::vector<std::vector<double>> as_vectors(const std::vector<In<double>>& arrays) {
    std::vector<std::vector<double>> found;
    found.reserve(arrays.size());
    for (const auto& array : arrays) found.push_back(as_vector(array));
    return found;
}

std::unique_ptr<ModelToWalk> walkable(bool rates, In<int32_t> choice_starts, In<int64_t> row_starts, In<int32_t> columns,
                                      In<double> values, In<int32_t> initial, const std::vector<In<double>>& state_rewards,
                                      const std::vector<In<double>>& choice_rewards) {
    auto model = std::make_unique<ModelToWalk>();
    model->rates = rates;
    model->choice_starts = as_vector(choice_starts);
    model->row_starts = as_vector(row_starts);
    model->columns = as_vector(columns);
    model->states = (choice_starts.size() == 0 ? row_starts.size() : choice_starts.size()) - 1;
    model->initial = as_vector(initial);
    model->state_rewards = as_vectors(state_rewards);
    model->choice_rewards = as_vectors(choice_rewards);
    model->finish(values.data());
    return model;
}

nb::dict simulate_model(ModelToWalk& model, In<uint8_t> goal, In<uint8_t> through, const QuestionTuple& question, uint64_t seed,
                        uint64_t first, uint64_t count, int threads, bool traced, const nb::object& watch) {
    model.goal = as_vector(goal);
    model.through = as_vector(through);
    auto walker = [&] { return std::make_unique<ModelWalker>(model); };
    return run(walker, as_question(question), model.rates, seed, first, count, threads, traced, watch);
}

}  // namespace

void bind_simulate(nb::module_& m) {
    m.def(
        "philox", [](Random4 counter, std::array<uint32_t, 2> key) { return philox(counter, key[0], key[1]); },
        nb::arg("counter"), nb::arg("key"));
    m.def("simulate_program", &simulate_program, nb::arg("program"), nb::kw_only(), nb::arg("initial"), nb::arg("goal"),
          nb::arg("through"), nb::arg("verdicts"), nb::arg("find_loops"), nb::arg("question"), nb::arg("seed"),
          nb::arg("first"), nb::arg("count"), nb::arg("threads"), nb::arg("traced"), nb::arg("watch").none());
    m.def("list_successors", &list_successors, nb::arg("program"), nb::arg("state"));
    nb::class_<ModelToWalk>(m, "ModelToWalk");  // NOLINT(bugprone-unused-raii): it makes the type known
    m.def("walkable", &walkable, nb::kw_only(), nb::arg("rates"), nb::arg("choice_starts"), nb::arg("row_starts"),
          nb::arg("columns"), nb::arg("values"), nb::arg("initial"), nb::arg("state_rewards"), nb::arg("choice_rewards"));
    m.def("simulate_model", &simulate_model, nb::arg("model"), nb::kw_only(), nb::arg("goal"), nb::arg("through"),
          nb::arg("question"), nb::arg("seed"), nb::arg("first"), nb::arg("count"), nb::arg("threads"), nb::arg("traced"),
          nb::arg("watch").none());
}

}  // namespace galton
