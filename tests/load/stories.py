"""What clients do: each story starts something, has its effect, and sees to it that it had just that effect."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from .clients import must, shown
from .refusals import ask_wrongly

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from .clients import Client
    from .wire import Heard

_PAGES: Final = 3


async def _both(one: Coroutine[None, None, Heard], other: Coroutine[None, None, Heard]) -> list[Heard]:
    """Ask two things at once; if one of them fails, nobody waits for the other."""
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(one), group.create_task(other)]
    return [task.result() for task in asked]


async def run_through(client: Client) -> None:
    """Start what needs nobody, and wait for it in the request or after it."""
    n = client.chance.randrange(1_000)
    found = await client.start("straight", {"n": n}, wait=client.chance.random() < 0.5)
    done = await client.ended(found["id"])
    must(done["output"] == {"sum": n + 1}, "another output", done)


async def start_twice(client: Client) -> None:
    """Send the same start on two connections at once: it is one execution."""
    key, n = client.new_key(), client.chance.randrange(1_000)
    body = {"workflow": "straight", "input": {"n": n}, "tags": [client.name]}
    both = await _both(
        client.ask("POST", "/executions", body, key=key), client.ask("POST", "/executions", body, as_="second", key=key)
    )
    taken = [heard for heard in both if heard.status == 202]
    late = [heard for heard in both if heard.status == 409 and heard.code == "in_progress"]
    must(bool(taken) and len(taken) + len(late) == 2, "one of two", [shown(heard) for heard in both])
    ids = {heard.json["id"] for heard in taken}
    must(len(ids) == 1, "two executions", sorted(ids))
    id_ = ids.pop()
    after = await client.ask("POST", "/executions", body, key=key)
    must(after.status == 202 and after.json["id"] == id_, "another execution", [shown(after), id_])
    other = await client.ask("POST", "/executions", {**body, "input": {"n": n + 1}}, key=key)
    must((other.status, other.code) == (409, "idempotency_mismatch"), "another request", shown(other))
    await client.ended(id_)


async def answer_form(client: Client) -> None:
    """Answer a form, after answers that do not fit; whoever comes later is told who has answered."""
    n, size = client.chance.randrange(1_000), client.chance.randrange(1_000)
    id_, (point,) = await client.waiting("asking", {"n": n})
    must(point["response"] == {"message": f"asked for {n}"}, "another response", point)
    path = f"/pause-points/{point['id']}/answer"
    if client.chance.random() < 0.3:
        unfit = await client.ask("POST", path, {"data": {"size": "large"}})
        must((unfit.status, unfit.code) == (422, "invalid_answer"), "an answer that does not fit", shown(unfit))
    await client.post(path, {"data": {"size": size}}, 201, key=client.new_key())
    late = await client.ask("POST", path, {"data": {"size": size + 1}}, as_="approver")
    must((late.status, late.code) == (409, "already_answered"), "a second answer", shown(late))
    must(late.json["winner"]["by"] == client.name, "another winner", late.json)
    done = await client.ended(id_)
    must(done["output"] == {"size": size}, "another answer", done)


async def race_for_form(client: Client) -> None:
    """Give two answers at once: one of them is taken, and it is the one that has an effect."""
    id_, (point,) = await client.waiting("asking", {"n": 0})
    path = f"/pause-points/{point['id']}/answer"
    both = await _both(
        client.ask("POST", path, {"data": {"size": 1}}),
        client.ask("POST", path, {"data": {"size": 2}}, as_="approver"),
    )
    must(sorted(heard.status for heard in both) == [201, 409], "one of two", [shown(heard) for heard in both])
    done = await client.ended(id_)
    must(done["output"] == {"size": 1 if both[0].status == 201 else 2}, "the loser's answer", done)


async def decide(client: Client) -> None:
    """Approve or reject by one of the ways to do that."""
    id_, (point,) = await client.waiting("review", {})
    approved = client.chance.random() < 0.7
    listed = await client.get(f"/approvals?execution_id={id_}", as_="viewer")
    must([one["id"] for one in listed["items"]] == [point["id"]], "another list of approvals", listed)
    refused = await client.ask("POST", f"/approvals/{point['id']}/approve", {}, as_="viewer")
    must(refused.status == 403, "a viewer decides", shown(refused))
    name = "approve" if approved else "reject"
    path, body, status = client.chance.choice(
        (
            (f"/approvals/{point['id']}/{name}", {"comment": "as it is"}, 201),
            (f"/pause-points/{point['id']}/answer", {"approved": approved}, 201),
            (f"/api/resume/review/{id_}/decide", {"approved": approved}, 202),
        )
    )
    await client.post(path, body, status, as_="approver", key=client.new_key())
    done = await client.ended(id_)
    must(done["outcome"] == ("granted" if approved else "denied"), "another decision", done)
    must(done["output"] == {"by": "approver"}, "another person", done)


async def resume_beside(client: Client) -> None:
    """Resume the branches of an execution in any order, one after the other or all at once."""
    count = client.chance.randint(2, 4)
    id_, points = await client.waiting("beside", {"items": list(range(count))}, count)
    sizes = [client.chance.randrange(1_000) for _ in range(count)]
    client.chance.shuffle(points)
    for point in points:
        size = {"size": sizes[point["parallel_scope"]["index"]]}
        path = f"/api/resume/beside/{id_}/{point['context_id']}"
        heard = await client.post(path, {"input": size}, 202, key=client.new_key())
        told = heard.json
        must(told["executionId"] == id_ and told["contextId"] == point["context_id"], "another point", told)
        must(told["status"] == "started" or told["queuePosition"] >= 1, "neither started nor in line", told)
    done = await client.ended(id_)
    must(done["output"] == [{"size": size} for size in sizes], "other answers", done)


async def hold(client: Client) -> None:
    """Pause an execution and answer it: that has its effect once it is resumed, or none if it is cancelled."""
    size = client.chance.randrange(1_000)
    id_, (point,) = await client.waiting("asking", {"n": 1})
    held = (await client.post(f"/executions/{id_}/pause", {"reason": "load"}, 200, key=client.new_key())).json
    must(held["status"] == "paused", "it is not held", held)
    await client.post(f"/pause-points/{point['id']}/answer", {"data": {"size": size}}, 201, key=client.new_key())
    if client.chance.random() < 0.4:
        over = (await client.post(f"/executions/{id_}/cancel", {"reason": "load"}, 200, key=client.new_key())).json
        must(over["status"] in ("cancelled", "cancelling", "paused", "running"), "it goes on", over)
        await client.ended(id_, "cancelled")
        return
    await client.post(f"/executions/{id_}/resume", {"resume_data": {"more": 1}}, 200, key=client.new_key())
    done = await client.ended(id_)
    must(done["output"] == {"size": size} and done["variables"].get("more") == 1, "another answer", done)


async def cancel(client: Client) -> None:
    """Cancel an execution that waits: nobody can answer it then."""
    id_, (point,) = await client.waiting("asking", {"n": 2})
    await client.post(f"/executions/{id_}/cancel", {"reason": "load"}, 200, key=client.new_key())
    await client.ended(id_, "cancelled")
    late = await client.ask("POST", f"/pause-points/{point['id']}/answer", {"data": {"size": 1}})
    must((late.status, late.code) == (409, "point_closed"), "an answer to what is over", shown(late))


async def signal(client: Client) -> None:
    """Tell an execution what it waits for; the same signal again is ignored."""
    order, amount = client.new_key(), client.chance.randrange(1_000)
    id_ = (await client.start("told", {"order": order}, wait=False))["id"]
    await client.came_to(id_, ("waiting",))
    body = {"name": "load.told", "key": order, "data": {"amount": amount}, "id": f"signal-{order}"}
    sent = (await client.post("/signals", body, 202)).json
    must(sent["matched"] == [id_] and not sent["repeated"], "somebody else was told", sent)
    again = (await client.post("/signals", body, 200)).json
    must(again["repeated"], "it was taken twice", again)
    done = await client.ended(id_)
    must(done["output"] == {"amount": amount}, "another signal", done)


async def look(client: Client) -> None:
    """Look at executions in every way there is."""
    found = await client.start("straight", {"n": client.number}, wait=True)
    id_ = found["id"]
    await client.ended(id_)
    mine = await client.get(f"/executions?tag={client.name}&limit=5", as_="viewer")
    must(mine["items"][0]["id"] == id_, "what was started last does not come first", mine)
    number = await client.get(f"/executions?workflow=straight&tag={client.name}&where=input.n={client.number}")
    must(id_ in [one["id"] for one in number["items"]], "a condition does not find it", number)
    await _page_through(client)
    log = await client.get(f"/executions/{id_}/history")
    must([one["seq"] for one in log["items"]] == list(range(len(log["items"]))), "a gap in the history", log)
    nodes = await client.get(f"/executions/{id_}/nodes")
    must([one["node"] for one in nodes["items"]] == ["add", "keep", "done"], "other nodes", nodes)
    legs = await client.get(f"/executions/{id_}/legs", as_="viewer")
    must(len(legs["items"]) == 1, "other legs", legs)
    graph = await client.get(f"/executions/{id_}/graph")
    must({one["status"] for one in graph["nodes"]} == {"completed"}, "another graph", graph)
    await client.get(f"/executions/{id_}/why", as_="viewer")
    await client.get("/executions/paused?limit=20")
    await client.get("/pause-points?status=open&limit=20", as_="viewer")
    await client.get("/pause-points?for=me&limit=20", as_="approver")
    await client.get(f"/api/workflows/{client.chance.choice(('asking', 'beside'))}/paused?limit=10")
    must((await client.get("/readyz"))["status"] == "ready", "not ready", None)


async def _page_through(client: Client) -> None:
    """Go through some pages of a list: the newest first, and nothing twice."""
    status = client.chance.choice(("completed", "cancelled", "paused", "completed,cancelled"))
    seen: list[tuple[str, str]] = []
    path = f"/executions?status={status}&limit=10"
    cursor = ""
    for _ in range(_PAGES):
        page: Any = await client.get(path + cursor, as_="viewer")
        must(all(one["status"] in status.split(",") for one in page["items"]), f"not only {status}", page)
        seen += [(one["created_at"], one["id"]) for one in page["items"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
    must(seen == sorted(set(seen), reverse=True), "not in order, or twice", seen)


STORIES: Final[tuple[tuple[int, Callable[[Client], Awaitable[None]]], ...]] = (
    (4, run_through),
    (2, start_twice),
    (4, answer_form),
    (2, race_for_form),
    (4, decide),
    (3, resume_beside),
    (3, hold),
    (2, cancel),
    (3, signal),
    (3, look),
    (2, ask_wrongly),
)
