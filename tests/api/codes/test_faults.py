"""The database goes away in the midst of a request, at each call in turn: who asks again gets what they want."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import pytest

from layover.api.routes import ROUTES
from tests.api.codes.scenes import OF_ONE
from tests.api.codes.stage import HEADER, SECRET
from tests.api.harness import Answered, Api

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.registry import Scene
    from tests.api.codes.stage import Stage

# Each route once, as it goes well; streams and those that tell how the database is are another matter.
GOING_WELL = [
    (route, OF_ONE[route.name, status])
    for route in ROUTES
    for status in list(route.answers)[:1]
    if not route.alone and route.name not in ("stream", "follow_changes", "readyz")
]
# What may be done once, and is not known by its idempotency key behind the answer, is told so when it was.
DONE = {
    "delete_workflow": "unknown_workflow",
    "end_key": "unknown_key",
    "end_session": "unknown_session",
    "clear_breakpoint": "unknown_breakpoint",
    "clear_workflow_breakpoint": "unknown_breakpoint",
    "cancel_point": "point_closed",
    "call_back": "token_used",
    "fail_callback": "token_used",
    "resume_trigger": "wrong_state",
    "replay_input": "wrong_state",
    "discard_input": "wrong_state",
}


class Interrupted(Api):
    """Asks as ever; but the last request of a scene meets a fault, and is sent again."""

    def __init__(self, api: Api, route: Route, stage: Stage) -> None:
        self.__dict__.update(vars(api))
        self._route = route
        self._stage = stage
        self.asked = 0
        self.last = 0  # the number of the request that meets a fault, from 1
        self.going_well = 0  # how many calls of the store it may make before that
        self.failed = False

    async def ask(self, method: str, path: str, body: object = None, **asked: Any) -> Answered:
        self.asked += 1
        if self.asked != self.last:
            return await super().ask(method, path, body, **asked)
        name, headers = self._stage.name(), asked.pop("headers", None) or {}
        if self._route.keyed:
            asked["key"] = name
        self._stage.store.left[name] = self.going_well
        answered = await super().ask(method, path, body, headers={**headers, HEADER: name}, **asked)
        self.failed = self._stage.store.left.pop(name) < 0
        if not self.failed or answered.status < 300:
            return answered
        assert (answered.status, answered.code) == (503, "store_unavailable"), answered
        assert SECRET not in answered.body.decode()
        return await super().ask(method, path, body, headers=headers, **asked)


async def played(stage: Stage, route: Route, scene: Scene, *, last: int = 0, going_well: int = 0) -> Interrupted:
    """Play a scene, and see that it comes to its end."""
    on = copy(stage)
    on.api = api = Interrupted(stage.api, route, stage)
    api.last, api.going_well = last, going_well
    answered = await scene(on, route)
    assert answered.status in route.answers or answered.code == DONE.get(route.name), answered
    return api


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(("route", "scene"), GOING_WELL, ids=[route.name for route, _ in GOING_WELL])
async def test_the_same_request_succeeds_after_a_fault(stage: Stage, route: Route, scene: Scene) -> None:
    well = await played(stage, route, scene)
    going_well = 0
    while (await played(stage, route, scene, last=well.asked, going_well=going_well)).failed:
        going_well += 1
