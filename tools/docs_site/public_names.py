"""The public names of Layover: `__all__` of `layover`, and of each module right below it that has one.

A name is documented by its docstring. What cannot have one (a constant, a type alias, a field, a member of an enum) is
documented by the comment behind it in the source, or by a string below it.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = "layover"
SOURCE = Path(__file__).parents[2] / "src" / PACKAGE
_MEMBERS = (FunctionType, classmethod, staticmethod, property, cached_property)


class PublicName(NamedTuple):
    """A name that programs may import, and what it stands for."""

    module: str
    name: str
    value: object

    @property
    def full(self) -> str:
        """The name with its module."""
        return f"{self.module}.{self.name}"


def public_modules() -> list[str]:
    """Return the modules whose names are public, `layover` first."""
    children = [*SOURCE.glob("[!_]*.py"), *SOURCE.glob("[!_]*/__init__.py")]
    names = {path.parent.name if path.stem == "__init__" else path.stem: path for path in children}
    return [PACKAGE, *sorted(f"{PACKAGE}.{name}" for name, path in names.items() if _has_all(path))]


def public_names(module: str) -> list[PublicName]:
    """Return what a module offers, in alphabetical order; a module in it has a page of its own."""
    loaded = importlib.import_module(module)
    found = [PublicName(module, name, getattr(loaded, name)) for name in sorted(loaded.__all__, key=str.lower)]
    return [one for one in found if not inspect.ismodule(one.value)]


def first_homes() -> dict[str, str]:
    """Return where each public name is documented, by its module and name: where it is offered first."""
    homes: dict[tuple[str, int], str] = {}
    found: dict[str, str] = {}
    for module in public_modules():
        for one in public_names(module):
            found[one.full] = homes.setdefault((one.name, id(one.value)), one.full)
    return found


def members(cls: type) -> dict[str, object]:
    """Return the public methods and properties of a class, as they stand in it or in a base class of ours."""
    found: dict[str, object] = {}
    for owner in cls.__mro__:
        if owner.__module__.partition(".")[0] == PACKAGE:
            for name, value in vars(owner).items():
                if not name.startswith("_") and isinstance(value, _MEMBERS):
                    found.setdefault(name, value)
    return found


def fields(cls: type) -> dict[str, str]:
    """Return the public fields of a class (or the members of an enum), each with what is said of it in the source."""
    found: dict[str, str] = {}
    for owner in reversed(cls.__mro__):
        if owner.__module__.partition(".")[0] == PACKAGE:
            found |= _class_comments(owner)
    if issubclass(cls, Enum):
        return {name: found.get(name, "") for name in cls.__members__}
    if issubclass(cls, msgspec.Struct):  # what belongs to the class is no field
        found = {name: text for name, text in found.items() if name in cls.__struct_fields__}
    return {name: text for name, text in found.items() if not name.startswith("_")}


def doc_of(one: PublicName) -> str:
    """Return what is said of a name; empty if nothing is."""
    if inspect.isclass(one.value) or inspect.isroutine(one.value):
        return own_doc(one.value)
    return _constant_comment(one.module, one.name)


def own_doc(value: object) -> str:
    """Return the docstring of a class or function, but not one that is inherited from outside of Layover."""
    if isinstance(value, type):
        return inspect.cleandoc(vars(value).get("__doc__") or "")
    if isinstance(value, classmethod | staticmethod):
        value = value.__func__
    return inspect.getdoc(value) or ""


def undocumented() -> list[str]:
    """Return the public names, methods and properties of which nothing is said."""
    return [full for full, text in _docs() if not text]


def default_of(cls: type, field: str) -> object:
    """Return the default of a field, or `NODEFAULT`."""
    if issubclass(cls, msgspec.Struct):
        found = {one.name: one for one in msgspec.structs.fields(cls)}[field]
        return found.default_factory() if found.default_factory is not msgspec.NODEFAULT else found.default
    return getattr(cls, field, msgspec.NODEFAULT)


def annotation_of(cls: type, field: str) -> str:
    """Return the type of a field as the source has it."""
    for owner in cls.__mro__:
        if (found := inspect.get_annotations(owner).get(field)) is not None:
            return found if isinstance(found, str) else inspect.formatannotation(found)
    return ""


def _docs() -> Iterator[tuple[str, str]]:
    for full, home in first_homes().items():
        if full != home:
            continue
        module, _, name = full.rpartition(".")
        one = PublicName(module, name, getattr(importlib.import_module(module), name))
        yield full, doc_of(one)
        if isinstance(one.value, type):
            for member, value in members(one.value).items():
                yield f"{full}.{member}", own_doc(value)


def _has_all(path: Path) -> bool:
    return any("__all__" in _targets(node) for node in _tree(path).body)


def _targets(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _class_comments(cls: type) -> dict[str, str]:
    path = Path(inspect.getfile(cls))
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ClassDef) and node.name == cls.__name__:
            return _comments(path, node.body)
    return {}


def _comments(path: Path, body: list[ast.stmt]) -> dict[str, str]:
    """Return the names that are given a value or a type, each with the comment behind it or the string below it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found: dict[str, str] = {}
    for node, below in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.end_lineno and node.end_col_offset is not None:
            line = lines[node.end_lineno - 1].encode()[node.end_col_offset :].decode()
            comment = line.partition("#")[2].partition("# noqa")[0].strip()
            match below:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    comment = inspect.cleandoc(text)
            found |= dict.fromkeys(_targets(node), "" if comment.startswith("noqa") else comment)
    return found


def _constant_comment(module: str, name: str) -> str:
    """Return what is said of a constant where it is defined, which is where the imports of it lead."""
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return ""
    path = Path(spec.origin)
    if name in (found := _comments(path, _tree(path).body)):
        return found[name]
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ImportFrom) and node.module and name in (one.asname or one.name for one in node.names):
            original = next(one.name for one in node.names if name == (one.asname or one.name))
            return _constant_comment(node.module, original)
    return ""
