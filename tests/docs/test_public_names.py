"""Every public name says what it is: the Python reference has nothing else to go by."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import layover
import layover.testing

if TYPE_CHECKING:
    from types import ModuleType

_PATH = Path(__file__).parents[2] / "tools" / "docs_site" / "public_names.py"


@pytest.fixture(scope="module")
def public_names() -> ModuleType:
    spec = importlib.util.spec_from_file_location("public_names", _PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a class that is made in it asks for it by its name
    spec.loader.exec_module(module)
    return module


def test_every_public_name_method_and_property_has_a_docstring(public_names: ModuleType) -> None:
    assert public_names.undocumented() == []


def test_modules_are_public_by_their_list_of_names(public_names: ModuleType) -> None:
    assert public_names.public_modules()[0] == "layover"
    assert "layover.testing" in public_names.public_modules()
    assert {f"layover.{name}" for name in layover.__all__} <= public_names.first_homes().keys()


def test_a_name_that_is_offered_twice_is_documented_once(
    public_names: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layover.testing, "__all__", [*layover.testing.__all__, "Plan"])
    monkeypatch.setattr(layover.testing, "Plan", layover.Plan, raising=False)
    assert public_names.first_homes()["layover.testing.Plan"] == "layover.Plan"


def test_a_new_name_without_a_docstring_is_found(public_names: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        """It says what it is, but not what it does."""

        def act(self) -> None: ...

    def silent() -> None: ...

    monkeypatch.setattr(layover.testing, "__all__", [*layover.testing.__all__, "Silent", "silent"])
    monkeypatch.setattr(layover.testing, "Silent", Silent, raising=False)
    monkeypatch.setattr(layover.testing, "silent", silent, raising=False)
    monkeypatch.setattr(Silent, "__module__", "layover.testing")
    assert sorted(public_names.undocumented()) == ["layover.testing.Silent.act", "layover.testing.silent"]


def test_a_constant_is_documented_by_the_comment_behind_it_where_it_is_defined(public_names: ModuleType) -> None:
    constant = public_names.PublicName("layover", "UNKNOWN", layover.UNKNOWN)
    assert public_names.doc_of(constant).startswith("a probe returns it")
