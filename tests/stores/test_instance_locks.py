"""Locks that end with their process, and the races around files that come and go."""

from __future__ import annotations

import fcntl
import os
import threading
from typing import TYPE_CHECKING

import pytest

from layover.ports.errors import StoreUnavailable
from layover.stores.instance_locks import InstanceLocks

if TYPE_CHECKING:
    from pathlib import Path


class Mortal(InstanceLocks):
    """An instance that can die: its lock ends and its file stays."""

    def die(self) -> None:
        assert self._held is not None
        os.close(self._held)
        self._held = None


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "instances"


def files(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir()) if folder.exists() else []


def held(folder: Path, instance: str) -> Mortal:
    lock = Mortal(folder, instance)
    lock.hold(patience=0)
    return lock


def test_a_living_instance_is_not_dead(folder: Path) -> None:
    looker, other = held(folder, "looker"), held(folder, "other")
    with looker.dead() as dead:
        assert dead == []
    assert not looker.alone
    other.let_go()
    with looker.dead() as dead:
        assert dead == []
    assert looker.alone


def test_a_dead_instance_is_found_once(folder: Path) -> None:
    looker, other = held(folder, "looker"), held(folder, "a/b c")
    other.die()
    with looker.dead() as dead:
        assert dead == ["a/b c"]
    assert files(folder) == ["looker.lock"]
    with looker.dead() as dead:
        assert dead == []


def test_the_dead_are_found_again_if_looking_after_them_failed(folder: Path) -> None:
    looker, other = held(folder, "looker"), held(folder, "other")
    other.die()
    with pytest.raises(ValueError, match="the disk is full"), looker.dead():
        raise ValueError("the disk is full")
    with looker.dead() as dead:
        assert dead == ["other"]


def test_no_instance_returns_before_dead_ones_are_cleaned_up(folder: Path) -> None:
    looker, other = held(folder, "looker"), held(folder, "other")
    other.die()
    reborn = Mortal(folder, "other")
    with looker.dead() as dead:
        assert dead == ["other"]
        with pytest.raises(StoreUnavailable) as refused:
            reborn.hold(patience=0)
        assert refused.value.code == "instance_taken"
    reborn.hold(patience=0)
    with looker.dead() as dead:
        assert dead == []
    assert files(folder) == ["looker.lock", "other.lock"]


def test_two_looks_at_once_do_not_both_find_the_dead(folder: Path) -> None:
    one, two, other = (held(folder, name) for name in ("one", "two", "other"))
    other.die()
    with one.dead() as first, two.dead() as second:
        assert (first, second) == (["other"], [])
    with two.dead() as dead:
        assert dead == []


def test_a_lock_on_a_file_that_was_just_removed_is_taken_again_on_the_new_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name was given back between opening its file and locking it; that lock would be seen by nobody."""
    first, looker = held(folder, "name"), held(folder, "looker")
    flock = fcntl.flock

    def give_back_just_before(lock: int, operation: int) -> None:
        first.let_go()
        flock(lock, operation)

    monkeypatch.setattr(fcntl, "flock", give_back_just_before)
    second = Mortal(folder, "name")
    second.hold(patience=60)
    monkeypatch.undo()
    assert files(folder) == ["looker.lock", "name.lock"]
    with looker.dead() as dead:
        assert dead == []
    assert not looker.alone
    second.die()
    with looker.dead() as dead:
        assert dead == ["name"]


def test_many_come_and_go_while_one_looks(folder: Path) -> None:
    """The folder comes and goes with them; who has just made their file and not locked it yet may be taken for dead."""
    faults: list[BaseException] = []

    def visit(name: str) -> None:
        try:
            for _ in range(100):
                lock = Mortal(folder, name)
                lock.hold(patience=60)
                with lock.dead() as dead:
                    assert name not in dead
                lock.let_go()
        except BaseException as error:  # noqa: BLE001 - to be shown by the test, not by the thread
            faults.append(error)

    threads = [threading.Thread(target=visit, args=(f"visitor {n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert files(folder) == []


def test_other_files_are_no_instances(folder: Path) -> None:
    looker = held(folder, "looker")
    folder.joinpath(".DS_Store").touch()
    with looker.dead() as dead:
        assert dead == []
    looker.let_go()
    assert files(folder) == [".DS_Store"]
