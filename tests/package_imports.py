"""Who imports whom between the packages of Galton, whether at once, lazily inside a function, or for types only.

The order that holds is the contract of import-linter in ``pyproject.toml``: each package imports only from those below.
``python tests/package_imports.py`` prints the table of ``docs/architecture.md``.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "galton"
PUBLIC = ("__init__", "__main__")  # the modules that only show users what the packages hold
CORE = "_core"  # the C++ core, which imports nothing


@dataclass(frozen=True)
class Import:
    """One import statement, or a call of ``import_module``, from one package of Galton to another."""

    importer: str
    imported: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.importer} imports {self.imported}"


def layers() -> list[str]:
    """The packages in the order that the contract wants, the lowest first."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())
    (contract,) = (c for c in config["tool"]["importlinter"]["contracts"] if c["type"] == "layers")
    return [name for layer in reversed(contract["layers"]) for name in layer.split(" | ")]


def packages(source: Path = SOURCE) -> set[str]:
    """The packages there are, and the modules beside them."""
    modules = {path.stem for path in source.glob("*.py")} - set(PUBLIC)
    return modules | {path.parent.name for path in source.glob("*/__init__.py")}


def all_imports(source: Path = SOURCE) -> list[Import]:
    """Every import from one package to another. The public modules may import anything and are left out."""
    known = packages(source)
    found = []
    for path in sorted(source.rglob("*.py")):
        where = path.relative_to(source)
        importer = where.parts[0].removesuffix(".py")
        if importer in PUBLIC:
            continue
        module = (source.name, *where.with_suffix("").parts)
        package = module if path.name != "__init__.py" else module[:-1]
        for name, line in _names(ast.parse(path.read_text()), package, is_package=path.name == "__init__.py"):
            root, _, rest = name.partition(".")
            if root != source.name:
                continue
            target = rest.partition(".")[0]
            imported = target if target in known | {CORE} else root  # a name that the public module shows
            if imported not in (importer, CORE):
                found.append(Import(importer, imported, where.as_posix(), line))
    return list(dict.fromkeys(found))


def _names(tree: ast.Module, module: tuple[str, ...], *, is_package: bool) -> Iterator[tuple[str, int]]:
    """The full names of what a module imports anywhere in its text."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # One dot is the module's own package; each further dot is the package above.
            above = node.level - is_package
            start = module[: len(module) - above] if node.level else ()
            base = ".".join([*start, *([node.module] if node.module else [])])
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)
        elif isinstance(node, ast.Call) and _is_import_call(node.func):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield argument.value, node.lineno


def _is_import_call(function: ast.expr) -> bool:
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("import_module", "__import__")


def against(order: list[str], imports: Iterable[Import]) -> list[Import]:
    """The imports of a package that is not below the importer."""
    place = {name: number for number, name in enumerate(order)}
    return [one for one in imports if place.get(one.imported, len(order)) >= place.get(one.importer, -1)]


def cycle(imports: Iterable[Import]) -> list[str]:
    """Packages that import each other in a ring, the first one again at the end; empty if there is no ring."""
    targets: dict[str, set[str]] = {}
    for one in imports:
        targets.setdefault(one.importer, set()).add(one.imported)
    done: set[str] = set()

    def search(path: list[str]) -> list[str]:
        for target in sorted(targets.get(path[-1], ())):
            if target in path:
                return [*path[path.index(target) :], target]
            if target not in done and (found := search([*path, target])):
                return found
        done.add(path[-1])
        return []

    return next((found for start in sorted(targets) if start not in done and (found := search([start]))), [])


def table(imports: Iterable[Import], order: list[str]) -> str:
    """Markdown: for each package, the packages it imports."""
    pairs = {(one.importer, one.imported) for one in imports}
    every = [*order, *sorted(packages() - set(order))]
    lines = ["| package | imports |", "|---|---|"]
    for name in every:
        used = [f"`{other}`" for other in every if (name, other) in pairs]
        lines.append(f"| `{name}` | {', '.join(used) or 'none'} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(all_imports(), layers()))
