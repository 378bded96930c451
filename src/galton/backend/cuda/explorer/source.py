"""The lowered program as CUDA C++: what the hand-written kernels in ``cuda/`` call.

The source is constants and tables, then one function for each question about a state: which commands are enabled, what
each of their updates leads to, which labels hold, what is earned. Commands are renumbered so that those of a factor
stand together; an *item* is something that may happen, a single command or a product of several. Only items have an
order, that of the CPU explorer. Products appear as ranges of commands in tables and are multiplied out by a loop
(``expand.cuh``), so the text is as long as the program.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from ....lang.operations import BY_OP
from ....lower.expression_graph import Graph, Kind, Op
from ....lower.lowering import Lowered, LoweredCommand, LoweredReward, LoweredUpdate, constant_sum
from ....model.validation import SUM_TOLERANCE
from .expressions import Body, real
from .orbits import represent
from .tables import NotPrintable

BEFORE = ("device.cuh", "arithmetic.cuh", "state.cuh", "orbits.cuh", "control.cuh")
AFTER = ("expand.cuh", "table.cuh", "discover.cuh", "states.cuh", "values.cuh", "finish.cuh", "rows.cuh")
LONG = "long_rows.cuh"  # only where a row may be long
# Compiled apart, at the same time: states are discovered while the kernels for rows are still being compiled.
PARTS = (
    ("expand.cuh", "table.cuh", "discover.cuh", "states.cuh"),
    ("expand.cuh", "table.cuh", "states.cuh", "values.cuh", "finish.cuh", "rows.cuh"),
)
LONGEST_ROW = 32  # entries that a thread keeps to itself
FRESH_BYTES = 8192  # of shared memory for new states
JOINT_ITEM = 0xFFFF  # instead of a number of updates
STAGE_ENTRIES = 4096  # of the rows of a block, in shared memory
LARGEST_AUTOMATON = 1 << 16  # entries of its table, which is part of the text
MOST_INLINE = 24  # cases; functions with more are compiled once and called, not put into each kernel
WORD = 64


@dataclass(frozen=True)
class Shape:
    """What the host must know about the generated source."""

    words: int
    labels: int
    state_structures: tuple[int, ...]  # reward structures with rewards of states, in order
    choice_structures: tuple[int, ...]
    longest_row: int
    initial_valuations: int  # to try; 0 without init … endinit

    @property
    def long_possible(self) -> bool:
        """Whether a row may be too long for a thread."""
        return self.longest_row > LONGEST_ROW


@dataclass(frozen=True)
class Source:
    """The whole text, the same in parts that can be compiled apart, and what to know about it.

    ``filled`` are arrays of the text whose 64-bit numbers are given when it is loaded: what commands do, and doubles.
    Other values of a model's constants often leave the same text.
    """

    text: str
    parts: tuple[str, ...]
    shape: Shape
    filled: Mapping[str, Sequence[int]]

    def part_with(self, kernel: str) -> int:
        """The number of the first part that has a kernel."""
        return next(number for number, part in enumerate(self.parts) if f"KERNEL {kernel}(" in part)


def source(lowered: Lowered, *, device: str | None = None) -> Source:
    """Print a program; ``device`` replaces ``device.cuh``."""
    printer = _Printer(lowered)
    more = (LONG,) if printer.shape.long_possible else ()
    first, second = PARTS
    whole, *parts = printer.texts([(*AFTER, *more), first, (*second, *more)], device)
    return Source(whole, tuple(parts), printer.shape, printer.filled)


def shape_of(lowered: Lowered) -> Shape:
    """What to know about the text of a program."""
    return _Printer(lowered).shape


def text_with(lowered: Lowered, constants: str, after: str) -> Source:
    """Print a program with kernels that are not an explorer's: further constants, and a text that comes last."""
    printer = _Printer(lowered)
    (text,) = printer.texts([("expand.cuh",)], None)
    whole = "\n".join([constants, text, after.replace("#pragma once\n", "")])
    return Source(whole, (whole,), printer.shape, printer.filled)


class _Printer:
    def __init__(self, lowered: Lowered):
        self.lowered = lowered
        self.graph = lowered.graph
        self.fields = lowered.fields
        self.highs = [v.high if f.bits else f.low for f, v in zip(self.fields, lowered.program.variables, strict=True)]
        self.tables: dict[str, list[float]] = {}
        self.numbers: list[float] = []
        self.filled: dict[str, Sequence[int]] = {}
        self._part_words = 2 * -(-(3 * lowered.words + 1) // 2)  # read by pairs
        self._number_commands()
        kinds: dict[bool, set[int]] = {True: set(), False: set()}
        for reward in lowered.rewards:
            if reward.action < len(lowered.actions):
                kinds[reward.action < 0].add(reward.structure)
        self.shape = Shape(
            words=lowered.words,
            labels=len(lowered.labels),
            state_structures=tuple(sorted(kinds[True])),
            choice_structures=tuple(sorted(kinds[False])),
            longest_row=self._longest_row(),
            initial_valuations=math.prod(high - low + 1 for low, high in lowered.initial_ranges)
            if lowered.initial is not None
            else 0,
        )

    def texts(self, kernels: Sequence[Sequence[str]], device: str | None) -> list[str]:
        """The program, and after it some of the files of kernels; one text for each list of these."""
        directory = files("galton.backend.cuda.explorer")
        constants, functions = self.constants(), self.functions()

        def read(name: str) -> str:
            return device if name == "device.cuh" and device is not None else (directory / name).read_text()

        before = [constants, *map(read, BEFORE), functions]
        return ["\n".join([*before, *map(read, names)]).replace("#pragma once\n", "") for names in kernels]

    # Numbers

    def _number_commands(self) -> None:
        """Commands of a factor one after the other; parts are the updates that a constant does not rule out."""
        begin: dict[tuple[int, ...], int] = {}
        self.commands: list[LoweredCommand] = []
        self.items: list[tuple[int, int]] = []  # command, or the complement of a joint product; action
        self.joints: list[list[tuple[int, int]]] = []  # ranges of commands
        self.parts: list[list[LoweredUpdate]] = []
        for product in self.lowered.products:
            for factor in product.factors:
                if factor not in begin:
                    begin[factor] = len(self.commands)
                    self.commands += [self.lowered.commands[c] for c in factor]
            ranges = [(begin[factor], begin[factor] + len(factor)) for factor in product.factors]
            if len(ranges) == 1:
                self.items += [(command, product.action) for command in range(*ranges[0])]
            else:
                self.items.append((~len(self.joints), product.action))
                self.joints.append(ranges)
        for command in self.commands:
            possible = [u for u in command.updates if self.graph.constant(u.probability) != 0.0]
            self.parts.append(possible or list(command.updates[:1]))  # one that never happens, for a place in tables

    def _longest_row(self) -> int:
        """A bound on the entries of a row, before equal targets are merged."""
        chain = not self.lowered.program.nature.has_choices
        total = longest = 1
        sizes = [len(parts) for parts in self.parts]
        for command, _ in self.items:
            ranges = [(command, command + 1)] if command >= 0 else self.joints[~command]
            of_factors = [sizes[first:end] for first, end in ranges]
            total += math.prod(map(sum, of_factors))
            longest = max(longest, math.prod(map(max, of_factors)))
        return total if chain else longest

    # Text

    def constants(self) -> str:
        shape, nature = self.shape, self.lowered.program.nature
        joint = max((len(ranges) for ranges in self.joints), default=1)
        values = {
            "WORDS": shape.words,
            "GUARD_WORDS": max(1, -(-len(self.commands) // WORD)),
            "ITEM_WORDS": max(1, -(-len(self.items) // WORD)),
            "MOST_FACTORS": joint,
            "LONGEST_ROW": min(LONGEST_ROW, shape.longest_row),
            "CHOICE_STRUCTURES": len(shape.choice_structures),
            "FRESH_STATES": max(32, FRESH_BYTES // (8 * shape.words)),
            "JOINT_ITEM": JOINT_ITEM,
            "PART_WORDS": self._part_words,
            "STAGE_ENTRIES": STAGE_ENTRIES,
            "STAGE_CHOICES": STAGE_ENTRIES // 2 if nature.has_choices else 1,
        }
        flags = {
            "READING": self.lowered.reader is not None,
            "JOINTS": bool(self.joints),
            "LONG_POSSIBLE": shape.long_possible,
            "CHAIN": not nature.has_choices,
            "DTMC": not nature.has_choices and not nature.has_rates,
            "CTMC": nature.has_rates,
        }
        lines = [f"constexpr int {name} = {value};" for name, value in values.items()]
        lines += [f"constexpr bool {name} = {str(value).lower()};" for name, value in flags.items()]
        reader = self.lowered.reader
        field = self.fields[0 if reader is None else reader.variable] if self.fields else None
        word, shift, mask = (field.word, field.shift, field.mask) if field is not None else (0, 0, 0)
        lines += [f"constexpr int READER_WORD = {word}, READER_SHIFT = {shift};"]
        lines += [f"constexpr unsigned long long READER_MASK = 0x{mask:X}ull;"]
        return "\n".join(lines)

    def functions(self) -> str:
        part_starts = [0]
        for parts in self.parts:
            part_starts.append(part_starts[-1] + len(parts))
        joint_starts = [0]
        for ranges in self.joints:
            joint_starts.append(joint_starts[-1] + len(ranges))
        factors = [ends for ranges in self.joints for ends in ranges]
        pieces = [
            _wide_table("ITEMS", [self._item(command, action, part_starts) for command, action in self.items]),
            _table("PART_STARTS", part_starts),
            _table("JOINT_STARTS", joint_starts),
            _table("FACTOR_BEGIN", [begin for begin, _ in factors]),
            _table("FACTOR_END", [end for _, end in factors]),
            self._terminal(),
            self._reader(),
            self._guards(),
            self._items(),
            self._checks(),
            self._parts(),
            self._labels(),
            self._state_rewards(),
            self._choice_rewards(),
            self._initial(),
            _function("void represent(State& state)", represent(self.lowered.orbits, self.fields)),
        ]
        doubles = {**self.tables, "NUMBERS": self.numbers or [0.0]}
        self.filled |= {name: [_pattern(value) for value in values] for name, values in doubles.items()}
        filled = [f"FILLED({name}, {len(values)})" for name, values in self.filled.items()]
        number = _function("double given_number(int place)", ["return double_of(load_constant(NUMBERS + place));"])
        return "\n\n".join([*filled, number, *pieces])

    def _item(self, command: int, action: int, part_starts: Sequence[int]) -> int:
        """The first update and how many there are, or a product's number; and the action."""
        if command < 0:
            return action << 48 | JOINT_ITEM << 32 | ~command
        count = len(self.parts[command])
        if count >= JOINT_ITEM:
            raise NotPrintable(f"a command with {count:,} updates, more than a device explorer can number")
        return action << 48 | count << 32 | part_starts[command]

    def _body(self, roots: Iterable[int]) -> Body:
        return Body(self.graph, self.fields, self.tables, self.numbers, roots)

    def _terminal(self) -> str:
        node = self.lowered.terminal
        if node is None:
            return _function("bool is_terminal(const State&)", ["return false;"])
        body = self._body([node])
        return _function("bool is_terminal(const State& state)", [*body.lines, f"return {body[node]};"])

    def _reader(self) -> str:
        """The automaton's state after it has read a state, and whether it is then final."""
        after, final = "u64 reader_after(const State& state)", "bool is_final(const State& base)"
        reader = self.lowered.reader
        if reader is None:
            return "\n\n".join([_function(after, ["return 0;"]), _function(final, ["return false;"])])
        successor = reader.automaton.successor
        if successor.size > LARGEST_AUTOMATON:
            size = f"{successor.shape[0]:,} states over {len(reader.propositions)} propositions"
            raise NotPrintable(f"an automaton beside it of {size}, too large to be printed")
        body = self._body(reader.propositions)
        own = "(state.word[READER_WORD] & READER_MASK) >> READER_SHIFT"
        lines = [*body.lines, f"u64 place = ({own}) << {len(reader.propositions)};"]
        lines += [f"place |= (u64){body.truth(node)} << {bit};" for bit, node in enumerate(reader.propositions)]
        lines.append("return (u64)load_constant(READER_SUCCESSOR + place);")
        test = "return load_constant(READER_FINAL + ((base.word[READER_WORD] & READER_MASK) >> READER_SHIFT)) != 0;"
        return "\n\n".join(
            [
                _table("READER_SUCCESSOR", successor.ravel().tolist()),
                _table("READER_FINAL", reader.automaton.final.astype(int).tolist()),
                _function(after, lines),
                _function(final, [test]),
            ]
        )

    def _guards(self) -> str:
        body = self._body([command.guard for command in self.commands])
        lines = list(body.lines)
        for word in range(max(1, -(-len(self.commands) // WORD))):
            lines.append(f"u64 word{word} = 0;")
            for bit, command in enumerate(self.commands[word * WORD : (word + 1) * WORD]):
                lines.append(f"word{word} |= (u64){body.truth(command.guard)} << {bit};")
            lines.append(f"guards[{word}] = word{word};")
        head = "void find_guards(const State& state, u64* guards, bool& fault)"
        return _function(head, lines, outline=len(self.commands) > 4 * MOST_INLINE)

    def _items(self) -> str:
        """Runs of single commands keep their bits and only move them; a product needs some command of each factor."""
        lines = []
        for word in range(max(1, -(-len(self.items) // WORD))):
            lines.append(f"u64 word{word} = 0;")
            mine = self.items[word * WORD : (word + 1) * WORD]
            moves: dict[tuple[int, int], int] = {}  # from which word, by how much, the bits there
            for bit, (command, _) in enumerate(mine):
                if command >= 0:
                    place = (command // WORD, bit - command % WORD)
                    moves[place] = moves.get(place, 0) | 1 << command % WORD
                else:
                    some = " && ".join(f"({_any_of(begin, end)})" for begin, end in self.joints[~command])
                    lines.append(f"word{word} |= (u64)({some}) << {bit};")
            for (source_word, by), bits in moves.items():
                shift = f"<< {by}" if by >= 0 else f">> {-by}"
                lines.append(f"word{word} |= (guards[{source_word}] & 0x{bits:X}ull) {shift};")
            lines.append(f"items[{word}] = word{word};")
        return _function("void find_items(const u64* guards, u64* items)", lines)

    def _checks(self) -> str:
        """Probabilities that depend on the state must be numbers, not negative, and sum to 1 unless they are rates."""
        cases: dict[int, list[str]] = {}
        stochastic = not self.lowered.program.nature.has_rates
        first = 0
        for command, parts in zip(self.commands, self.parts, strict=True):
            number, first = first, first + len(parts)
            chances = [update.probability for update in command.updates]
            known = [self.graph.constant(chance) for chance in chances]
            total = constant_sum(command, self.graph)
            wrong = stochastic and total is not None and not abs(total - 1) <= SUM_TOLERANCE
            if wrong or any(value is not None and not 0 <= value < math.inf for value in known):
                cases[number] = ["fault = true;"]
            elif None in known:
                body = self._body(chances)
                lines = [*body.lines, "double sum = 0;"]
                for position, chance in enumerate(chances):
                    lines.append(f"const double p{position} = {body[chance]};")
                    lines.append(f"if (!(p{position} >= 0 && p{position} < infinity())) fault = true;")
                    lines.append(f"sum += p{position};")
                if stochastic:
                    lines.append(f"if (!(fabs(sum - 1) <= {real(SUM_TOLERANCE)})) fault = true;")
                cases[number] = lines
        head = "void check_parts(int first, const State& state, bool& fault)"
        return _function(head, _switch("first", cases), outline=len(cases) > MOST_INLINE)

    def _parts(self) -> str:
        """A table of what updates do alike to all states, and code for the rest.

        One function for commands on their own, one for those in products: each is called from one place.
        """
        joint = {command for ranges in self.joints for begin, end in ranges for command in range(begin, end)}
        alone = {command for command, _ in self.items if command >= 0}
        table: list[int] = []
        code: list[tuple[int, list[str]]] = []
        for command, parts in enumerate(self.parts):
            ranges = _implied(self.graph, self.commands[command].guard)
            for update in parts:
                row, lines = self._part(update, ranges)
                table += row
                code.append((command, lines))
        self.filled["PARTS"] = table or [0]
        functions = ["DEVICE Part start_part(int number, const State& state);"]
        for name, members in (("evaluate_part", alone), ("evaluate_joint_part", joint)):
            cases = {number: lines for number, (command, lines) in enumerate(code) if command in members and lines}
            body = ["Part part = start_part(number, state);", *_switch("number", cases), "return part;"]
            head = f"Part {name}(int number, const State& state, bool checked, bool& fault)"
            functions.append(_function(head, body, outline=len(cases) > MOST_INLINE))
        return "\n\n".join(functions)

    def _part(self, update: LoweredUpdate, ranges: Mapping[int, tuple[float, float]]) -> tuple[list[int], list[str]]:
        """For each word the bits to keep, to set and to add, then the probability; and code for what that leaves out.

        Adding serves ``x' = x + c``: the sum stays inside the field, or the program is at fault. That it stays inside
        need not be checked where the guard says so: ``ranges`` is what it leaves of variables.
        """
        graph, words = self.graph, range(self.lowered.words)
        everything = (1 << WORD) - 1
        keep, put, add = [everything for _ in words], [0 for _ in words], [0 for _ in words]
        chance = graph.constant(update.probability)
        possible = "(part.varying != 0)" if chance is None else "true" if chance else "false"
        lines: list[str] = []
        body = self._body([update.probability, *(node for _, node in update.assignments)])
        for position, (variable, node) in enumerate(update.assignments):
            field, high = self.fields[variable], self.highs[variable]
            found = graph[node]
            offset = f"offset{position}"
            by = _shift(graph, variable, node)
            inside = found.kind is not Kind.REAL and not found.partial and field.low <= found.low and found.high <= high
            if found.kind is Kind.BOOL and not found.partial:
                inside = field.low <= 0 and high >= 1
            if by is not None:
                add[field.word] += by << field.shift
                least, greatest = ranges.get(variable, (-math.inf, math.inf))
                if not inside and not (field.low <= least + by and greatest + by <= high):
                    lines.append(f"if (checked && (u64)((i64)({body[node]}) - ({field.low}ll)) > {high - field.low}ull")
                    lines[-1] += f" && {possible}) fault = true;"
                continue
            keep[field.word] &= everything & ~field.mask
            if found.op is Op.CONST and field.low <= found.value <= high:
                put[field.word] |= (int(found.value) - field.low) << field.shift
                continue
            if found.partial or found.kind is Kind.REAL:
                low = real(float(field.low))
                lines.append(f"const double value{position} = {possible} ? {body.number_of(node)} : {low};")
                within = f"value{position} >= {low} && value{position} <= {real(float(high))}"
                lines.append(f"const i64 {offset} = {within} ? (i64)value{position} - ({field.low}ll) : -1;")
            else:
                lines.append(f"const i64 {offset} = (i64)({body[node]}) - ({field.low}ll);")
            if not inside:
                lines.append(f"if (checked && (u64){offset} > {high - field.low}ull && {possible}) fault = true;")
            ones = (1 << field.bits) - 1
            lines.append(f"part.next.word[{field.word}] |= ((u64){offset} & 0x{ones:X}ull) << {field.shift};")
        if chance is None:
            lines.insert(0, f"part.varying = {body[update.probability]};")
        row = [value & everything for w in words for value in (keep[w], put[w], add[w])]
        row.append(_pattern(1.0 if chance is None else chance))
        row += [0] * (self._part_words - len(row))
        return row, [*body.lines, *lines] if lines else []

    def _labels(self) -> str:
        nodes = list(self.lowered.labels.values())
        body = self._body(nodes)
        lines = [*body.lines, *(f"out[{k} * n] = {body.truth(node)};" for k, node in enumerate(nodes))]
        return _function("void find_labels(const State& state, u8* out, u64 n, bool& fault)", lines)

    def _state_rewards(self) -> str:
        lines = []
        for place, structure in enumerate(self.shape.state_structures):
            items = [r for r in self.lowered.rewards if r.action < 0 and r.structure == structure]
            check = "if (!is_finite(sum)) fault = true;"
            lines += ["{", "double sum = 0;", *self._earned(items), check, f"out[{place} * n] = sum;", "}"]
        return _function("void find_state_rewards(const State& state, double* out, u64 n, bool& fault)", lines)

    def _choice_rewards(self) -> str:
        """The function that adds up the rewards of a choice.

        Rewards that always have a value come first. Those that may have none are evaluated only if the choice is taken.
        """
        cases: dict[int, list[str]] = {}
        structures = self.shape.choice_structures
        for action in range(len(self.lowered.actions)):
            for place, structure in enumerate(structures):
                mine = [r for r in self.lowered.rewards if (r.action, r.structure) == (action, structure)]
                sure = [r for r in mine if not self._risky(r)]
                risky = [r for r in mine if self._risky(r)]
                if mine:
                    lines = self._earned(sure)
                    if risky:
                        lines += ["if (taken) {", *self._earned(risky), "}"]
                    cases[action * len(structures) + place] = lines
        head = "double choice_reward(int action, int structure, const State& state, bool taken, bool& fault)"
        key = f"action * {len(structures)} + structure"
        return _function(head, ["double sum = 0;", *_switch(key, cases), "return sum;"])

    def _earned(self, items: Sequence[LoweredReward]) -> list[str]:
        lines = []
        for item in items:
            body = self._body([item.guard, item.value])
            number = body.number_of(item.value)
            add = ["{", f"const double value = {number};", "if (!is_finite(value)) fault = true;", "sum += value;", "}"]
            lines += ["{", *body.lines, f"if {body.truth(item.guard)}", *add, "}"]
        return lines

    def _risky(self, item: LoweredReward) -> bool:
        return self.graph[item.guard].partial or _may_be_infinite(self.graph, item.value)

    def _initial(self) -> str:
        """Valuation number ``index`` of those to try, the last variable fastest."""
        node = self.lowered.initial
        head = "bool initial_state(u64 index, State& state, bool& fault)"
        if node is None:
            return _function(head, ["return false;"])
        lines = [f"for (int w = 0; w < {self.lowered.words}; ++w) state.word[w] = 0;"]
        ranges = list(zip(self.fields, self.lowered.initial_ranges, strict=True))
        for field, (low, high) in reversed(ranges):
            count = high - low + 1
            offset = f"(u64)({low - field.low}ll)"
            if count > 1:
                offset = f"(index % {count}ull + {offset})"
            lines.append(f"state.word[{field.word}] |= {offset} << {field.shift};")
            if count > 1:
                lines.append(f"index /= {count}ull;")
        body = self._body([node])
        return _function(head, [*lines, *body.lines, f"return {body.truth(node)};"])


def _any_of(begin: int, end: int) -> str:
    """Whether some guard of a range holds."""
    tests = []
    for word in range(begin // WORD, (end - 1) // WORD + 1):
        first, last = max(begin - word * WORD, 0), min(end - word * WORD, WORD)
        tests.append(f"guards[{word}] & 0x{(1 << last) - (1 << first):X}ull")
    return " || ".join(f"({test}) != 0" for test in tests) or "false"


def _may_be_infinite(graph: Graph, index: int) -> bool:
    """The core's rule (``explore/plan.cpp``): such rewards are only evaluated where they are earned."""
    pending, visited = [index], set()
    while pending:
        number = pending.pop()
        node = graph[number]
        infinite = node.op is Op.CONST and not math.isfinite(node.value)
        if node.partial or infinite or (node.op in BY_OP and BY_OP[node.op].has_poles):
            return True
        visited.add(number)
        pending += [a for a in node.args if graph[a].kind is not Kind.BOOL and a not in visited]
    return False


def _shift(graph: Graph, variable: int, index: int) -> int | None:
    """The constant c of ``x' = x + c``; None if an assignment to the variable is anything else."""

    def itself(node: int) -> bool:
        return graph[node].op is Op.VAR and graph[node].value == variable

    node = graph[index]
    if itself(index):
        return 0
    if node.kind is not Kind.INT or node.partial or node.op not in (Op.ADD, Op.SUB):
        return None
    a, b = node.args
    if itself(a) and (by := graph.constant(b)) is not None:
        return int(by) if node.op is Op.ADD else -int(by)
    if itself(b) and node.op is Op.ADD and (by := graph.constant(a)) is not None:
        return int(by)
    return None


def _implied(graph: Graph, guard: int) -> dict[int, tuple[float, float]]:
    """The ranges that comparisons with constants leave to variables where the guard holds."""
    ranges: dict[int, tuple[float, float]] = {}
    pending = [guard]
    while pending:
        node = graph[pending.pop()]
        if node.op is Op.AND:
            pending += node.args
            continue
        if node.op not in (Op.EQ, Op.LT, Op.LE):
            continue
        a, b = (graph[argument] for argument in node.args)
        strict = 1 if node.op is Op.LT else 0
        for variable, low, high in (
            (a, b.value if node.op is Op.EQ else -math.inf, b.value - strict),
            (b, a.value + strict, a.value if node.op is Op.EQ else math.inf),
        ):
            other = b if variable is a else a
            if variable.op is Op.VAR and other.op is Op.CONST:
                least, greatest = ranges.get(int(variable.value), (variable.low, variable.high))
                ranges[int(variable.value)] = (max(least, low), min(greatest, high))
    return ranges


def _pattern(value: float) -> int:
    """The bits of a double."""
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


def _table(name: str, values: Sequence[int]) -> str:
    return f"TABLE int {name}[] = {{{', '.join(map(str, values)) or '0'}}};"


def _wide_table(name: str, values: Sequence[int]) -> str:
    return f"TABLE u64 {name}[] = {{{', '.join(f'0x{value:X}ull' for value in values) or '0'}}};"


def _function(head: str, lines: Iterable[str], *, outline: bool = False) -> str:
    inside = "\n".join(f"    {line}" for line in lines)
    return f"{'OUTLINE' if outline else 'DEVICE'} {head} {{\n{inside}\n}}"


def _switch(key: str, cases: dict[int, list[str]]) -> list[str]:
    if not cases:
        return []
    lines = [f"switch ({key}) {{"]
    for number, body in cases.items():
        lines += [f"case {number}: {{", *(f"    {line}" for line in body), "    break;", "}"]
    return [*lines, "}"]
