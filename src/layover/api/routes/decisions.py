"""The decision page: what a person who was asked sees, and the forms that they send.

Reading decides nothing, however often a scanner of mails follows a link. A form is taken if it holds the token that
was made for this visitor, and is judged by the same operations as a request of the API. An answer pins the view that
the page has shown: if the point shows something else by then, it is not taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from msgspec.structs import replace

from layover.api.page_requests import PostedForm, form_token, page_response, read_form, see_other
from layover.api.problems import Refusal, refusal_of
from layover.api.routing import Pages
from layover.core.moments import Moment
from layover.core.point_questions import LONGEST_QUESTION
from layover.errors import LayoverError
from layover.interface.bounds import COMMENT as LONGEST_COMMENT
from layover.interface.bounds import SHORT, check_seen, check_text
from layover.interface.requests import PointAnswer
from layover.pages.decision import decision_page
from layover.pages.decision_notices import link_over_page, not_you_page, sign_in_page
from layover.pages.decision_view import COMMENT, SEEN, DecisionView, PageProblem, form_fields
from layover.pages.form_fields import PREFIX, WHOLE, typed_data
from layover.pages.view_parts import VIEW_PARTS, changed_parts, part_hashes
from layover.ports.access import LinkRow
from layover.runtime.queries.views import context_of
from layover.service.answers import point_row
from layover.service.links import visitor_of
from layover.service.permissions import NOBODY
from layover.service.sessions import is_session

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.api.request import Request, Response
    from layover.api.routing import NoQuery
    from layover.model.access import Caller
    from layover.model.points import PausePoint
    from layover.model.problems import ProblemDetails
    from layover.ports.records import PointRow
    from layover.service.service import UserService

pages = Pages("Decision page", "What a person who was asked sees.", prefix="/d")

_KEPT: Final = (COMMENT, "to", "question", "reply")  # fields that a page gives back
_LONGEST_NUMBER: Final = 4  # digits
_LEFT_BEHIND: Final = frozenset({"applied", "cancelled"})  # then the execution may have gone back, or around a loop
_FOR_PEOPLE: Final = frozenset({"approval", "form"})


class _Visit(NamedTuple):
    """A visitor at a point: as whom they act, what proves it, and where its forms are sent."""

    service: UserService
    row: PointRow
    path: str
    secret: bytes

    @property
    def caller(self) -> Caller:
        return self.service.actor.caller

    def token(self) -> str:
        return form_token(self.secret, self.row.point.id, self.caller.user)


@pages.get("/{token}", by_link=True)
async def show_by_link(call: Request[None, NoQuery]) -> Response:
    """Show the page of a link."""
    return await _show(call, await _by_link(call))


@pages.post("/{token}", by_link=True)
async def decide_by_link(call: Request[bytes, NoQuery]) -> Response:
    """Take a form of the page of a link."""
    return await _take(call, await _by_link(call))


@pages.get("/p/{point}")
async def show_point(call: Request[None, NoQuery]) -> Response:
    """Show the page of a point to a user who is signed in."""
    return await _show(call, await _by_point(call))


@pages.post("/p/{point}")
async def decide_at_point(call: Request[bytes, NoQuery]) -> Response:
    """Take a form of the page of a point."""
    return await _take(call, await _by_point(call))


# Who visits what


async def _by_link(call: Request[Any, NoQuery]) -> _Visit | Response:
    """Return the visit of a link's holder, or the page that says what is missing. It tells nothing of the point."""
    link, token = call.admitted, call.path["token"]
    if not isinstance(link, LinkRow):
        raise Refusal("unknown_token", _UNKNOWN)
    now = call.services.runtime.instance.clock.now()
    if link.revoked_at is not None or (link.expires_at is not None and link.expires_at <= now):
        return page_response(link_over_page(is_revoked=link.revoked_at is not None), 410)
    caller = call.caller
    if call.services.settings.link_identity == "link":
        caller = await visitor_of(call.services.runtime, link)
    elif caller is NOBODY:
        return _sign_in(call)
    elif caller.user != link.user:
        return page_response(not_you_page(link.user, caller.user, _sign_in_path(call)), 403)
    secret = token.encode()
    if call.services.settings.link_identity != "link":
        secret += b"\0" + _secret_of(call)  # who only knows the link cannot make the token of a form
    service = call.service if caller is call.caller else call.service_of(caller)
    row = await point_row(service.actor, link.point)
    return _Visit(service, row, f"{call.base}/d/{token}", secret)


async def _by_point(call: Request[Any, NoQuery]) -> _Visit | Response:
    if call.caller is NOBODY:
        return _sign_in(call)
    service = call.service
    service.actor.require("execution:read")
    row = await point_row(service.actor, call.path["point"])
    if row.point.kind not in _FOR_PEOPLE:
        raise Refusal("not_answerable", f"A {row.point.kind} is not answered by a person.")
    return _Visit(service, row, f"{call.base}/d/p/{row.point.id}", _secret_of(call))


def _secret_of(call: Request[Any, NoQuery]) -> bytes:
    """Return what the forms of a user are bound to: the session, or the credentials that each request shows."""
    if is_session(call.caller.credential):
        return call.services.sessions.form_secret(call)
    return (call.headers.get("authorization") or call.headers.get("x-api-key") or "").encode()


_UNKNOWN: Final = "This link leads nowhere: it is not complete, or what it was for has been deleted."


def _sign_in(call: Request[Any, NoQuery]) -> Response:
    return page_response(sign_in_page(_sign_in_path(call)), 401, {"www-authenticate": "Bearer"})


def _sign_in_path(call: Request[Any, NoQuery]) -> str:
    """Return where to sign in and come back from; the token in the path is in an address of this server only."""
    here = f"/d/{call.path['token']}" if "token" in call.path else f"/d/p/{call.path['point']}"
    return f"{call.base}/sign-in?next={quote(f'{call.base}{here}', safe='/')}"


# Showing


async def _show(call: Request[Any, NoQuery], visit: _Visit | Response) -> Response:
    return await _page(call, visit) if isinstance(visit, _Visit) else visit


async def _page(
    call: Request[Any, NoQuery],
    visit: _Visit,
    status: int = 200,
    problem: PageProblem | None = None,
    form: PostedForm | None = None,
) -> Response:
    """Return the page as the point is now; with what was typed, if that was not taken."""
    point = await visit.service.points.describe(visit.row)
    is_asked_anew = visit.row.status in _LEFT_BEHIND and await _is_asked_anew(visit)
    if is_asked_anew and visit.row.status == "cancelled":
        point = replace(point, status="superseded")
    shown = DecisionView(
        point=point,
        user=visit.caller.user,
        path=visit.path,
        form_token=visit.token(),
        now=Moment.of(call.services.runtime.instance.clock.now()),
        zone=await _zone(visit),
        by_link=visit.caller.credential.startswith("link "),
        why_not=_why_not(point),
        problem=problem,
        typed=form.under(PREFIX) if form is not None else None,
        view_parts=part_hashes(point),
        next=await _next(call, visit, point),
        is_asked_anew=is_asked_anew,
        texts={name: form.one(name) for name in _KEPT} if form is not None else {},
    )
    return page_response(decision_page(shown), status)


async def _next(call: Request[Any, NoQuery], visit: _Visit, point: PausePoint) -> str | None:
    """Return the page of what waits next for a user who has signed in and is done here."""
    is_done = point.status != "open" or any(one.by == visit.caller.user for one in point.decisions)
    if not is_done or not is_session(visit.caller.credential):
        return None
    waiting = await visit.service.points.inbox(None, (), None, 2, None)
    return next((f"{call.base}/d/p/{one.id}" for one in waiting.items if one.id != point.id), None)


async def _is_asked_anew(visit: _Visit) -> bool:
    """Return whether the same is asked once more, because the execution went back, or came here again."""
    found = await visit.service.actor.runtime.points.find(visit.row.execution_id, context_of(visit.row.point))
    return found is not None and found.point.id != visit.row.point.id


async def _zone(visit: _Visit) -> str:
    """Return the time zone of the visitor, if the directory knows it."""
    try:
        people = await visit.service.actor.runtime.instance.directory.people([visit.caller.user], [])
    except LayoverError:
        return ""
    return next((one.zone for one in people if one.user == visit.caller.user), "")


def _why_not(point: PausePoint) -> tuple[str, str] | None:
    """Return why the visitor may not answer now, or None if they may."""
    if point.status != "open" or point.may is None or point.may.answer:
        return None
    refused = point.may.why_not
    return ("forbidden", "") if refused is None else (refused.code, refused.message)


# Taking


async def _take(call: Request[bytes, NoQuery], visit: _Visit | Response) -> Response:
    if not isinstance(visit, _Visit):
        return visit
    form = read_form(call, visit.secret, visit.row.point.id, visit.caller.user)
    act = _ACTS.get(form.one("act"))
    if act is None:
        raise Refusal("malformed", "The form does not say what to do.")
    try:
        refused = await act(visit, form)
    except LayoverError as error:
        refusal = refusal_of(error)
        if refusal is None or refusal.status >= 500 or refusal.code == "rate_limited":
            raise
        visit = visit._replace(row=await point_row(visit.service.actor, visit.row.point.id))
        point = await visit.service.points.describe(visit.row)
        return await _page(call, visit, refusal.status, _problem(point, form, refusal.problem(call.request_id)), form)
    if refused is not None:
        return await _page(call, visit, 422, refused, form)
    return see_other(visit.path)


def _problem(point: PausePoint, form: PostedForm, refused: ProblemDetails) -> PageProblem | None:
    """Return what the page says about a refusal; a point that is over says it by itself."""
    if refused.code == "point_changed":
        parts = changed_parts(form.one(VIEW_PARTS), part_hashes(point))
        text = f"{parts} changed since you opened this page. Look again, then send it once more: nothing was sent yet."
        return PageProblem(title="What you saw has changed", text=text)
    if refused.code == "comment_required":
        return PageProblem(title="A comment is needed", comment="Say why.")
    if refused.code == "invalid_answer":
        fields = {one.name for one in form_fields(point)}
        found: dict[str, str] = {}
        for one in refused.errors:
            name = one.path.partition("/")[0]
            found.setdefault(name if name in fields else WHOLE, one.message)
        rest = found.pop(WHOLE, "") if WHOLE not in fields else ""
        return PageProblem(title="This does not fit yet", text=rest, fields=found)
    if point.status != "open" or refused.code in ("not_your_turn", "already_decided", "requester_excluded"):
        return None
    return PageProblem(title="This did not work", text=refused.detail)


async def _approve(visit: _Visit, form: PostedForm) -> PageProblem | None:
    return await _answer(visit, form, approved=True)


async def _reject(visit: _Visit, form: PostedForm) -> PageProblem | None:
    return await _answer(visit, form, approved=False)


async def _answer(visit: _Visit, form: PostedForm, *, approved: bool | None = None) -> PageProblem | None:
    """Answer the point with what was typed, as the API does; return what is wrong if that cannot be data at all."""
    point = await visit.service.points.describe(visit.row)
    typed = typed_data(form_fields(point), form.under(PREFIX))
    if typed.errors:
        return PageProblem(title="This does not fit yet", fields=typed.errors)
    comment = form.one(COMMENT).strip()
    check_text("comment", comment, LONGEST_COMMENT)
    seen = form.one(SEEN) or None
    check_seen(seen, SEEN)
    answer = PointAnswer(data=typed.data, approved=approved, comment=comment, seen=seen)
    await visit.service.points.answer(point.id, answer)
    return None


async def _delegate(visit: _Visit, form: PostedForm) -> PageProblem | None:
    to = form.one("to").strip()
    if not to:
        return PageProblem(title="Who decides in your place?", text="Write their user name.")
    check_text("to", to, SHORT, 1)
    await visit.service.points.delegate(visit.row.point.id, to, form.one(COMMENT).strip(), None)
    return None


async def _take_back(visit: _Visit, _form: PostedForm) -> PageProblem | None:
    await visit.service.points.take_back(visit.row.point.id, "", None)
    return None


async def _claim(visit: _Visit, form: PostedForm) -> PageProblem | None:
    await visit.service.points.claim(visit.row.point.id, take=form.one("act") == "take", idempotency_key=None)
    return None


async def _release(visit: _Visit, _form: PostedForm) -> PageProblem | None:
    await visit.service.points.release(visit.row.point.id)
    return None


async def _ask(visit: _Visit, form: PostedForm) -> PageProblem | None:
    question = form.one("question").strip()
    if not question:
        return PageProblem(title="What do you want to know?", text="Write your question.")
    check_text("question", question, LONGEST_QUESTION, 1)
    await visit.service.points.ask(visit.row.point.id, question, None, None)
    return None


async def _reply(visit: _Visit, form: PostedForm) -> PageProblem | None:
    text, number = form.one("reply").strip(), form.one("number")
    if not text:
        return PageProblem(title="What is the reply?", text="Write it down.")
    check_text("reply", text, LONGEST_QUESTION, 1)
    known = int(number) if number.isdecimal() and len(number) < _LONGEST_NUMBER else None
    await visit.service.points.reply(visit.row.point.id, text, known, None)
    return None


_ACTS: Final[dict[str, Callable[[_Visit, PostedForm], Awaitable[PageProblem | None]]]] = {
    "approve": _approve,
    "reject": _reject,
    "answer": _answer,
    "delegate": _delegate,
    "claim": _claim,
    "take": _claim,
    "take_back": _take_back,
    "release": _release,
    "ask": _ask,
    "reply": _reply,
}
