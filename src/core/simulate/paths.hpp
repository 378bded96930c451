// Many random paths at once, whatever they walk on.
//
// Execution plan: each thread keeps a block of paths, one a lane. In each round a walker looks at the states of all
// lanes, the random numbers of all lanes are drawn, the question decides which paths end, and the others move. A path
// that has ended leaves its lane to the next one that nobody has begun; when there are none, the last lane takes its
// place, so that lanes stay dense. What path number i does depends on the seed and on i alone, so its result, kept at
// place i, is the same for any number of threads.
//
// A walker has
//   start(lane, path, seed)             put a new path into a lane
//   copy(from, to)                      move a path to another lane
//   look(n)                             see the first n lanes
//   look_at(lane)                       what the question sees of one
//   exit_rate(lane)                     in continuous time, of its state
//   move(lanes, count, seed, paths, chances)
//                                       a step of each of these lanes; chances[lane] is in [0, 1)
//   earned(lane)                        by that step
//   record(lane, trace), record_step(lane, trace, row)
#pragma once

#include <atomic>
#include <vector>

#include "base/parallel.hpp"
#include "simulate/philox.hpp"
#include "simulate/question.hpp"

namespace galton {

inline constexpr int LANES = 1024;

// A record of everything that paths meet, a row for each state that one enters.
struct Trace {
    std::vector<uint64_t> path, step;
    std::vector<double> time;
    std::vector<uint64_t> states;             // words of states, or their numbers
    std::vector<int32_t> actions;             // that lead on; -1 where the path ends
    std::vector<std::vector<double>> state_rewards, step_rewards;  // per structure
};

struct Results {
    std::vector<uint8_t> verdicts;
    std::vector<double> values;   // rewards
    std::vector<uint64_t> steps;  // that paths have taken
};

// Who takes which path; whether to stop; how many are done.
struct Supply {
    uint64_t first = 0, count = 0;
    std::atomic<uint64_t> next{0}, done{0};
    std::atomic<bool> stop{false};
};

template <class Walker>
void follow(Walker& walker, const Question& question, bool continuous, Seed seed, Supply& supply, Results& results,
            Trace* trace) {
    std::vector<Path> paths(LANES);
    std::vector<uint64_t> numbers(LANES), steps(LANES);
    std::vector<double> chances(LANES), lengths(LANES);
    std::vector<uint16_t> moving(LANES), ended(LANES);
    std::vector<size_t> rows(trace ? LANES : 0);
    int n = 0;
    auto begin = [&](int lane) {
        const uint64_t taken = supply.next.fetch_add(1, std::memory_order_relaxed);
        if (taken >= supply.count) return false;
        paths[static_cast<size_t>(lane)] = {supply.first + taken, 0, 0, 0};
        walker.start(lane, supply.first + taken, seed);
        return true;
    };
    while (n < LANES && begin(n)) ++n;
    while (n > 0 && !supply.stop.load(std::memory_order_relaxed)) {
        walker.look(n);
        for (int i = 0; i < n; ++i) {
            numbers[static_cast<size_t>(i)] = paths[static_cast<size_t>(i)].number;
            steps[static_cast<size_t>(i)] = paths[static_cast<size_t>(i)].step;
        }
        draw_all(seed, numbers.data(), steps.data(), n, chances.data(), lengths.data());
        int go = 0, over = 0;
        for (int i = 0; i < n; ++i) {
            const auto lane = static_cast<size_t>(i);
            Path& path = paths[lane];
            Look look = walker.look_at(i);
            if (continuous && !look.stuck) look.stay = -std::log1p(-lengths[lane]) / walker.exit_rate(i);
            if (trace) {
                rows[lane] = trace->path.size();
                trace->path.push_back(path.number);
                trace->step.push_back(path.step);
                trace->time.push_back(continuous ? path.time : static_cast<double>(path.step));
                walker.record(i, *trace);
            }
            Verdict verdict = walker.settled(i);
            if (verdict == Verdict::Open) verdict = decide(question, path, look);
            if (verdict == Verdict::Open) {
                path.time += look.stay;
                moving[static_cast<size_t>(go++)] = static_cast<uint16_t>(i);
                continue;
            }
            const auto place = static_cast<size_t>(path.number - supply.first);
            results.verdicts[place] = static_cast<uint8_t>(verdict);
            results.values[place] = path.value;
            results.steps[place] = path.step;
            ended[static_cast<size_t>(over++)] = static_cast<uint16_t>(i);
        }
        walker.move(moving.data(), go, seed, numbers.data(), steps.data(), chances.data());
        for (int j = 0; j < go; ++j) {
            const auto lane = static_cast<size_t>(moving[static_cast<size_t>(j)]);
            ++paths[lane].step;
            paths[lane].value += walker.earned(static_cast<int>(lane));
            if (trace) walker.record_step(static_cast<int>(lane), *trace, rows[lane]);
        }
        supply.done.fetch_add(static_cast<uint64_t>(over), std::memory_order_relaxed);
        // From the last to the first, so that a lane that moves to an empty place is one that goes on.
        for (int j = over - 1; j >= 0; --j) {
            const int lane = ended[static_cast<size_t>(j)];
            if (begin(lane)) continue;
            if (lane != --n) {
                paths[static_cast<size_t>(lane)] = paths[static_cast<size_t>(n)];
                walker.copy(n, lane);
            }
        }
    }
}

}  // namespace galton
