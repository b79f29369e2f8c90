"""The pages of the Python reference, made from signatures, docstrings and comments when the site is built.

Each public module has a page. A class with several methods has a page of its own below it. Docstrings are Markdown, as
the rest of the documentation is.
"""

from __future__ import annotations

import importlib
import inspect
import typing
from enum import Enum
from functools import cached_property
from types import FunctionType

import msgspec
from public_names import (
    PublicName,
    annotation_of,
    default_of,
    doc_of,
    fields,
    first_homes,
    members,
    own_doc,
    public_modules,
    public_names,
)

FOLDER = "reference/python"
_OWN_PAGE = 3  # a class with as many methods and properties has a page of its own
_LONGEST_VALUE = 80  # a default that is longer is not shown
_KINDS = ("Classes", "Data", "Functions", "Errors", "Constants and types")


def pages() -> dict[str, str]:
    """Return the pages of all public modules, by their paths in the documentation."""
    homes = first_homes()
    found: dict[str, str] = {}
    for module in public_modules():
        names = [one for one in public_names(module) if homes[one.full] == one.full]
        found[f"{FOLDER}/{module}.md"] = _module_page(module, names, homes)
        found |= {f"{FOLDER}/{one.full}.md": _class_page(one) for one in names if _has_own_page(one)}
    return found


def contents() -> str:
    """Return the list of the modules, for the page that leads to them."""
    rows = [
        f"- [`{module}`](python/{module}.md): {_first_sentence(_module_doc(module))}" for module in public_modules()
    ]
    entries = "\n".join(f"python/{module}" for module in public_modules())
    every = "All names by letter are in the {ref}`index <genindex>`."
    return "\n".join(rows) + f"\n\n{every}\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def _module_page(module: str, names: list[PublicName], homes: dict[str, str]) -> str:
    parts = [f"# {module}\n", _module_doc(module), f"```{{py:module}} {module}\n```"]
    apart = [one for one in names if _has_own_page(one)]
    if apart:
        parts.append("```{toctree}\n:hidden:\n\n" + "\n".join(f"{one.name} <{one.full}>" for one in apart) + "\n```")
    for kind in _KINDS:
        if chosen := [one for one in names if _kind(one.value) == kind]:
            parts.append(f"## {kind}")
            parts.append("\n".join(_row(one) for one in chosen))
            parts += [_described(one) for one in chosen if not _has_own_page(one)]
    elsewhere = [(full, home) for full, home in homes.items() if full.rpartition(".")[0] == module and full != home]
    if elsewhere:
        parts.append("## Also offered here")
        parts.append("\n".join(f"- {{py:obj}}`{home}`" for _, home in elsewhere))
    return "\n\n".join(part for part in parts if part) + "\n"


def _class_page(one: PublicName) -> str:
    return f"# {one.name}\n\n```{{py:currentmodule}} {one.module}\n```\n\n{_described(one)}\n"


def _row(one: PublicName) -> str:
    return f"- {{py:obj}}`{one.name} <{one.full}>`: {_first_sentence(doc_of(one))}"


def _kind(value: object) -> str:
    if inspect.isclass(value):
        if issubclass(value, BaseException):
            return "Errors"
        few = len(members(value)) < _OWN_PAGE
        return "Data" if few and issubclass(value, msgspec.Struct | Enum | tuple) else "Classes"
    return "Functions" if inspect.isroutine(value) else "Constants and types"


def _has_own_page(one: PublicName) -> bool:
    return isinstance(one.value, type) and _kind(one.value) == "Classes" and len(members(one.value)) >= _OWN_PAGE


def _described(one: PublicName) -> str:
    value = one.value
    if isinstance(value, type):
        return _class(one, value)
    if inspect.isroutine(value):
        return _directive("py:function", _signatures(one.name, value), doc_of(one), ["async"] * _is_async(value))
    return _directive("py:data", [one.name], f"{doc_of(one)}\n\n{_value(value)}")


def _class(one: PublicName, cls: type) -> str:
    directive = "py:exception" if issubclass(cls, BaseException) else "py:class"
    signature = one.name if issubclass(cls, msgspec.Struct | Enum) else f"{one.name}{_constructor(cls)}"
    parts = [doc_of(one), _bases(cls), _fields(cls)]
    parts += [_member(name, value) for name, value in members(cls).items()]
    return _directive(directive, [signature], "\n\n".join(filter(None, parts)), fence=7)


def _bases(cls: type) -> str:
    """Return the nearest base class that is public, too: the one that an `except` or an `isinstance` may name."""
    known: dict[object, str] = {}
    for module in public_modules():
        for one in public_names(module):
            if isinstance(one.value, type):
                known.setdefault(one.value, one.full)
    found = [f"{{py:class}}`{base.__name__} <{known[base]}>`" for base in cls.__mro__[1:] if base in known]
    return f"A kind of {found[0]}." if found else ""


def _fields(cls: type) -> str:
    comments = fields(cls)
    if not comments:
        return ""
    if issubclass(cls, Enum):
        rows = [f"| `{name}` | `{cls[name].value!r}` | {text} |" for name, text in comments.items()]
        return "\n".join(["| member | value | meaning |", "| --- | --- | --- |", *rows])
    said = any(comments.values())
    rows = []
    for name, text in comments.items():
        type_ = annotation_of(cls, name).replace("|", "\\|")
        rows.append(f"| `{name}` | `{type_}` | {_default(default_of(cls, name))} |" + f" {text} |" * said)
    head = ["| field | type | default |" + " meaning |" * said, "| --- | --- | --- |" + " --- |" * said]
    return "\n".join([*head, *rows])


def _default(value: object) -> str:
    return "" if value is msgspec.NODEFAULT else f"`{_value_text(value)}`".replace("|", "\\|")


def _member(name: str, value: object) -> str:
    if isinstance(value, property | cached_property):
        getter = value.fget if isinstance(value, property) else value.func
        options = [f"type: {_annotation(inspect.signature(getter).return_annotation)}"] if getter else []
        return _directive("py:property", [name], own_doc(value), options, fence=6)
    options = ["classmethod"] * isinstance(value, classmethod) + ["staticmethod"] * isinstance(value, staticmethod)
    function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    skip = not isinstance(value, staticmethod)
    options += ["async"] * _is_async(function)
    return _directive("py:method", _signatures(name, function, skip_first=skip), own_doc(value), options, fence=6)


def _directive(name: str, signatures: list[str], text: str, options: list[str] | None = None, fence: int = 6) -> str:
    """Return a directive of Sphinx around a text in Markdown; a fence inside must be shorter.

    A directive in Markdown has one signature: the others of an overloaded function stand above, and are not indexed.
    """
    *others, last = signatures
    lines = "".join(f":{option}\n" if ":" in option else f":{option}:\n" for option in options or [])
    ticks = "`" * fence
    above = "".join(f"{ticks}{{{name}}} {one}\n{lines}:no-index:\n{ticks}\n\n" for one in others)
    return f"{above}{ticks}{{{name}}} {last}\n{lines}\n{text.strip()}\n{ticks}"


def _signatures(name: str, function: object, *, skip_first: bool = False) -> list[str]:
    """Return the signatures of a function, one on a line: several if it is overloaded."""
    overloads = typing.get_overloads(function) if isinstance(function, FunctionType) else []
    return [f"{name}{_signature(one, skip_first=skip_first)}" for one in overloads or [function]]


def _constructor(cls: type) -> str:
    made = cls.__init__
    return _signature(made, skip_first=True, returns=False) if isinstance(made, FunctionType) else ""


def _signature(function: object, *, skip_first: bool, returns: bool = True) -> str:
    signature = inspect.signature(typing.cast(typing.Any, function))
    texts: list[str] = []
    last_kind = None
    parameters = list(signature.parameters.values())[skip_first:]
    for at, one in enumerate(parameters):
        if one.kind is one.KEYWORD_ONLY and last_kind not in (one.KEYWORD_ONLY, one.VAR_POSITIONAL):
            texts.append("*")
        if last_kind is one.POSITIONAL_ONLY and one.kind is not one.POSITIONAL_ONLY:
            texts.append("/")
        texts.append(_parameter(one))
        last_kind = one.kind
        if at == len(parameters) - 1 and one.kind is one.POSITIONAL_ONLY:
            texts.append("/")
    if not returns or signature.return_annotation is signature.empty:
        return f"({', '.join(texts)})"
    return f"({', '.join(texts)}) -> {_annotation(signature.return_annotation)}"


def _parameter(one: inspect.Parameter) -> str:
    stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
    type_ = "" if one.annotation is one.empty else f": {_annotation(one.annotation)}"
    equals = " = " if type_ else "="
    return f"{stars}{one.name}{type_}" + ("" if one.default is one.empty else f"{equals}{_value_text(one.default)}")


def _annotation(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _value(value: object) -> str:
    return f"`{_value_text(value)}`"


def _value_text(value: object) -> str:
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if type(value) is int:
        return f"{value:_}"
    text = inspect.formatannotation(value) if typing.get_origin(value) else repr(value)
    return "..." if text.startswith("<") or len(text) > _LONGEST_VALUE else text


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _module_doc(module: str) -> str:
    return inspect.cleandoc(importlib.import_module(module).__doc__ or "")


def _first_sentence(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())
