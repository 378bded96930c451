"""``system … endsystem``: how modules are put together.

Parallel operators, from loosest: ``|||``, ``||``, ``|[a,b]|``; hiding and renaming bind tightest. PRISM's own grammar
asks for parentheses around most mixtures; what it accepts means the same here.
"""

from __future__ import annotations

from .declaration_parser import DeclarationParser
from .syntax import (
    Identifier,
    SystemDefinition,
    SystemHide,
    SystemName,
    SystemParallel,
    SystemRename,
    SystemSyntax,
)


class SystemParser(DeclarationParser):
    """Reads one system definition; the current token is ``system``."""

    def system(self) -> SystemDefinition:
        start = self.advance().span
        name = None
        # `system "s" endsystem` refers to another system; with something after it, "s" is the name of this one.
        if self.kind == "string" and self.next_kind() in ("name", "string", "("):
            token = self.expect_label("the name of a system")
            name = Identifier(token.text, token.span)
        system = self._interleaved()
        self.expect("endsystem", "the composition of modules")
        return SystemDefinition(name, system, self.since(start.start))

    def _bars(self) -> int:
        """How many ``|`` stand here in a row."""
        return next(count for count in range(len(self.tokens)) if self.next_kind(count) != "|")

    def _interleaved(self) -> SystemSyntax:
        operands = [self._full_parallel()]
        while self._bars() == 3:
            self.index += 3
            operands.append(self._full_parallel())
        return operands[0] if len(operands) == 1 else SystemParallel(tuple(operands), ())

    def _full_parallel(self) -> SystemSyntax:
        operands = [self._parallel_over()]
        while self._bars() == 2:
            self.index += 2
            operands.append(self._parallel_over())
        return operands[0] if len(operands) == 1 else SystemParallel(tuple(operands), None)

    def _parallel_over(self) -> SystemSyntax:
        left = self._hidden_or_renamed()
        while self._bars() == 1:
            self.advance()
            opening = self.expect("[", "'|'").span
            actions = self._actions()
            self.close("]", opening)
            self.expect("|", "']'")
            left = SystemParallel((left, self._hidden_or_renamed()), actions)
        return left

    def _hidden_or_renamed(self) -> SystemSyntax:
        system = self._atom()
        while True:
            if self.accept("/"):
                opening = self.expect("{", "'/'").span
                system = SystemHide(system, self._actions())
                self.close("}", opening)
            elif self.kind == "{":
                opening = self.advance().span
                renaming = [self._renaming()]
                while self.accept(","):
                    renaming.append(self._renaming())
                self.close("}", opening)
                system = SystemRename(system, tuple(renaming))
            else:
                return system

    def _atom(self) -> SystemSyntax:
        if self.kind == "(":
            opening = self.advance().span
            system = self._interleaved()
            self.close(")", opening)
            return system
        if self.kind == "string":
            token = self.expect_label("the name of a system")
            return SystemName(Identifier(token.text, token.span), quoted=True)
        return SystemName(self.identifier("the name of a module"), quoted=False)

    def _actions(self) -> tuple[Identifier, ...]:
        actions = [self.identifier("an action")]
        while self.accept(","):
            actions.append(self.identifier("an action"))
        return tuple(actions)

    def _renaming(self) -> tuple[Identifier, Identifier]:
        old = self.identifier("an action")
        if self.kind != "<" or self.next_kind() != "-":
            raise self.unexpected(f"'<-' after '{old.name}'")
        self.index += 2
        return old, self.identifier("an action")
