"""A process dies while its functions record, ask and sleep: what was recorded is never done again, nor forgotten."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

import pytest

from layover.core.engine import events as ev
from layover.ports.commit_points import CommitPoint

from .journal_worker import NAMES, Effects, id_of, run
from .world import everywhere

if TYPE_CHECKING:
    from .world import World

TIMES: dict[CommitPoint, tuple[int, ...]] = {
    CommitPoint.APPEND_DECIDED: (2, 3, 4, 6, 8, 10, 12),
    CommitPoint.ROWS_WRITTEN: (2, 4, 7, 10),
    CommitPoint.APPEND_COMMITTED: (2, 3, 4, 6, 8, 10, 12),
    CommitPoint.APPEND_TOLD: (2, 4, 6, 8, 10),
    CommitPoint.REST_TOLD: (1, 3, 6),
    CommitPoint.CALL_STARTING: (1, 3, 6),
    CommitPoint.CALL_RETURNED: (1, 2, 3, 6),
    CommitPoint.CLAIM_COMMITTED: (1, 2),
    CommitPoint.STATE_LOADED: (1, 3),
    CommitPoint.ANSWER_COMMITTED: (1, 2),
    CommitPoint.SNAPSHOT_DECIDED: (1, 3, 6),
}
FEW = [(CommitPoint.ROWS_WRITTEN, 7), (CommitPoint.APPEND_COMMITTED, 6), (CommitPoint.SNAPSHOT_DECIDED, 3)]
CASES = everywhere([(point, n) for point, times in TIMES.items() for n in times], FEW)
DONE = ("pay", "left", "right")


@pytest.mark.parametrize(("world", "point", "n"), CASES, indirect=["world"])
async def test_a_function_goes_on_from_what_it_has_recorded(world: World, point: CommitPoint, n: int) -> None:
    settings = {"cache_bytes": 0} if point is CommitPoint.STATE_LOADED else {}
    world.run("journal_worker", die_at=(point, n), settings=settings).is_killed()
    world.died_at(point)
    await world.is_sound()
    effects = Effects(world.folder)
    recorded, done = await _recorded(world), effects.read()

    outputs = await run(world.folder, world.address, {})

    await world.is_sound()
    for name in NAMES:
        output, finally_recorded = cast("dict[str, object]", outputs[name]), await _recorded(world)
        assert output == {
            **{key: finally_recorded[id_of(name), key] for key in DONE},
            "size": 3,
            "restored": {"paid": output["pay"]},
        }
    assert recorded.items() <= (await _recorded(world)).items()
    after = effects.read()
    assert [one for one in after[len(done) :] if one[:2] in recorded] == [], "recorded, and done again"
    _happened_at_most_once_more(after)


def _happened_at_most_once_more(effects: list[tuple[str, str, int]]) -> None:
    """One process died: each effect was perhaps done and not recorded, once; and no attempt was made twice."""
    counts = Counter(one[:2] for one in effects if one[1] != "begin")
    assert set(counts) == {(id_of(name), key) for name in NAMES for key in DONE}
    assert max(counts.values()) <= 2
    begun = [one for one in effects if one[1] == "begin"]
    assert len(set(begun)) == len(begun)


async def _recorded(world: World) -> dict[tuple[str, str], object]:
    """Return what is durable under the keys of each execution."""
    return {(id_, event.key): event.value for id_, event in await world.events() if isinstance(event, ev.NodeRecorded)}
