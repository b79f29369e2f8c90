"""Definitions as they are named on the command line.

A name is that of a YAML or JSON file (or `-`, standard input), a `module:workflow` that Python finds from here, a
`path/file.py:workflow`, or a `path/file.py` with all the workflows in it. The functions of a Python module come with
its workflows: those that the workflows call, those marked with `@node` or `@source`, and those listed in `NODES`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from layover.authoring.workflow import Workflow
from layover.cli.exits import Stop
from layover.cli.json_argument import STANDARD_INPUT
from layover.cli.python_modules import import_named, is_file_name
from layover.core.definitions import DEFAULT_LIMITS, Checked, check
from layover.core.suggest import did_you_mean
from layover.nodes.function import AnyFunction, NodeFunction
from layover.nodes.notifier import NotifierFunction
from layover.nodes.source import SourceFunction

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from types import ModuleType

    from layover.core.definitions.read_text import Syntax

_SYNTAXES: dict[str, Syntax] = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}
_MOST_LISTED = 10
HOW_TO_NAME = "A workflow in Python is named MODULE:WORKFLOW, FILE.py:WORKFLOW or FILE.py."


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A definition that was named: its text, or a workflow in Python with the functions that come with it."""

    name: str
    text: bytes = b""
    workflow: Workflow | None = None
    functions: tuple[AnyFunction, ...] = ()

    def check(self, functions: Collection[str] | None = None) -> Checked:
        """Find everything that is wrong with it; `functions` as `layover.check` takes them."""
        if self.workflow is not None:
            return self.workflow.check(functions)
        return check(self.text, syntax=_SYNTAXES.get(Path(self.name).suffix, "auto"), functions=functions)


def sources(name: str) -> list[Source]:
    """Return all definitions that a name stands for; a Python file may have several."""
    module, attribute = _python_name(name)
    if not module:
        return [Source(name=name, text=_read(name))]
    imported = import_named(module, name)
    found = _workflows_in(imported)
    if attribute:
        found = {attribute: _workflow_named(attribute, imported, name)}
    elif not found:
        raise Stop(f"{name}: there is no workflow in it.", hint="Functions for a workflow are given with --nodes.")
    used = {key: flow.functions for key, flow in found.items()}
    marked = _marked_in(imported, name)
    return [
        Source(name=f"{module}:{key}", workflow=flow, functions=distinct(used[key], marked))
        for key, flow in found.items()
    ]


def source(name: str) -> Source:
    """Return the definition that a name stands for; a Python file with several has to say which."""
    found = sources(name)
    if len(found) > 1:
        more = (f"… and {len(found) - _MOST_LISTED} more",) if len(found) > _MOST_LISTED else ()
        choices = tuple(f"{one.name}  ({one.workflow.name})" for one in found[:_MOST_LISTED] if one.workflow)
        raise Stop(f"{name} has {len(found)} workflows; name one of them:", details=choices + more)
    return found[0]


def text_of(one: Source) -> str | None:
    """Return the text of a sound definition, to be registered; of JSON that is no YAML there is none."""
    if one.workflow is not None or not check(one.text, syntax="yaml").ok:
        return None
    return one.text.decode()


def distinct(*groups: Iterable[AnyFunction]) -> tuple[AnyFunction, ...]:
    """Return functions in their order, each once."""
    return tuple({id(one): one for group in groups for one in group}.values())


def _python_name(name: str) -> tuple[str, str]:
    """Return the module and the attribute that a name stands for; no module if it names a definition in a file."""
    if name == STANDARD_INPUT or (Path(name).suffix != ".py" and _is_there(name)):
        return "", ""
    if name.endswith(".py"):
        return name, ""
    module, colon, attribute = name.rpartition(":")
    if not colon or Path(name).suffix in _SYNTAXES:
        return "", ""
    if not module or not attribute.isidentifier():
        raise Stop(f"{name}: `{attribute}` cannot be the name of a workflow.", hint=HOW_TO_NAME)
    if not module.endswith(".py") and Path(module).is_file():
        raise Stop(f"{name}: {module} is not a Python file.", hint=HOW_TO_NAME)
    if not module.endswith(".py") and not all(part.isidentifier() for part in module.split(".")):
        guess = f" Did you mean `{module}.py:{attribute}`?" if is_file_name(module) else ""
        raise Stop(f"{name}: `{module}` cannot be the name of a module.{guess}", hint=HOW_TO_NAME)
    return module, attribute


def _is_there(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # too long a name, or one with a null character
        return False


def _workflows_in(module: ModuleType) -> dict[str, Workflow]:
    """Return the public workflows of a module by their names there, each once."""
    named = {key: one for key, one in vars(module).items() if isinstance(one, Workflow) and not key.startswith("_")}
    first = {id(one): key for key, one in reversed(named.items())}
    return {key: one for key, one in named.items() if first[id(one)] == key}


def _workflow_named(attribute: str, module: ModuleType, name: str) -> Workflow:
    found = getattr(module, attribute, None)
    if isinstance(found, Workflow):
        return found
    known = _workflows_in(module)
    if not hasattr(module, attribute):
        listed = f"It has {', '.join(f'`{key}`' for key in list(known)[:_MOST_LISTED])}." if known else ""
        guess = did_you_mean(attribute, known)
        raise Stop(f"{name}: there is no `{attribute}` in it.{guess}", hint=listed or "It has no workflow at all.")
    hint = f"Call it in the module: `flow = {attribute}(…)`, and name `flow`." if callable(found) else ""
    raise Stop(f"{name}: this is not a Workflow, but {_kind_of(found)}.", hint=hint)


def _kind_of(value: object) -> str:
    if isinstance(value, NodeFunction):
        return "a node function"
    if isinstance(value, SourceFunction):
        return "a source"
    if isinstance(value, NotifierFunction):
        return "a notifier"
    kind = type(value).__name__
    return f"a{'n' if kind[:1].lower() in 'aeiou' else ''} {kind}"


def _marked_in(module: ModuleType, name: str) -> list[AnyFunction]:
    """Return the functions that a module marks or lists as nodes."""
    listed = getattr(module, "NODES", ())
    if not isinstance(listed, list | tuple) or not all(callable(one) for one in listed):
        raise Stop(f"{name}: `NODES` is a list of functions.")
    return [
        *listed,
        *(one for one in vars(module).values() if isinstance(one, NodeFunction | SourceFunction | NotifierFunction)),
    ]


def _read(name: str) -> bytes:
    """Return the content of a file, one byte more than is allowed at most: enough to see that it is too large."""
    most = DEFAULT_LIMITS.bytes + 1
    try:
        if name == STANDARD_INPUT:
            return sys.stdin.buffer.read(most)
        with Path(name).open("rb") as file:
            return file.read(most)
    except (OSError, ValueError) as error:  # no file can have a name with a null character
        hint = HOW_TO_NAME if all(part.isidentifier() for part in name.split(".")) and not Path(name).suffix else ""
        raise Stop(f"{name}: {getattr(error, 'strerror', None) or error}", hint=hint) from error
