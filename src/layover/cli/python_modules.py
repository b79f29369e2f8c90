"""Importing Python that is named on the command line: a dotted module, or the path of a file.

An import runs code, so nothing is imported but what is named, and each file once in a process: a workflow and its
functions are the same objects however often they are named. What a module prints goes to standard error, where it
cannot get into the output of a command.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import sysconfig
import traceback
from contextlib import redirect_stdout
from importlib.machinery import SOURCE_SUFFIXES
from pathlib import Path
from typing import TYPE_CHECKING

from layover.cli.exits import Stop
from layover.core.suggest import did_you_mean

if TYPE_CHECKING:
    from types import ModuleType

_LIBRARIES = tuple(
    Path(folder).resolve()
    for folder in (
        Path(__file__).parents[1],
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("purelib"),
        sysconfig.get_path("platlib"),
    )
)


def is_file_name(name: str) -> bool:
    """Return whether a module is named by the path of its file."""
    return name.endswith(".py") or os.sep in name


def import_named(name: str, named_as: str) -> ModuleType:
    """Import a module; every failure is a sentence that begins with `named_as`, as the user wrote it."""
    try:
        with redirect_stdout(sys.stderr):
            return _from_file(Path(name), named_as) if is_file_name(name) else _from_path(name)
    except Stop:
        raise
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise _failed(named_as, error) from error
        hint = "Name a module that Python finds from here, or the path of a .py file."
        guess = did_you_mean(name, _modules_here())
        raise Stop(f"{named_as}: there is no such module.{guess}", hint=hint) from error
    except (Exception, SystemExit) as error:  # a module may do anything while it is imported
        raise _failed(named_as, error) from error


def _from_path(name: str) -> ModuleType:
    here = str(Path.cwd())
    if "" not in sys.path and here not in sys.path:
        sys.path.insert(0, here)
    importlib.invalidate_caches()
    return importlib.import_module(name)


def _from_file(path: Path, named_as: str) -> ModuleType:
    if not path.is_file():
        folder = path.parent
        files = (one.name for one in folder.iterdir() if one.suffix == ".py") if folder.is_dir() else ()
        raise Stop(f"{named_as}: there is no such file.{did_you_mean(path.name, files)}")
    if path.suffix not in SOURCE_SUFFIXES:
        raise Stop(f"{named_as}: this is not a Python file.")
    known = next((module for module in list(sys.modules.values()) if _is_file_of(module, path)), None)
    if known is not None:
        return known
    name = path.stem
    while name in sys.modules:  # a file may be called json.py
        name += "_nodes"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Stop(f"{named_as}: this is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # so that what it defines can be found by name, as dataclasses do
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is_file_of(module: ModuleType, path: Path) -> bool:
    file = getattr(module, "__file__", None)
    is_named_alike = isinstance(file, str) and Path(file).name == path.name
    return is_named_alike and module.__name__ != "__main__" and Path(str(file)).resolve() == path.resolve()


def _modules_here() -> list[str]:
    return [path.stem for path in Path.cwd().iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]


def _failed(named_as: str, error: BaseException) -> Stop:
    hint = "LAYOVER_DEBUG=1 shows the whole traceback."
    if isinstance(error, ImportError) and "relative import" in str(error):
        hint = "A file of a package is named as a module, from the folder that the package is in: PACKAGE.MODULE"
    told = error.msg if isinstance(error, SyntaxError) else str(error)
    return Stop(
        f"{named_as}: it cannot be imported: {type(error).__name__}: {told}{_place_of(error)}",
        hint=hint,
    )


def _place_of(error: BaseException) -> str:
    """Return where in the user's code it happened: the innermost line that is neither ours nor a library's."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({_short(error.filename)}:{error.lineno})"
    frames = [one for one in traceback.extract_tb(error.__traceback__) if not one.filename.startswith("<")]
    frames = [one for one in frames if not _is_in_a_library(Path(one.filename).resolve())]
    return f" ({_short(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""


def _is_in_a_library(file: Path) -> bool:
    return any(file.is_relative_to(folder) for folder in _LIBRARIES)


def _short(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
