"""People in a YAML file: found by name and role, read again when the file changes, refused when it is none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from layover.runtime.deliveries.directory_file import DirectoryFailed, DirectoryFile

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """
ada: {roles: [finance], addresses: {mail: ada@example.org}, language: de, zone: Europe/Berlin}
bob: {roles: [finance, ops], away: {until: "2026-12-01T00:00:00Z", substitute: ada}}
cyd: {}
"""


async def test_people_are_found_by_name_and_by_role(tmp_path: Path) -> None:
    path = tmp_path / "people.yaml"
    path.write_text(TEXT)
    directory = DirectoryFile(str(path))
    assert [one.user for one in await directory.people(["cyd", "nobody"], ["ops"])] == ["bob", "cyd"]
    [ada] = await directory.people(["ada"], [])
    assert (ada.addresses, ada.language, ada.zone) == ({"mail": "ada@example.org"}, "de", "Europe/Berlin")
    [bob] = await directory.people(["bob"], [])
    assert bob.away is not None
    assert bob.away.substitute == "ada"


async def test_a_file_that_has_changed_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "people.yaml"
    path.write_text("ada: {}")
    directory = DirectoryFile(str(path))
    assert len(await directory.people(["ada", "eve"], [])) == 1
    path.write_text("ada: {}\neve: {}")
    os.utime(path, (1, 1))
    assert len(await directory.people(["ada", "eve"], [])) == 2


@pytest.mark.parametrize("text", ["- ada", "ada: 1", "ada: {mail: x}", "ada: {roles: 7}", "ada: [", "a: &a {}\nb: *c"])
async def test_what_is_no_directory_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "people.yaml"
    path.write_text(text)
    with pytest.raises(DirectoryFailed):
        await DirectoryFile(str(path)).people(["ada"], [])


async def test_a_missing_file_fails_the_directory(tmp_path: Path) -> None:
    with pytest.raises(DirectoryFailed):
        await DirectoryFile(str(tmp_path / "none.yaml")).people(["ada"], [])
