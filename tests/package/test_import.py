"""Importing the package loads nothing that is not asked for."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys

import pytest

import layover

# What each name may bring with it, beside the standard library and the package itself.
_ALLOWED = {
    "": set[str](),
    "check": {"msgspec", "jsonschema_rs", "typing_extensions"},
    "Workflow": {"msgspec", "jsonschema_rs", "typing_extensions"},
    "Engine": {"msgspec", "jsonschema_rs", "typing_extensions"},
    "SyncEngine": {"msgspec", "jsonschema_rs", "typing_extensions"},
    "Client": {"msgspec", "jsonschema_rs", "typing_extensions"},
    "SyncClient": {"msgspec", "jsonschema_rs", "typing_extensions"},
    "LayoverError": {"msgspec", "typing_extensions"},
}


@pytest.mark.parametrize("name", _ALLOWED)
def test_a_name_brings_no_more_than_it_needs(name: str) -> None:
    program = f"import layover, sys; layover.{name}" if name else "import layover, sys"
    words = [sys.executable, "-c", f"{program}; print(*sorted(sys.modules))"]
    loaded = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()  # noqa: S603 - ours
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sorted(sys.modules))"], check=True, capture_output=True, text=True
    ).stdout.split()
    packages = {module.partition(".")[0] for module in loaded} - {module.partition(".")[0] for module in bare}
    foreign = {one for one in packages - sys.stdlib_module_names if not one.startswith(("layover", "_sysconfigdata"))}
    assert foreign <= _ALLOWED[name]
    inner = {module for module in loaded if module.startswith("layover.")}
    assert not {module for module in inner if module.startswith(("layover.cli.", "layover.nodes.http_client"))}
    assert not {module for module in inner if "yaml" in module}
    if not name:
        assert not inner


@pytest.mark.parametrize("name", layover.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(layover, name) is not None
    assert name in dir(layover)


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("layover", "AsyncClient", "layover.Client"),
        ("layover", "ApiError", "layover.errors"),
        ("layover", "Options", "Engine.start"),
        ("layover.client", "AsyncClient", "layover.Client"),
        ("layover.client", "Client", "layover.SyncClient"),
        ("layover.client", "Unreachable", "layover.Unavailable"),
        ("layover.client.errors", "ClientClosed", "layover.Closed"),
        ("layover.runtime.errors", "CallbackRefused", "layover.CallbackRefused"),
        ("layover.runtime.errors", "UnknownWorkflow", "layover.NotFound"),
    ],
)
def test_an_old_name_names_the_new_one(module: str, old: str, new: str) -> None:
    with pytest.raises(ImportError, match=re.escape(new)):
        exec(f"from {module} import {old}")  # noqa: S102 - an import is what is tested
    assert old not in dir(importlib.import_module(module))


@pytest.mark.parametrize("module", ["admin", "asgi", "errors", "testing"])
def test_a_public_module_lists_its_names(module: str) -> None:
    loaded = importlib.import_module(f"layover.{module}")
    assert loaded.__doc__
    assert [name for name in loaded.__all__ if not hasattr(loaded, name)] == []


def test_the_errors_of_the_package_are_those_of_its_module() -> None:
    errors = importlib.import_module("layover.errors")
    ours = {name: value for name in layover.__all__ if _is_error(value := getattr(layover, name))}
    theirs = {name: value for name in errors.__all__ if _is_error(value := getattr(errors, name))}
    assert ours == theirs


def _is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, layover.LayoverError)


def test_another_name_is_not() -> None:
    with pytest.raises(AttributeError, match="no attribute `nothing`"):
        layover.nothing  # noqa: B018 - that is the point
