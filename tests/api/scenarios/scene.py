"""What the scenarios are made of: all is done over HTTP; the engine is only looked at, to wait for what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.ports.records import CLOSED
from tests.runtime.harness import approval, end, until

if TYPE_CHECKING:
    from layover.ports.records import Head
    from tests.api.harness import Answered, Api

MIA, BEN, EVE = "mia:operator,approver", "ben:operator,approver", "eve:operator,approver"
REVIEW: dict[str, Any] = {
    "name": "flow",
    "nodes": [
        approval(next={"approved": "yes", "rejected": "no"}),
        end("approved", "yes"),
        end("rejected", "no"),
    ],
}
AT_REST = frozenset({"paused", "waiting", *CLOSED})


async def save(api: Api, workflow: dict[str, Any]) -> int:
    """Keep a definition, and return which version it is."""
    saved = await api.put(f"/workflows/{workflow['name']}", workflow)
    assert saved.status in (200, 201), saved.body
    version: int = saved.json["version"]
    return version


async def start(api: Api, given: object = None, workflow: str = "flow", *, wait: bool = True) -> dict[str, Any]:
    """Start an execution, and return it when it rests for a person or has ended; or at once, if nothing is awaited."""
    body = {"workflow": workflow, "input": given, **({"wait": "60s"} if wait else {})}
    started = await api.post("/executions", body, as_=MIA)
    assert started.status in (200, 202), started.body
    told: dict[str, Any] = started.json
    return told


async def get(api: Api, path: str) -> Any:
    """Return what is there, as somebody who may only read."""
    answered = await api.get(path, as_="viewer")
    assert answered.status == 200, answered.body
    return answered.json


async def execution(api: Api, id_: str) -> dict[str, Any]:
    told: dict[str, Any] = await get(api, f"/executions/{id_}")
    return told


async def settled(api: Api, id_: str) -> dict[str, Any]:
    """Return an execution once it has taken in all that it was told, and rests or has ended."""

    def is_settled(head: Head) -> bool:
        return head.status in AT_REST and (head.status in CLOSED or head.commands_done >= head.commands_seq)

    await until(api.engine, id_, is_settled)
    return await execution(api, id_)


async def output(api: Api, id_: str) -> object:
    """Return what an execution came to, once it has."""
    await until(api.engine, id_, lambda head: head.status in CLOSED)
    told = await execution(api, id_)
    assert told["status"] == "completed", told
    return told["output"]


async def points(api: Api, id_: str, *status: str) -> dict[str, dict[str, Any]]:
    """Return the pause points of an execution by where they stand: the open ones, or those of a status."""
    wanted = "".join(f"&status={one}" for one in status or ("open",))
    listed = await get(api, f"/pause-points?limit=100&execution_id={id_}{wanted}")
    return {item["context_id"]: item for item in listed["items"]}


async def answer(api: Api, point: str, data: object = None, as_: str = MIA) -> Answered:
    return await api.post(f"/pause-points/{point}/answer", {"data": data}, as_=as_)


async def resume(api: Api, id_: str, context: str, data: object = None, as_: str = MIA) -> Answered:
    """Resume at a place, on the path that speaks camelCase."""
    return await api.post(f"/api/resume/flow/{id_}/{context}", {"input": data}, as_=as_)


async def paused(api: Api, workflow: str = "flow") -> list[dict[str, Any]]:
    """Return what is paused in a workflow, as the path that speaks camelCase tells it."""
    listed: list[dict[str, Any]] = (await get(api, f"/api/workflows/{workflow}/paused"))["executions"]
    return listed


async def history(api: Api, id_: str) -> list[tuple[str, str | None]]:
    """Return what happened in an execution: the type of each event, and where."""
    found: list[tuple[str, str | None]] = []
    since: int | None = 0
    while since is not None:
        page = await get(api, f"/executions/{id_}/history?limit=100&since={since}")
        found += [(event["type"], event.get("context_id")) for event in page["items"]]
        since = page["items"][-1]["seq"] + 1 if page["next"] is not None else None
    return found


async def audited(api: Api, id_: str) -> list[tuple[str, str]]:
    """Return who did what to an execution, the oldest first, as the audit log tells."""
    answered = await api.get(f"/audit?execution_id={id_}")
    assert answered.status == 200, answered.body
    return [(entry["user"], entry["act"]) for entry in reversed(answered.json["items"])]


def branches(id_: str = "all", /, **bodies: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a parallel with branches of their own names."""
    return {"id": id_, "type": "parallel", "branches": [{"id": name, "body": body} for name, body in bodies.items()]}


def rounds(id_: str, times: int, *body: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return a loop."""
    return {"id": id_, "type": "loop", "times": times, "body": list(body), **fields}
