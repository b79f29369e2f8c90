"""A few seconds of chaos: nothing is found that must not be; and the judge finds what it is shown."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest

from .judge import Judge
from .play import Plan, play
from .record import SECOND, Entry, Fault, Hold, Record

if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = "an-execution"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that others may enter, unlike those of pytest: the database's server may run as another user."""
    with TemporaryDirectory(prefix="layover-chaos-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.mark.parametrize("postgres", [False, True], ids=["sqlite", "postgres"])
def test_nothing_breaks_in_a_few_seconds_of_chaos(open_folder: Path, postgres: bool) -> None:
    said: list[str] = []
    findings = play(Plan(seed=7, seconds=5, processes=2, people=4, postgres=postgres), open_folder, said.append)
    assert not findings, "\n".join([*said, *findings])
    assert any(line.startswith("judged") and not line.startswith("judged 0 ") for line in said), said


def _entered(seconds: float, node: str = "charge", process: str = "0.1", attempt: int = 1) -> Entry:
    return Entry("enter", int(seconds * SECOND), process, _ID, node, attempt, token=f"{node}{seconds}".ljust(32, "x"))


def _left(entry: Entry) -> Entry:
    return entry._replace(what="leave", at=entry.at + 1)


def _judged(record: Record, calls: list[Entry], **end: object) -> list[str]:
    record.starts.setdefault(_ID, "pay")
    return list(Judge(record, calls, {_ID: {"id": _ID, "status": "completed", "output": None, **end}}).findings())


def test_what_is_as_it_must_be_passes() -> None:
    charge, ship = _entered(1), _entered(2, "ship")
    calls = [charge, _left(charge), ship, _left(ship)]
    assert _judged(Record(outputs={_ID: [charge.token]}), calls, output=[charge.token]) == []


def test_an_output_that_was_reported_and_is_not_there_is_found() -> None:
    charge = _entered(1)
    (found,) = _judged(Record(outputs={_ID: "another"}), [charge, _left(charge)], output=[charge.token])
    assert "was told to have completed" in found


def test_an_output_that_no_call_returned_is_found() -> None:
    (found,) = _judged(Record(), [_entered(1)], output=[_entered(1).token])
    assert "no call returned" in found


def test_a_call_that_is_repeated_without_a_reason_is_found() -> None:
    (found,) = _judged(Record(), [_entered(1), _entered(2, attempt=2)])
    assert "without a reason" in found


def test_a_call_may_be_repeated_when_its_process_stood_still_for_longer_than_the_lease() -> None:
    stopped = Fault("stopped past the lease", "0.1", int(1.5 * SECOND), 9 * SECOND, excuses=True)
    assert _judged(Record(faults=[stopped]), [_entered(1), _entered(10, process="1.1", attempt=2)]) == []
    (found,) = _judged(Record(faults=[stopped._replace(process="1.1")]), [_entered(1), _entered(10, attempt=2)])
    assert "without a reason" in found


def test_an_instance_from_before_a_leap_of_its_clock_may_repeat_nothing() -> None:
    began = [Fault("began", "1.1", 20 * SECOND, 20 * SECOND, excuses=False)]
    leapt = Fault("clock stepped", "", 40 * SECOND, 40 * SECOND, excuses=True)
    calls = [_entered(39), _entered(43, process="1.1", attempt=2)]
    (found,) = _judged(Record(faults=[*began, leapt]), calls)
    assert "without a reason" in found
    began = [Fault("began", "1.1", 41 * SECOND, 41 * SECOND, excuses=False)]
    assert _judged(Record(faults=[*began, leapt]), calls) == []


def test_a_process_that_goes_on_after_a_stop_makes_no_call_that_may_be_repeated() -> None:
    stopped = Fault("stopped past the lease", "0.1", SECOND, 9 * SECOND, excuses=True)
    (found,) = _judged(Record(faults=[stopped]), [_entered(10.5), _entered(11, process="1.1", attempt=2)])
    assert "without a reason" in found


def test_a_call_after_its_result_was_used_is_found_whatever_happened() -> None:
    stopped = Fault("stopped past the lease", "", SECOND, 9 * SECOND, excuses=True)
    calls = [_entered(1), _entered(2, "ship"), _entered(3, attempt=2)]
    (found,) = _judged(Record(faults=[stopped]), calls)
    assert "after its result was used" in found


def test_a_call_during_a_pause_is_found() -> None:
    (found,) = _judged(Record(holds=[Hold(_ID, SECOND, 3 * SECOND)]), [_entered(2)])
    assert "after its pause was taken" in found


def test_a_timeout_of_what_was_never_called_is_found() -> None:
    error = {"code": "timeout", "context_id": "charge", "attempt": 2}
    found = _judged(Record(starts={_ID: "hurry"}), [_entered(1)], status="failed", error=error)
    assert len(found) == 1
    assert "never called" in found[0]


@pytest.mark.parametrize("status", ["running", "failed", "cancelled"])
def test_what_does_not_complete_is_found(status: str) -> None:
    (found,) = _judged(Record(), [], status=status)
    assert status in found
