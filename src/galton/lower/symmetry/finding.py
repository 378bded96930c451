"""Where to look for symmetries: variables of the same colour, and what must move with them.

An exchange of two variables is completed to one of their modules, variable by variable, or else by colours: the two are
given colours of their own in one order and in the other, and a variable goes where its colour goes. Rings are found in
the same way. Each candidate is proved before it counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...model.orbits import MOST_BITS, MOST_BLOCKS, Blocks
from .colours import Colouring
from .proof import generators, is_symmetry, swapping
from .terms import Terms

__all__ = ["find"]

MOST_SEARCHES = 64  # refinements of colours for the sake of one candidate

_Candidate = dict[int, int]
_Way = Callable[..., _Candidate | None]


def find(terms: Terms, kinds: Sequence[int], besides: Sequence[int] = ()) -> list[Blocks]:
    """Blocks of variables that may move, each proved for the program without its rewards and labels.

    They leave the terms ``besides`` as they are, too.
    """
    return _Search(terms, kinds, terms.choices(), besides).parts()


class _Search:
    def __init__(self, terms: Terms, kinds: Sequence[int], choices: int, besides: Sequence[int]):
        lowering = terms.lowering
        self._terms, self._choices, self._besides = terms, choices, besides
        self._variables = lowering.program.variables
        roots = [choices] if lowering.initial is None else [choices, terms.expression(lowering.initial)]
        self._colouring = Colouring(terms, [*roots, *besides])
        self._colours = self._colouring.refined([hash((kind, "kind")) for kind in kinds])
        self._frozen = {
            number
            for number, variable in enumerate(self._variables)
            if variable.name in lowering.frozen or variable.low == variable.high
        }
        self._modules: dict[str, tuple[int, ...]] = {}
        for number, variable in enumerate(self._variables):
            if variable.module is not None:
                self._modules[variable.module] = (*self._modules.get(variable.module, ()), number)
        self._searches = 0

    def parts(self) -> list[Blocks]:
        """All that was found; no variable is in two of them."""
        classes: dict[int, list[int]] = {}
        for number, colour in enumerate(self._colours):
            if number not in self._frozen:
                classes.setdefault(colour, []).append(number)
        found: list[Blocks] = []
        used: set[int] = set()
        for members in classes.values():
            left = [number for number in members if number not in used]
            for blocks in self._of_class(left) if len(left) > 1 else ():
                moved = {number for block in blocks.members for number in block}
                if not moved & used and self._fits(blocks) and all(map(self._holds, generators(blocks))):
                    used |= moved
                    found.append(blocks)
        return found

    def _fits(self, blocks: Blocks) -> bool:
        width = sum(
            (self._variables[v].high - self._variables[v].low).bit_length()
            for v in blocks.members[0]
            if v not in self._frozen
        )
        return 0 < width <= MOST_BITS and 2 <= len(blocks) <= MOST_BLOCKS

    def _of_class(self, members: Sequence[int]) -> list[Blocks]:
        """Blocks around variables of one colour: those that any two may be exchanged of, or a ring of all.

        An exchange of two that moves others of the same colour mirrors a ring, which is worth less than to turn it.
        """
        mirrors: list[_Candidate] = []
        pools: list[list[tuple[int, ...]]] = []
        for place, variable in enumerate(members):
            if not any(self._joins(pool, variable, members, mirrors) for pool in pools):
                if place == 1 and len(members) > 2 and (ring := self._ring(members)) is not None:
                    return [ring]
                pools.append([(variable,)])
        found = [Blocks(False, tuple(pool)) for pool in pools if len(pool) > 1]
        if found or not mirrors:
            return found
        side = self._side(mirrors[0], min(mirrors[0]))
        return [Blocks(False, (side, tuple(mirrors[0][v] for v in side)))]

    def _joins(
        self, pool: list[tuple[int, ...]], variable: int, members: Sequence[int], mirrors: list[_Candidate]
    ) -> bool:
        """Whether a variable and what goes with it can be exchanged with the first of a pool; then it is added."""
        first = pool[0]
        swap = self._proved([self._swap_of_modules], self._swap_by_colours, first[0], variable)
        if swap is None or any(swap[w] != v for v, w in swap.items()):
            return False
        if sum(v in swap for v in members) > 2:
            mirrors.append(swap)
            return False
        if len(pool) == 1:
            first = self._side(swap, first[0])
            if swap != swapping(first, tuple(swap[v] for v in first)):
                return False
            pool[0] = first
        block = tuple(swap.get(v, v) for v in first)
        if swap != swapping(first, block) or any(set(block) & set(other) for other in pool):
            return False
        pool.append(block)
        return True

    def _side(self, swap: _Candidate, seed: int) -> tuple[int, ...]:
        """Of each pair that a swap exchanges, the one that belongs to the seed's block: its module's, or the first."""
        module = self._variables[seed].module
        other = self._variables[swap[seed]].module
        side = [seed]
        for v, w in swap.items():
            if v == seed or w == seed or v > w:
                continue
            mine, theirs = self._variables[v].module, self._variables[w].module
            by_module = module != other and mine != theirs and theirs == module
            side.append(w if by_module else v)
        return tuple(side)

    def _ring(self, members: Sequence[int]) -> Blocks | None:
        turn = self._proved([self._turn_of_modules, self._turn_in_order], self._turn_by_colours, *members)
        if turn is None or members[0] not in turn:
            return None
        length = len(members)
        seen: set[int] = set()
        block: list[int] = []
        for variable in (members[0], *turn):
            if variable in seen:
                continue
            cycle = [variable]
            while (after := turn[cycle[-1]]) != variable:
                cycle.append(after)
            if len(cycle) != length:
                return None
            seen.update(cycle)
            block.append(variable)
        blocks = [tuple(block)]
        for _ in range(length - 1):
            blocks.append(tuple(turn[v] for v in blocks[-1]))
        return Blocks(True, tuple(blocks))

    def _proved(self, plain: Sequence[_Way], search: _Way, *variables: int) -> _Candidate | None:
        """The first candidate that is a symmetry; what has to be searched for comes last."""
        tried = [way(*variables) for way in plain]
        for candidate in tried:
            if candidate is not None and self._holds(candidate):
                return candidate
        if self._searches >= MOST_SEARCHES:
            return None
        self._searches += 1
        found = search(*variables)
        return None if found is None or found in tried or not self._holds(found) else found

    def _holds(self, candidate: Mapping[int, int]) -> bool:
        return all(self._terms.keeps(term, candidate) for term in self._besides) and is_symmetry(
            self._terms, candidate, self._choices
        )

    # Candidates

    def _module_of(self, variable: int) -> tuple[int, ...] | None:
        module = self._variables[variable].module
        return None if module is None else self._modules[module]

    def _match(self, a: tuple[int, ...] | None, b: tuple[int, ...] | None, v: int, w: int) -> bool:
        """Whether two modules have the same variables one by one, v and w among them."""
        if a is None or b is None or a == b or len(a) != len(b) or a.index(v) != b.index(w):
            return False
        return all(self._colours[x] == self._colours[y] for x, y in zip(a, b, strict=True))

    def _swap_of_modules(self, v: int, w: int) -> _Candidate | None:
        a, b = self._module_of(v), self._module_of(w)
        if not self._match(a, b, v, w) or a is None or b is None:
            return None
        return swapping(a, b)

    def _turn_of_modules(self, *members: int) -> _Candidate | None:
        turn: _Candidate = {}
        for v, w in zip(members, (*members[1:], members[0]), strict=True):
            a, b = self._module_of(v), self._module_of(w)
            if not self._match(a, b, v, w) or a is None or b is None:
                return None
            turn |= dict(zip(a, b, strict=True))
        return turn

    def _turn_in_order(self, *members: int) -> _Candidate | None:
        return dict(zip(members, (*members[1:], members[0]), strict=True))

    def _swap_by_colours(self, v: int, w: int) -> _Candidate | None:
        return self._followed({v: 1, w: 2}, {v: 2, w: 1})

    def _turn_by_colours(self, *members: int) -> _Candidate | None:
        return self._followed({members[0]: 1}, {members[1]: 1})

    def _followed(self, before: dict[int, int], after: dict[int, int]) -> _Candidate | None:
        """Each variable to the one that has its colour afterwards; of several, itself or the one at the same place."""
        colours = []
        for special in (before, after):
            start = [hash((colour, special.get(v, 0))) for v, colour in enumerate(self._colours)]
            colours.append(self._colouring.refined(start))
        places: dict[int, list[int]] = {}
        for v, colour in enumerate(colours[1]):
            places.setdefault(colour, []).append(v)
        found: _Candidate = {}
        taken: dict[int, int] = {}
        for v, colour in enumerate(colours[0]):
            if colours[1][v] == colour:
                continue
            options = [w for w in places.get(colour, ()) if colours[0][w] != colour]
            place = taken.get(colour, 0)
            if place >= len(options):
                return None
            found[v] = options[place]
            taken[colour] = place + 1
        return found or None
