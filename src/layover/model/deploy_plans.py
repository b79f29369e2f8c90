"""What a new version of a workflow would mean to its open executions."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from layover.model.shared import Body, Reason, Resource

MoveKindName = Literal["same", "changed", "moved", "gone"]
_NodeId = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]
NodeMap = Annotated[dict[_NodeId, _NodeId], Meta(max_length=100)]


class MoveBody(Body, frozen=True, kw_only=True):
    """The version by which an execution is to go on; `map` has the new ids of nodes by their old ones."""

    version: Annotated[int, Meta(ge=1)]
    map: NodeMap = {}
    reason: Reason | None = None


class DeployGroup(Resource, frozen=True, kw_only=True):
    """Open executions to which a version means the same.

    `same`: what they wait for is as it was. `changed`: it has changed. `moved`: it is at another place. `gone`: it is
    not there. Nodes in rounds are named once for all rounds, as `review:orders.*`.
    """

    kind: MoveKindName
    can_move: bool
    code: str | None = None  # why they cannot be moved
    reason: str = ""
    nodes: tuple[str, ...] = ()  # where they stand
    asked_again: tuple[str, ...] = ()  # nodes that would ask people anew
    runs: tuple[str, ...] = ()  # new nodes that would run at once
    passed: tuple[str, ...] = ()  # new nodes that would never run for them
    count: int
    sample: tuple[str, ...] = ()  # the ids of some of them


class DeployPlan(Resource, frozen=True, kw_only=True):
    """What a version would mean to the open executions of its workflow; nothing is changed."""

    workflow: str
    version: int | None = None  # its number, if it is registered
    hash: str
    map: dict[str, str] = {}
    total: int = 0
    more: bool = False  # there are more than were looked at
    can_move: int = 0
    groups: tuple[DeployGroup, ...] = ()
