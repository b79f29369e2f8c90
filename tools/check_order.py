"""Find iterations over sets, whose order no seed decides: `python tools/check_order.py`.

A set of strings is ordered by a hash that differs from process to process, a set of objects by where they lie in
memory. So what decides, or drives what is decided, goes through sets only in an order that it says (`sorted`), or where
no order can be seen (`len`, `any`, another set). It is checked in the same packages as the other sources of chance.

What it knows of types is what is written: names, attributes and functions that are annotated as sets anywhere in these
packages, and names that are given one in the same function. A set that comes out of a container or from elsewhere is
not seen. An attribute counts as a set if every class that annotates one of this name says so.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1] / "src" / "layover"
PACKAGES = ("core", "ports", "nodes", "runtime", "stores/memory")

_SETS = frozenset({"set", "frozenset", "Set", "FrozenSet", "AbstractSet", "MutableSet"})
_MAKE_SETS = frozenset({"union", "intersection", "difference", "symmetric_difference"})
_ORDERLESS = frozenset({"all", "any", "frozenset", "len", "max", "min", "set", "sorted", "sum"})
_IN_ORDER = frozenset(
    {"deque", "enumerate", "extend", "filter", "fromkeys", "iter", "join", "list", "map", "tuple", "zip"}
)
_NOT_OURS = frozenset({"types"})  # what describes a type in msgspec has one as well, a tuple
_OPERATORS = (ast.BitOr, ast.BitAnd, ast.BitXor, ast.Sub)


class Found(NamedTuple):
    """An iteration whose order is not decided."""

    path: Path
    line: int
    text: str


class Known:
    """What is annotated as a set, in all files: attributes and functions by their names."""

    def __init__(self, trees: list[ast.Module]) -> None:
        said: dict[str, set[bool]] = {}
        for tree in trees:
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    said.setdefault(f"{node.name}()", set()).add(_says_set(node.returns))
                    if any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list):
                        said.setdefault(node.name, set()).add(_says_set(node.returns))
                elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
                    said.setdefault(node.target.attr, set()).add(_says_set(node.annotation))
                elif isinstance(node, ast.ClassDef):
                    for one in node.body:
                        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                            said.setdefault(one.target.id, set()).add(_says_set(one.annotation))
        self.names = frozenset(name for name, answers in said.items() if answers == {True}) - _NOT_OURS


def found_in(path: Path, tree: ast.Module, source: str, known: Known) -> list[Found]:
    """Return the iterations over sets in one file."""
    looking = _Looking(known)
    looking.visit(tree)
    lines = source.splitlines()
    return [Found(path, line, lines[line - 1].strip()) for line in sorted(looking.lines)]


class _Looking(ast.NodeVisitor):
    """Goes through a file, and knows which names are sets where it is."""

    def __init__(self, known: Known) -> None:
        self._known = known
        self._names: dict[str, bool] = {}
        self._orderless: set[ast.expr] = set()
        self.lines: set[int] = set()

    # What is a set

    def _is_set(self, node: ast.expr | None) -> bool:
        match node:
            case ast.Set() | ast.SetComp():
                return True
            case ast.Name(id=name):
                return self._names.get(name, False)
            case ast.Attribute(attr=name):
                return name in self._known.names
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self._is_set(value)
            case ast.IfExp(body=one, orelse=other):
                return self._is_set(one) or self._is_set(other)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
                return any(self._is_set(side) or _are_keys(side) for side in (left, right))
            case ast.Call(func=ast.Name(id=name)):
                return name in ("set", "frozenset") or f"{name}()" in self._known.names
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                return f"{name}()" in self._known.names or (
                    name in _MAKE_SETS | {"copy"} and (self._is_set(value) or _are_keys(value))
                )
            case _:
                return False

    # Where names come from

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
        before, self._names = self._names, dict(self._names)
        for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            self._names[one.arg] = _says_set(one.annotation)
        self.generic_visit(node)
        self._names = before

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - as it has to be called
    visit_Lambda = visit_FunctionDef  # noqa: N815 - the same

    def visit_Assign(self, node: ast.Assign) -> None:
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._names[target.id] = self._is_set(node.value)
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for name, value in zip(target.elts, node.value.elts, strict=False):
                    if isinstance(name, ast.Name):
                        self._names[name.id] = self._is_set(value)
            elif isinstance(target, ast.Tuple):
                self._look(node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self._names[node.target.id] = _says_set(node.annotation)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.generic_visit(node)
        self._names[node.target.id] = self._is_set(node.value)

    # Where they are gone through

    def _look(self, node: ast.expr) -> None:
        if self._is_set(node):
            self.lines.add(node.lineno)

    def visit_For(self, node: ast.For) -> None:
        self._look(node.iter)
        self.generic_visit(node)

    def visit_Starred(self, node: ast.Starred) -> None:
        if node not in self._orderless:
            self._look(node.value)
        self.generic_visit(node)

    def visit_Set(self, node: ast.Set) -> None:
        self._orderless |= {one for one in node.elts if isinstance(one, ast.Starred)}
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Look into what something is looked for in: there the order makes no difference."""
        for one in node.comparators:
            if isinstance(one, ast.Tuple | ast.List):
                self._orderless |= {part for part in one.elts if isinstance(part, ast.Starred)}
        self.generic_visit(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        self._look(node.value)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in _ORDERLESS:
            self._orderless |= {one for one in node.args if isinstance(one, ast.GeneratorExp | ast.ListComp)}
        elif name in _IN_ORDER:
            for one in node.args:
                self._look(one)
        self.generic_visit(node)

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp) -> None:
        if node not in self._orderless:
            for one in node.generators:
                self._look(one.iter)
        self.generic_visit(node)

    visit_GeneratorExp = visit_ListComp  # noqa: N815 - the same
    visit_DictComp = visit_ListComp  # noqa: N815 - a dict is in the order in which it was filled


def _are_keys(node: ast.expr) -> bool:
    """Return whether these are the keys of a dict: what is left of two of them is a set."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("keys", "items")


def _says_set(annotation: ast.expr | None) -> bool:
    match annotation:
        case ast.Constant(value=str(text)):
            return _says_set(ast.parse(text, mode="eval").body)
        case ast.Subscript(value=value):
            return _says_set(value)
        case ast.BinOp(left=left, right=right):
            return _says_set(left) or _says_set(right)
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in _SETS
        case _:
            return False


def check(root: Path, packages: tuple[str, ...] = PACKAGES) -> list[Found]:
    """Return the iterations over sets in some packages."""
    paths = [path for package in packages for path in sorted((root / package).rglob("*.py"))]
    sources = {path: path.read_text(encoding="utf-8") for path in paths}
    trees = {path: ast.parse(source) for path, source in sources.items()}
    known = Known(list(trees.values()))
    return [one for path, tree in trees.items() for one in found_in(path, tree, sources[path], known)]


def main() -> int:
    """Print what is found."""
    found = check(ROOT)
    for one in found:
        print(f"{one.path}:{one.line}: the order of a set is not decided: {one.text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
