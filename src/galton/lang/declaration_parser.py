"""Constants, formulas and labels: the declarations that models and property files share."""

from __future__ import annotations

from .expression_parser import ExpressionParser
from .expressions import Expression, Type
from .syntax import ConstantDeclaration, Definition, Identifier


class DeclarationParser(ExpressionParser):
    """Reads one declaration at a time; the current token is its keyword."""

    def constant(self) -> ConstantDeclaration:
        """``const [int|double|bool] name [= value];``; the old ``rate`` and ``prob`` declare doubles."""
        kind: Type = "int"
        start = self.token.span.start
        if self.advance().kind != "const":
            kind = "double"
        elif self.kind in ("int", "double", "bool"):
            kind = self.advance().kind  # type: ignore[assignment]
        name = self.identifier("the name of a constant")
        value = self.expression() if self.accept("=") else None
        self.expect(";", f"the constant '{name.name}'")
        return ConstantDeclaration(name, kind, value, self.since(start))

    def formula(self) -> Definition:
        """``formula name = body;``."""
        start = self.advance().span.start
        name = self.identifier("the name of a formula")
        self.expect("=", f"'{name.name}'")
        body = self.body()
        self.expect(";", f"the formula '{name.name}'")
        return Definition(name, body, self.since(start))

    def label(self) -> Definition:
        """``label "name" = body;``."""
        start = self.advance().span.start
        token = self.expect_label("the name of a label")
        if token.text in ("init", "deadlock"):
            raise self.error(f'the label "{token.text}" is built in and cannot be defined', token.span)
        self.expect("=", f'"{token.text}"')
        body = self.body()
        self.expect(";", f'the label "{token.text}"')
        return Definition(Identifier(token.text, token.span), body, self.since(start))

    def body(self) -> Expression:
        """What a formula or a label stands for."""
        return self.expression()

    def identifier(self, what: str) -> Identifier:
        token = self.expect_name(what)
        return Identifier(token.text, token.span)
