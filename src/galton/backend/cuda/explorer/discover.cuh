// All reachable states, breadth first.
//
// Execution plan: `discover` runs level after level in one launch. Blocks take the states of the frontier a batch at a
// time, a thread each, or several threads where the frontier is narrow, so that a level takes as long as few look-ups
// one after the other; what is new goes to shared memory first, so that the other frontier is written in whole lines and
// its counter is asked once a batch. A barrier of all blocks ends the level; the last to arrive settles what comes next.
// All blocks must be on the device together, which the launch guarantees. A narrow model is explored by few blocks, down
// to one, whose barrier costs next to nothing; when the frontier leaves what they are good for, the kernel returns and
// the host launches more or fewer.
//
// When the table or the frontier is full, a flag says so and the level is repeated after the host has made room: to add
// a state twice does no harm, and one that found no place in the frontier is taken out of the table again.
#pragma once

constexpr int MOST_DOUBLINGS = LONG_POSSIBLE ? 20 : 4;  // of the threads of a state

struct Fresh {
    u32 count, groups;
    u64 start, news;
    bool hopeless;
    u64 states[FRESH_STATES * WORDS];
};

struct Finder {
    Table table;
    u64* next;
    u64 capacity;
    u64* control;
    Fresh& fresh;
    u64 flags;
    u32 groups;
    bool moved;  // the state at hand has a successor; asked only where an automaton reads it

    DEVICE_MEMBER void begin() {
        if (READING && !CTMC) moved = true;  // probabilities sum to 1: something happens
    }
    DEVICE_MEMBER void end(int) {}
    DEVICE_MEMBER bool enters(u64) { return true; }
    DEVICE_MEMBER void skip(u64) {}
    DEVICE_MEMBER void emit(const State& state, double probability) {
        if (probability == 0) return;
        if (READING) moved = true;
        const Outcome outcome = insert(table, state, groups);
        if (outcome == KNOWN) return;
        if (outcome == FULL) {
            flags |= TABLE_FULL;
            return;
        }
        const u32 at = fetch_add(&fresh.count, 1u);
        if (at < FRESH_STATES) store_state(fresh.states + at * WORDS, state);
        else append(fetch_add(control + NEXT, 1), state);
    }
    DEVICE_MEMBER void append(u64 at, const State& state) {
        if (at < capacity) {
            store_state(next + at * WORDS, state);
        } else {
            forget(table, state);
            flags |= FRONTIER_FULL;
        }
    }
    // The whole block: move the new states out of shared memory.
    DEVICE_MEMBER void flush() {
        if (groups) fetch_add(&fresh.groups, groups);
        groups = 0;
        meet_block();
        const u32 count = fresh.count < FRESH_STATES ? fresh.count : FRESH_STATES;
        if (block_thread() == 0) {
            fresh.start = count ? fetch_add(control + NEXT, count) : 0;
            if (fresh.groups) fetch_add(control + GROUPS, fresh.groups);
            fresh.hopeless = load_volatile(control + FLAGS) != 0;
        }
        meet_block();
        for (u32 k = block_thread(); k < count; k += block_threads())
            append(fresh.start + k, load_state(fresh.states + k * WORDS));
        if (flags) fetch_or(control + FLAGS, flags);
        flags = 0;
        meet_block();
        if (block_thread() == 0) fresh.count = fresh.groups = 0;
        meet_block();
    }
};

DEVICE void start_fresh(Fresh& fresh) {
    if (block_thread() == 0) {
        fresh.count = fresh.groups = 0;
        fresh.hopeless = false;
    }
    meet_block();
}

// What comes after a level, decided by one thread while all others wait: the size of the next frontier, and above it
// whether to stop.
constexpr u64 STOP = 1ull << 47;
constexpr int SEQUENCE = 48;  // above both, the number of the level: news that is old shows

DEVICE u64 settle(u64* control, u64 slots, u64 capacity, u64 low, u64 high, u64 levels, u64 states) {
    u64 size = load_volatile(control + NEXT);
    const u64 flags = load_volatile(control + FLAGS), groups = load_volatile(control + GROUPS);
    const u64 expanded = load_volatile(control + EXPANDED) + load_volatile(control + SIZE);
    const u64 done = load_volatile(control + LEVELS) + 1, turn = load_volatile(control + TURN);
    if (size > capacity) size = capacity;
    if (flags) {
        store_volatile(control + NEXT, size);
        return STOP;
    }
    store_volatile(control + EXPANDED, expanded);
    store_volatile(control + LEVELS, done);
    store_volatile(control + SIZE, size);
    store_volatile(control + NEXT, 0);
    store_volatile(control + TURN, turn ^ 1);
    const bool crowded = 4 * groups > 3 * slots;
    const bool stop = size == 0 || size < low || size > high || crowded || done >= levels || expanded >= states;
    return size | (stop ? STOP : 0);
}

// Explore until the frontier is empty, or smaller than `low` or larger than `high`; until `levels` levels or `states`
// states have been expanded in all; or until something is in the way.
KERNEL discover(u64* slots, u64 mask, u64* frontier0, u64* frontier1, u64 capacity, u64* control, u64 low, u64 high,
                u64 levels, u64 states) {
    SHARED Fresh fresh;
    const bool alone = blocks() == 1;
    u64 size = load_volatile(control + SIZE);
    bool turn = load_volatile(control + TURN) != 0;
    u64 sequence = load_volatile(control + NEWS) >> SEQUENCE;
    start_fresh(fresh);  // after all have read: its end is the first time that a thread can run ahead
    for (;;) {
        const u64* frontier = turn ? frontier1 : frontier0;
        Finder finder{{slots, mask}, turn ? frontier0 : frontier1, capacity, control, fresh, 0, 0, false};
        int doublings = 0;
        // Of rates that may all be 0, a thread that sees only some does not know whether the state can move.
        while (!(READING && CTMC) && doublings < MOST_DOUBLINGS && size << (doublings + 1) <= threads_to_share()) ++doublings;
        const u32 slices = 1u << doublings;
        for (u64 first = u64{block()} * block_threads(); first < size * slices; first += threads()) {
            const u64 i = first + block_thread();
            if (i < size * slices && !fresh.hopeless) {
                bool fault = false;
                const State state = load_fresh_state(frontier + (i >> doublings) * WORDS);
                finder.moved = false;
                const bool active = expand<true>(state, finder, fault, {(u32)i & (slices - 1), slices});
                if (READING && active && !finder.moved) finder.emit(read_state(state), 1);
                if (fault) finder.flags |= FAULT;
            }
            finder.flush();
        }
        if (block_thread() == 0) {
            if (!alone) fence();
            u64 news;
            if (alone || fetch_add(control + ARRIVED, 1) == blocks() - 1) {
                if (!alone) fence();
                store_volatile(control + ARRIVED, 0);
                news = settle(control, mask + 1, capacity, low, high, levels, states);
                news |= (sequence + 1) << SEQUENCE;
                if (!alone) fence();
                store_volatile(control + NEWS, news);
            } else {
                while ((news = load_volatile(control + NEWS)) >> SEQUENCE == sequence) pause();
            }
            if (!alone) fence();
            fresh.news = news;
        }
        meet_block();
        const u64 news = fresh.news;
        meet_block();  // before the first thread hears the next
        if (news & STOP) return;
        size = news & (STOP - 1);
        sequence = news >> SEQUENCE;
        turn = !turn;
    }
}

// The initial states as the first frontier: those of `count` valuations, from number `first` on, that are initial.
KERNEL find_initial(u64* slots, u64 mask, u64* frontier, u64 capacity, u64* control, u64 start, u64 count) {
    SHARED Fresh fresh;
    start_fresh(fresh);
    Finder finder{{slots, mask}, frontier, capacity, control, fresh, 0, 0, false};
    for (u64 first = u64{block()} * block_threads(); first < count; first += threads()) {
        const u64 i = first + block_thread();
        if (i < count && !fresh.hopeless) {
            bool fault = false;
            State state;
            if (initial_state(start + i, state, fault)) {
                represent(state);
                finder.emit(state, 1);
            }
            if (fault) finder.flags |= FAULT;
        }
        finder.flush();
    }
}

// One initial state, given.
KERNEL add_state(u64* slots, u64 mask, const u64* given, u64* frontier, u64* control) {
    if (thread() != 0) return;
    u32 groups = 0;
    insert({slots, mask}, load_state(given), groups);
    store_state(frontier, load_state(given));
    control[GROUPS] = groups;
    control[NEXT] = 1;
}
