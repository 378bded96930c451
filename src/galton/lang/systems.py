"""The composition of modules: from what ``system … endsystem`` says to the tree the explorers walk.

As in PRISM, every module must take part exactly once, and the actions in hiding, renaming and synchronisation sets
must be actions that some module has or a renaming makes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .program import Hide, Leaf, Parallel, Rename, System, Vector, Vectors
from .source import LanguageError, Source, Span
from .stream import suggestion
from .syntax import (
    Identifier,
    ModelFile,
    SystemDefinition,
    SystemHide,
    SystemName,
    SystemParallel,
    SystemRename,
    SystemSyntax,
    SystemVectors,
)


def compose(file: ModelFile, modules: Sequence[str], actions: Sequence[str]) -> tuple[System, tuple[str, ...]]:
    """The composition of a model's modules, and all actions: the modules' own, then those that renamings make."""
    if not file.systems:
        if len(modules) == 1:
            return Leaf(modules[0]), tuple(actions)
        return Parallel(tuple(map(Leaf, modules)), None), tuple(actions)
    only = file.systems[0].system
    if isinstance(only, SystemVectors):  # their makers know the modules and actions
        return Vectors(only.vectors), tuple(dict.fromkeys(v.action for v in only.vectors if v.action))
    return _Composition(file, modules, actions).compose()


class _Composition:
    def __init__(self, file: ModelFile, modules: Sequence[str], actions: Sequence[str]):
        self._source: Source = file.source
        self._modules = modules
        self._definitions = file.systems
        self._actions = list(actions)
        self._named = {s.name.name: s for s in file.systems if s.name}
        self._used: set[str] = set()
        self._open: list[str] = []

    def compose(self) -> tuple[System, tuple[str, ...]]:
        main = self._main()
        for definition in self._definitions:
            self._collect_renamed(definition.system)
        system = self._convert(main.system)
        if missing := [name for name in self._modules if name not in self._used]:
            names = ", ".join(f"'{name}'" for name in missing)
            raise self._error(f"the system leaves out {names}", main.span, "every module must appear exactly once")
        return system, tuple(self._actions)

    def _main(self) -> SystemDefinition:
        """The definition without a name; the first one, when all have names."""
        unnamed = [definition for definition in self._definitions if definition.name is None]
        if len(unnamed) > 1:
            raise self._error("only one system … endsystem can go without a name", unnamed[1].span)
        names: set[str] = set()
        for definition in self._definitions:
            if definition.name and definition.name.name in names:
                raise self._error(f'there is a system "{definition.name.name}" already', definition.name.span)
            if definition.name:
                names.add(definition.name.name)
        return unnamed[0] if unnamed else self._definitions[0]

    def _collect_renamed(self, system: SystemSyntax) -> None:
        match system:
            case SystemParallel(operands):
                for operand in operands:
                    self._collect_renamed(operand)
            case SystemHide(operand):
                self._collect_renamed(operand)
            case SystemRename(operand, renaming):
                self._collect_renamed(operand)
                self._actions.extend(new.name for _, new in renaming if new.name not in self._actions)

    def _convert(self, system: SystemSyntax) -> System:
        match system:
            case SystemName(name, quoted):
                return self._reference(name) if quoted else self._module(name)
            case SystemParallel(operands, actions):
                shared = None if actions is None else self._action_set(actions)
                return Parallel(tuple(map(self._convert, operands)), shared)
            case SystemHide(operand, actions):
                return Hide(self._convert(operand), self._action_set(actions))
            case SystemRename(operand, renaming):
                self._action_set(tuple(old for old, _ in renaming))
                return Rename(self._convert(operand), {old.name: new.name for old, new in renaming})
            case SystemVectors(vectors):
                return Vectors(vectors)

    def _module(self, name: Identifier) -> System:
        if name.name not in self._modules:
            hint = suggestion(name.name, self._modules, "modules")
            if name.name in self._named:
                hint = f'refer to the system in double quotes: "{name.name}"'
            raise self._error(f"unknown module '{name.name}'", name.span, hint)
        if name.name in self._used:
            raise self._error(f"the module '{name.name}' appears twice in the system", name.span)
        self._used.add(name.name)
        return Leaf(name.name)

    def _reference(self, name: Identifier) -> System:
        if name.name not in self._named:
            hint = suggestion(name.name, self._named, "systems", '"')
            raise self._error(f'unknown system "{name.name}"', name.span, hint)
        if name.name in self._open:
            raise self._error(f'the system "{name.name}" refers to itself', name.span)
        self._open.append(name.name)
        system = self._convert(self._named[name.name].system)
        self._open.pop()
        return system

    def _action_set(self, actions: tuple[Identifier, ...]) -> frozenset[str]:
        seen: set[str] = set()
        for action in actions:
            if action.name not in self._actions:
                hint = suggestion(action.name, self._actions, "actions")
                raise self._error(f"no module has the action '{action.name}'", action.span, hint)
            if action.name in seen:
                raise self._error(f"the action '{action.name}' is listed twice", action.span)
            seen.add(action.name)
        return frozenset(seen)

    def _error(self, message: str, span: Span, hint: str | None = None) -> LanguageError:
        return LanguageError(message, self._source, span, hint)


_Alternatives = dict[str | None, list[Vector]]


def vectors_of(system: System, alphabets: Mapping[str, Iterable[str | None]]) -> list[Vector]:
    """A composition as synchronisation vectors: which commands move together, and as which action.

    ``alphabets`` has the actions of each module, with None for commands that have none.
    """
    return [vector for alternatives in _by_action(system, alphabets).values() for vector in alternatives]


def _by_action(system: System, alphabets: Mapping[str, Iterable[str | None]]) -> _Alternatives:
    """The vectors of each action; the keys are the alphabet, even of what can never move."""
    match system:
        case Leaf(module):
            return {action: [Vector(action, ((module, action),))] for action in alphabets[module]}
        case Hide(operand, hidden):
            return _relabelled(_by_action(operand, alphabets), dict.fromkeys(hidden))
        case Rename(operand, renaming):
            return _relabelled(_by_action(operand, alphabets), dict(renaming))
        case Parallel(operands, actions):
            parts = [_by_action(operand, alphabets) for operand in operands]
            result = parts[0]
            for part in parts[1:]:
                result = _synchronised(result, part, actions)
            return result
        case Vectors(vectors):
            found: _Alternatives = {}
            for vector in vectors:
                found.setdefault(vector.action, []).append(vector)
            return found
    raise TypeError(f"not a composition: {system!r}")


def _synchronised(left: _Alternatives, right: _Alternatives, actions: frozenset[str] | None) -> _Alternatives:
    shared = {a for a in left if a is not None and a in right} if actions is None else actions
    result: _Alternatives = {}
    for action in dict.fromkeys([*left, *right]):
        mine, theirs = left.get(action, []), right.get(action, [])
        both = [Vector(action, a.parts + b.parts) for a in mine for b in theirs]
        result[action] = both if action in shared else [*mine, *theirs]
    return result


def _relabelled(vectors: _Alternatives, names: Mapping[str, str | None]) -> _Alternatives:
    result: _Alternatives = {}
    for action, alternatives in vectors.items():
        new = names.get(action, action) if action else None
        result.setdefault(new, []).extend(Vector(new, vector.parts) for vector in alternatives)
    return result
