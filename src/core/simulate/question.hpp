// What is asked of random paths, and how each is followed until that is known.
//
// A path is in one state after the other. When it enters one, the question looks at the state and at how long the path
// will stay there (a step of a chain in discrete time lasts 1), and either ends the path or lets it move on.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace galton {

struct Question {
    enum Kind : uint8_t {
        Until,       // whether `through U goal` holds within [low, high]
        Reached,     // what is earned until `goal`
        Cumulative,  // what is earned until `high`
        Instant,     // what the state earns at `high`
        Follow,      // nothing: until `high`
    } kind = Until;
    bool timed = false;  // bounds are times, not numbers of steps
    double low = 0, high = std::numeric_limits<double>::infinity();
    uint64_t most_steps = UINT64_MAX;  // after so many a path is cut
};

enum class Verdict : uint8_t { False, True, Cut, Open };

// What a question sees of a path in a state.
struct Look {
    bool goal = false, through = true;
    bool stuck = false;     // it will never leave the state
    double reward = 0;      // of the state, for a unit of time or a step
    double stay = 1;        // how long it stays
};

struct Path {
    uint64_t number = 0, step = 0;
    double time = 0, value = 0;
};

inline Verdict decide_until(const Question& question, const Path& path, const Look& look) {
    const double now = question.timed ? path.time : static_cast<double>(path.step);
    if (look.goal && now >= question.low) return Verdict::True;
    if (!look.through) return Verdict::False;
    // The path waits in a state of the goal until the interval begins, or leaves it before.
    const double leaves = look.stuck ? std::numeric_limits<double>::infinity() : now + look.stay;
    if (question.timed ? leaves > question.low : look.stuck) {
        if (look.goal) return Verdict::True;
    }
    if (look.stuck) return Verdict::False;
    if (question.timed ? leaves > question.high : now >= question.high) return Verdict::False;
    return Verdict::Open;
}

// Adds what the path earns in the state to its value; an open verdict lets it move on.
inline Verdict decide(const Question& question, Path& path, const Look& look) {
    const double now = question.timed ? path.time : static_cast<double>(path.step);
    Verdict verdict = Verdict::Open;
    switch (question.kind) {
        case Question::Until: verdict = decide_until(question, path, look); break;
        case Question::Reached:
            if (look.goal) return Verdict::True;
            if (look.stuck || !look.through) {
                path.value = std::numeric_limits<double>::infinity();
                return Verdict::False;
            }
            path.value += look.reward * look.stay;
            break;
        case Question::Cumulative: {
            const double left = question.high - now;
            if (left <= 0) return Verdict::True;
            if (look.stuck || look.stay > left || (question.timed && look.stay == left)) {
                path.value += look.reward * left;
                return Verdict::True;
            }
            path.value += look.reward * look.stay;
            break;
        }
        case Question::Instant:
            if (look.stuck || (question.timed ? now + look.stay > question.high : now >= question.high)) {
                path.value = look.reward;
                return Verdict::True;
            }
            break;
        case Question::Follow:
            if (now >= question.high || (question.timed && !look.stuck && now + look.stay > question.high))
                return Verdict::True;
            if (look.stuck) return Verdict::True;
            break;
    }
    if (verdict == Verdict::Open && path.step >= question.most_steps) return Verdict::Cut;
    return verdict;
}

}  // namespace galton
