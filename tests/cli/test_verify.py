"""`layover verify`, run as a person runs it: as a process, on a file that others may be using."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from layover import Engine
from tests.runtime.maintenance.verify_scene import Damage, build, echo, named
from tests.servers.fork_server import run_command

CHAIN = named("chain")


def layover(*words: str, cwd: Path | None = None) -> tuple[int, str, str]:
    environment = {"COLUMNS": "100", "LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8"}
    code, out, err = run_command(words, cwd or Path.cwd(), environment)
    return code, out.decode(), err.decode()


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("verify") / "sound.db"
    asyncio.run(build(f"sqlite:///{path}"))
    return path


@pytest.fixture
def path(sound: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "copy.db"
    shutil.copy(sound, copy)
    return copy


def test_a_sound_database_is_one_line_and_code_0(path: Path) -> None:
    before = path.read_bytes()
    code, out, err = layover("verify", str(path))
    assert (code, err) == (0, "")
    assert out.startswith("14 executions, 1")
    assert out.endswith(" events: no violations\n")
    assert path.read_bytes() == before


def test_an_address_will_do_as_well(path: Path) -> None:
    assert layover("verify", f"sqlite:///{path}")[0] == 0
    assert layover("verify", f"sqlite:///{path.name}", cwd=path.parent)[0] == 0
    assert layover("verify", path.name, cwd=path.parent)[0] == 0


def test_violations_are_listed_with_code_1(path: Path) -> None:
    damage = Damage(path)
    damage("UPDATE heads SET status = 'failed' WHERE execution_id = :id", of=CHAIN)
    damage.close()
    code, out, err = layover("verify", str(path))
    assert (code, err) == (1, "")
    first, last = out.splitlines()
    assert first == f"{CHAIN}: Its head says failed; its log says completed. [head_status]"
    assert last.endswith(": 1 violation")


def test_violations_as_json_for_machines(path: Path) -> None:
    code, out, _ = layover("verify", "--json", str(path))
    told = json.loads(out)
    assert (code, told["ok"], told["executions"], told["violations"]) == (0, True, 14, [])
    damage = Damage(path)
    damage("UPDATE heads SET status = 'failed' WHERE execution_id = :id", of=CHAIN)
    damage.close()
    code, out, _ = layover("verify", "--json", str(path))
    (violation,) = json.loads(out)["violations"]
    assert code == 1
    assert (violation["code"], violation["execution_id"]) == ("head_status", CHAIN)


def _foreign(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE theirs (x)")
    db.close()


def _older(path: Path) -> None:
    db = apsw.Connection(str(path))
    db.execute("PRAGMA application_id = 0x4C41594F")
    db.execute("CREATE TABLE migrations (number INTEGER PRIMARY KEY, name, checksum, taken_at)")
    db.close()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda _: None, "There is no database"),
        (Path.mkdir, "There is no database"),
        (
            lambda path: path.write_bytes(b"not a database at all, but a long text" * 100),
            "not a SQLite",
        ),
        (Path.touch, "another program"),
        (_foreign, "another program"),
        (_older, "needs the migrations"),
    ],
)
def test_what_cannot_be_opened_is_a_sentence_and_code_2(tmp_path: Path, make: object, said: str) -> None:
    path = tmp_path / "some.db"
    make(path)  # type: ignore[operator]  # each makes something else
    before = path.read_bytes() if path.is_file() else None
    code, out, err = layover("verify", str(path))
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err
    assert (path.read_bytes() if path.is_file() else None) == before
    assert path.exists() == (before is not None or path.is_dir())


def test_an_address_of_no_database_is_a_sentence_and_code_2() -> None:
    code, out, err = layover("verify", "mysql://nowhere")
    assert (code, out) == (2, "")
    assert "is not the address of a database" in err


def test_progress_is_shown_on_a_terminal(path: Path) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-c", "from layover.cli.main import main; main()", "verify", str(path)],
        stdout=subprocess.PIPE,
        stderr=theirs,
        check=False,
        env={"COLUMNS": "100", "LANG": "C.UTF-8", "PYTHONIOENCODING": "utf-8", "TERM": "xterm"},
    )
    os.close(theirs)
    assert done.returncode == 0
    assert b"of 14 executions" in os.read(ours, 10_000)
    os.close(ours)


async def test_a_running_engine_is_not_held_up_and_does_not_hold_up(path: Path) -> None:
    async with Engine(f"sqlite:///{path}", nodes=[echo]) as engine:
        await engine.start("chain", idempotency_key="before", until="end")
        code, out, err = await asyncio.to_thread(layover, "verify", str(path))
        assert (code, err) == (0, ""), out
        await engine.start("chain", idempotency_key="after", until="end")
