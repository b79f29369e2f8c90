"""What does not fit a declared body is told with what would."""

from __future__ import annotations

import msgspec
import pytest

from layover.interface.misfits import Misfit, misfit_of
from layover.model.batches import BatchBody


@pytest.mark.parametrize(
    ("given", "path", "message"),
    [
        ({"act": "explode"}, "act", "`explode` is none of `answer`, `cancel`,"),
        (
            {"act": "pause", "where": {"status": ["paused", "dead"]}},
            "where.status[1]",
            "`dead` is none of `cancelled`, ",
        ),
        (
            {"act": "pause", "where": {"wrkflow": "a"}},
            "where.wrkflow",
            "there is no such field; the nearest is `workflow`",
        ),
        ({"act": "pause", "canary": {"zzz": 1}}, "canary.zzz", "there is no such field; it takes `share`, `watch`"),
        ({"act": "pause", "canary": {"share": 1}}, "canary.watch", "it is missing"),
        ({}, "act", "it is missing"),
        ({"act": "pause", "dry_run": 5}, "dry_run", "Expected `bool`, got `int`"),
        ({"act": "pause", "zz'`": 5}, "zz'`", "there is no such field; it takes `act`, `where`, "),
        (
            {"act": "pause", "where": {"workflow": "a b"}},
            "where.workflow",
            "a name has letters, digits, `_`, `.` and `-`, after a letter",
        ),
        ({"act": "pause", "where": {"tag": "\0"}}, "where.tag", "Expected `str` matching regex"),
        ([], "", "Expected `object`, got `array`"),
    ],
)
def test_a_misfit_names_its_place_and_what_would_fit(given: object, path: str, message: str) -> None:
    with pytest.raises(msgspec.ValidationError) as refused:
        msgspec.convert(given, BatchBody)
    found = misfit_of(str(refused.value), BatchBody)
    assert found.path == path
    assert found.message.startswith(message)


def test_what_the_declaration_does_not_know_is_told_as_it_was() -> None:
    assert misfit_of("Something else - at `$.nowhere[...].x`", BatchBody) == Misfit("nowhere[...].x", "Something else")
    assert misfit_of("Invalid enum value 'x' - at `$.nowhere`", BatchBody).message == "Invalid enum value 'x'"
