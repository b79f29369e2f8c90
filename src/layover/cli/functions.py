"""The functions of a module that is named on the command line, as node types."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

from layover.cli.exits import Stop
from layover.core.errors import LayoverError
from layover.nodes.function import NodeFunction
from layover.nodes.registry import Registry

if TYPE_CHECKING:
    from types import ModuleType

    from layover.core.definitions import Parameters
    from layover.nodes.registry import AnyFunction


def functions_of(modules: tuple[str, ...]) -> list[AnyFunction]:
    """Return the functions of modules: those in `NODES` if there is one, else those that are marked with `@node`.

    Where nothing is marked, every public function that a module defines is one.
    """
    return [function for name in modules for function in _functions_in(_imported(name), name)]


def node_types(functions: list[AnyFunction]) -> frozenset[str]:
    """Return the node types that an engine with these functions can run."""
    return frozenset(parameters_of(functions))


def parameters_of(functions: list[AnyFunction]) -> dict[str, Parameters | None]:
    """Return the node types that an engine with these functions can run, each with what its function takes."""
    registry = Registry()
    for function in functions:
        try:
            registry.add(function)
        except (LayoverError, TypeError, ValueError) as error:
            raise Stop(f"--nodes: {_name_of(function)} cannot be a node: {error}") from error
    return {"http": None, **registry.parameters()}


def _functions_in(module: ModuleType, name: str) -> list[AnyFunction]:
    listed = getattr(module, "NODES", None)
    found: list[object]
    if listed is None:
        public = [one for key, one in vars(module).items() if not key.startswith("_")]
        marked: list[object] = [one for one in public if isinstance(one, NodeFunction)]
        found = marked or [one for one in public if _is_own(one, module)]
    elif isinstance(listed, (list, tuple)):
        found = list(listed)
    else:
        raise Stop(f"--nodes {name}: `NODES` is a list of functions, not {type(listed).__name__}.")
    for one in found:
        if not callable(one):
            raise Stop(f"--nodes {name}: `NODES` holds {one!r}, which is no function.")
    if not found:
        raise Stop(f"--nodes {name}: it has no public functions.", hint="Define one, or list them as `NODES = [...]`.")
    return cast("list[AnyFunction]", found)


def _is_own(one: object, module: ModuleType) -> bool:
    """Return whether a module defines something that can be called, rather than having imported it."""
    if inspect.isclass(one) or getattr(one, "__module__", None) != module.__name__:
        return False
    return callable(one) and bool(getattr(one, "__name__", ""))


def _imported(name: str) -> ModuleType:
    try:
        if name.endswith(".py") or os.sep in name:
            return _from_file(Path(name))
        if "" not in sys.path and str(Path.cwd()) not in sys.path:
            sys.path.insert(0, str(Path.cwd()))
        return importlib.import_module(name)
    except Stop:
        raise
    except ModuleNotFoundError as error:
        if error.name is not None and name.partition(".")[0] == error.name.partition(".")[0]:
            hint = "Name a module that Python finds from here, or the path of a .py file."
            raise Stop(f"--nodes {name}: there is no such module.", hint=hint) from error
        raise _failed(name, error) from error
    except (Exception, SystemExit) as error:  # whatever a module does while it is read, it is told in a sentence
        raise _failed(name, error) from error


def _failed(name: str, error: BaseException) -> Stop:
    hint = "LAYOVER_DEBUG=1 shows where."
    return Stop(f"--nodes {name}: it cannot be imported: {type(error).__name__}: {error}", hint=hint)


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise Stop(f"--nodes {path}: there is no such file.")
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_nodes"  # a file may be called json.py
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Stop(f"--nodes {path}: this is no Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # so that what it defines can be found by name, as dataclasses do
    sys.path.insert(0, str(path.parent.resolve()))
    spec.loader.exec_module(module)
    return module


def _name_of(function: object) -> str:
    return f"`{getattr(function, '__name__', None) or repr(function)}`"
