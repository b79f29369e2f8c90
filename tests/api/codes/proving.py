"""What is answered to those who want a proof of what was decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.codes.asking import ANN
from tests.api.codes.registry import route
from tests.api.codes.taking_back import REVOCABLE, answered
from tests.runtime.harness import approval

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Begun, Stage
    from tests.api.harness import Answered


async def receipt(stage: Stage, route: Route, begun: Begun, as_: str = ANN) -> Answered:
    """Ask for the receipt of the user's own decision, in the way of a route."""
    path = f"/pause-points/{begun.points['review']}"
    own = route.name == "get_own_receipt"
    return await stage.api.get(f"{path}/receipt" if own else f"{path}/receipts/{as_.partition(':')[0]}", as_=as_)


@route("get_receipt", 200)
@route("get_own_receipt", 200)
async def sealed(stage: Stage, route: Route) -> Answered:
    begun, instance = await answered(stage, approval()), stage.engine.instance
    while await instance.store.seals.is_waiting():  # another instance may be sealing it just now
        await instance.sealer.seal_all()
    return await receipt(stage, route, begun)


@route("get_receipt", "not_final")
@route("get_own_receipt", "not_final")
async def what_can_be_taken_back(stage: Stage, route: Route) -> Answered:
    return await receipt(stage, route, await answered(stage, REVOCABLE))


@route("get_receipt", "unknown_receipt")
@route("get_own_receipt", "unknown_receipt")
async def what_was_not_decided(stage: Stage, route: Route) -> Answered:
    return await receipt(stage, route, await stage.begun(approval()))


@route("audit_keys", 200)
async def the_keys(stage: Stage, _route: Route) -> Answered:
    return await stage.api.get("/.well-known/layover-keys.json", as_="")
