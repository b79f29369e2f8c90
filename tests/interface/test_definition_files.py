"""A file that cannot be read is refused by its path, before anything is asked of an engine or of a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from layover import Client, Engine, InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

    from layover.interface.door import Door


@pytest.fixture(params=["embedded", "remote"])
def door(request: pytest.FixtureRequest, tmp_path: Path) -> Door:
    """A door that is not open: nothing may be asked through it."""
    if request.param == "embedded":
        return Engine(f"sqlite:///{tmp_path / 'layover.db'}")
    return Client("http://localhost:9")


async def test_a_missing_file_is_refused_by_its_path(door: Door, tmp_path: Path) -> None:
    path = tmp_path / "missing.yaml"
    for operation in (door.register, door.check):
        with pytest.raises(InvalidInput, match=r"missing\.yaml` cannot be read: there is no such file") as refused:
            await operation(path)
        assert str(path) in refused.value.message
        assert refused.value.code == "invalid_parameter"


async def test_a_folder_is_refused_by_its_path(door: Door, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read: Is a directory"):
        await door.register(tmp_path)


@pytest.fixture
def latin(tmp_path: Path) -> Path:
    """A file that is not UTF-8."""
    path = tmp_path / "latin.yaml"
    path.write_bytes(b"name: caf\xe9\n")
    return path


async def test_a_file_that_is_not_text_is_refused_by_its_path(door: Door, latin: Path) -> None:
    with pytest.raises(InvalidInput, match=r"latin.yaml` cannot be read: it is not UTF-8 text"):
        await door.register(latin)


async def test_an_engine_that_is_given_a_missing_file_does_not_open(tmp_path: Path) -> None:
    engine = Engine(f"sqlite:///{tmp_path / 'layover.db'}", workflows=[tmp_path / "missing.yaml"])
    with pytest.raises(InvalidInput, match="missing"):
        async with engine:
            pytest.fail("it must not open")
