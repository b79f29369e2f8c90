"""What operators do to executions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict

from layover.api.answers import PROBLEMS, Given, answer
from layover.api.audit_entries import entry_of, is_done, key_of
from layover.api.problems import Refusal
from layover.api.request import Reply
from layover.api.resources.executions import Execution, ResumeBody, RewindBody
from layover.api.resources.problems import FieldError
from layover.api.resources.shared import EmptyBody, ReasonBody
from layover.api.routing import Routes
from layover.api.serializers.executions import execution_for
from layover.ports.records import CLOSED
from layover.runtime.errors import WrongState

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery
    from layover.ports.records import AuditEntry, PointRow
    from layover.runtime.operations.timeouts import WaitTimeout
    from layover.runtime.queries import views

routes = Routes(
    "Control",
    "What operators do to executions. One that does not take it within ten seconds, since nothing drives it, is "
    "answered as it is, and takes it later.",
    prefix="/api/v1",
)

_NEEDS: Final = ("execution:cancel",)
_PROBLEMS: Final = ("malformed_id", "unknown_execution", "wrong_state")
_DECIDES: Final = ("approval.approve", "approval.reject")
_TOO_LATE: Final = frozenset({"pause_expired", "deadline_passed"})


class _By(TypedDict):
    """Who does it, how it is known again, and for how long it is waited for."""

    by: str
    key: str | None
    audit: AuditEntry
    within: WaitTimeout


@routes.post(
    "/executions/{id}/pause",
    needs=_NEEDS,
    body=ReasonBody,
    body_required=False,
    answers={200: Execution},
    problems=_PROBLEMS,
)
async def pause_execution(call: Request[ReasonBody, NoQuery]) -> Reply:
    """Hold an execution: nothing starts from here on. One that is held stays so, for the reason that it had."""
    reason = call.body.reason
    by = _by(call, "execution.pause", reason=reason)
    view = await call.engine.pause(call.path["id"], reason or "", **by)
    return Reply(execution_for(call.caller, view))


@routes.post(
    "/executions/{id}/resume",
    needs=_NEEDS,
    body=ResumeBody,
    body_required=False,
    answers={200: Execution},
    problems=(
        *_PROBLEMS,
        "ambiguous_point",
        *(code for code in PROBLEMS if code not in ("not_answerable", "unknown_point")),
    ),
)
async def resume_execution(call: Request[ResumeBody, NoQuery]) -> Reply:
    """Let an execution go on that an operator holds; with `approved`, decide what it waits for.

    `resume_data` becomes part of the variables: at once, or when the decision is applied. Whoever decides must be among
    those who are asked, as with the approval itself.
    """
    body = call.body
    if body.approved is not None:
        return Reply(execution_for(call.caller, await _decided(call, body.approved)))
    try:
        return Reply(execution_for(call.caller, await _resumed(call)))
    except WrongState:
        await _check_in_time(call)
        approved = (body.resume_data or {}).get("approved")
        if approved is None:
            raise
    if not isinstance(approved, bool):
        fault = FieldError(path="resume_data.approved", message="Expected `bool`")
        raise Refusal("invalid_body", "The body is not as it should be.", errors=[fault])
    return Reply(execution_for(call.caller, await _decided(call, approved)))


@routes.post(
    "/executions/{id}/cancel",
    needs=_NEEDS,
    body=ReasonBody,
    body_required=False,
    answers={200: Execution},
    problems=_PROBLEMS,
)
async def cancel_execution(call: Request[ReasonBody, NoQuery]) -> Reply:
    """End an execution, at once."""
    reason = call.body.reason
    by = _by(call, "execution.cancel", reason=reason)
    view = await call.engine.cancel(call.path["id"], reason or "", **by)
    return Reply(execution_for(call.caller, view))


@routes.post(
    "/executions/{id}/retry",
    needs=_NEEDS,
    body=EmptyBody,
    body_required=False,
    answers={200: Execution},
    problems=_PROBLEMS,
)
async def retry_execution(call: Request[EmptyBody, NoQuery]) -> Reply:
    """Go on with a failed execution from what failed, or with what waits for an operator."""
    return Reply(execution_for(call.caller, await call.engine.retry(call.path["id"], **_by(call, "execution.retry"))))


@routes.post(
    "/executions/{id}/rewind",
    needs=_NEEDS,
    body=RewindBody,
    answers={200: Execution},
    problems=(*_PROBLEMS, "unknown_node"),
)
async def rewind_execution(call: Request[RewindBody, NoQuery]) -> Reply:
    """Drop the results of a node and of all that came after it, and go on from there."""
    body = call.body
    by = _by(call, "execution.rewind", to=body.to, reason=body.reason)
    view = await call.engine.rewind(call.path["id"], body.to, body.reason or "", **by)
    return Reply(execution_for(call.caller, view))


def _by(call: Request[Any, Any], act: str, **details: str | None) -> _By:
    """Return who does something, and what is written of it: what they said goes with it, if anything."""
    said: dict[str, Any] = {name: value or None for name, value in details.items()}
    audit = entry_of(call, act, execution_id=call.path["id"].lower(), **said)
    return _By(by=call.caller.user, key=key_of(call, act), audit=audit, within=call.within)


async def _resumed(call: Request[ResumeBody, NoQuery]) -> views.Execution:
    body = call.body
    by = _by(call, "execution.resume", reason=body.reason)
    return await call.engine.resume(call.path["id"], body.resume_data, body.reason or "", **by)


async def _decided(call: Request[ResumeBody, NoQuery], approved: bool) -> views.Execution:  # noqa: FBT001 - it is what is said
    """Decide the only open approval. If an operator holds the execution besides, it goes on with the data then."""
    engine, body, id_ = call.engine, call.body, call.path["id"]
    view = await engine.get(id_)
    for act in _DECIDES:
        if await is_done(call, act, view.id):  # what is open by now is not what was decided
            return view
    row = await _sole_approval(call, view)
    held = body.approved is not None and await _is_held(call)
    rest = {} if held else {name: value for name, value in (body.resume_data or {}).items() if name != "approved"}
    brought = {} if held else (body.resume_data or {})
    given = Given(data=rest or None, approved=approved, comment=body.reason or "", variables=brought)
    taken = await answer(call, row, given)
    if held:
        return await _resumed(call)
    if taken.reserved is not None:
        n = taken.reserved.n
        applied = engine.instance.listeners.until(
            view.id, lambda head: head.commands_done >= n or head.status in CLOSED
        )
        await call.within.keep(applied)
    return await engine.get(id_)


async def _sole_approval(call: Request[ResumeBody, NoQuery], view: views.Execution) -> PointRow:
    found = [row for row in await call.engine.points(view.id) if row.point.kind == "approval"]
    if not found:
        await _check_in_time(call)
        message = f"The execution is {view.status}, and no approval is open."
        raise Refusal("wrong_state", message, current_status=view.status)
    if len(found) > 1:
        message = f"{len(found)} approvals are open: decide each under its own id."
        raise Refusal("ambiguous_point", message, current_status=view.status)
    return found[0]


async def _check_in_time(call: Request[ResumeBody, NoQuery]) -> None:
    """Refuse to go on with what has failed because it was paused for too long."""
    view = await call.engine.get(call.path["id"])
    if view.status == "failed" and view.error is not None and view.error.code in _TOO_LATE:
        raise Refusal("expired", "The time to go on has passed.", current_status=view.status)


async def _is_held(call: Request[ResumeBody, NoQuery]) -> bool:
    """Return whether an operator holds the execution."""
    return any(reason.kind == "operator" for reason in (await call.engine.why(call.path["id"])).reasons)
