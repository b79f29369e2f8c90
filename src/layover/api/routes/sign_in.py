"""The pages on which people sign in and out. They need no JavaScript."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import msgspec
from msgspec import Meta

from layover.api.next_paths import own_path
from layover.api.page_requests import form_token, page_response, read_form, see_other
from layover.api.problems import Refusal
from layover.api.routing import Pages
from layover.core.moments import moment
from layover.pages.sign_in import SignInView, ended_link_page, link_page, refused_page, sign_in_page, signed_in_page
from layover.service.sessions import is_session

if TYPE_CHECKING:
    from layover.api.request import Request, Response
    from layover.api.routing import NoQuery

pages = Pages("Sign-in", "Signing in and out.", prefix="")

_SIGN_IN, _SIGN_OUT, _LINK = "sign-in", "sign-out", "sign-in-link"  # what a form is about
_CALLBACK = "/sign-in/oidc/callback"
_WRONG_KEY = "This key is not valid. Check that all of it was pasted, and that it has not ended."


class SignInQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to go then."""

    next: Annotated[str, Meta(max_length=2_000, description="A path of this server.")] = ""


@pages.get("/sign-in", query=SignInQuery)
async def show_sign_in(call: Request[None, SignInQuery]) -> Response:
    """Show who is signed in, or a form to sign in with."""
    sessions, next_ = call.services.sessions, own_path(call.query.next, call.base)
    row = await sessions.find(sessions.token_in(call.scope, call.headers))
    if row is not None and is_session(call.caller.credential):
        token = form_token(sessions.form_secret(call), _SIGN_OUT)
        view = SignInView(base=call.base, form_token=token, next=next_)
        return page_response(signed_in_page(view, row.user, _until(row.expires_at)))
    return _sign_in(call, next_)


@pages.post("/sign-in")
async def take_sign_in(call: Request[bytes, NoQuery]) -> Response:
    """Sign in with a key."""
    services = call.services
    form = read_form(call, services.sessions.visitor_secret(call), _SIGN_IN)
    next_, key = own_path(form.one("next"), call.base), form.one("key").strip()
    services.guesses.check(call.scope)
    identity = await services.guard.identify(key)
    if identity is None:
        services.guesses.note(call.scope, key, call.request_id)
        await services.sessions.note_refused(call, "key")
        return _sign_in(call, next_, problem=_WRONG_KEY)
    opened = await services.sessions.open(call, identity)
    return see_other(next_ or f"{call.base}/console", cookies=(opened.cookie,))


@pages.get("/sign-in/link/{token}", query=SignInQuery)
async def show_link(call: Request[None, SignInQuery]) -> Response:
    """Show whom a link signs in; the link is used by its button alone."""
    services, token = call.services, call.path["token"]
    services.guesses.check(call.scope)
    row = await services.sessions.find_link(token)
    if row is None:
        return await _ended_link(call)
    secret, cookies = services.sessions.visitor(call)
    view = SignInView(
        base=call.base, form_token=form_token(secret, _LINK, token), next=own_path(call.query.next, call.base)
    )
    return page_response(link_page(view, token, row.user), cookies=cookies)


@pages.post("/sign-in/link/{token}")
async def take_link(call: Request[bytes, NoQuery]) -> Response:
    """Sign in with a link, which ends by that."""
    sessions, token = call.services.sessions, call.path["token"]
    form = read_form(call, sessions.visitor_secret(call), _LINK, token)
    call.services.guesses.check(call.scope)
    opened = await sessions.open_by_link(call, token)
    if opened is None:
        return await _ended_link(call)
    return see_other(own_path(form.one("next"), call.base) or f"{call.base}/console", cookies=(opened.cookie,))


@pages.get("/sign-in/oidc", query=SignInQuery)
async def begin_elsewhere(call: Request[None, SignInQuery]) -> Response:
    """Send a browser to the provider that signs people in."""
    sessions, oidc = call.services.sessions, call.services.oidc
    if oidc is None:
        raise Refusal("not_found", "No provider signs people in here.")
    begun = await oidc.begin(f"{sessions.origin(call)}{_CALLBACK}", own_path(call.query.next, call.base))
    return see_other(begun.location, cookies=(sessions.elsewhere(call, begun.secret),))


@pages.get(_CALLBACK, any_query=True)
async def return_from_elsewhere(call: Request[None, NoQuery]) -> Response:
    """Sign in who comes back from the provider."""
    from layover.api.access.oidc import SignInRefused  # noqa: PLC0415 - only who signs people in loads it

    services, sessions = call.services, call.services.sessions
    if services.oidc is None:
        raise Refusal("not_found", "No provider signs people in here.")
    services.guesses.check(call.scope)
    answered, secret = dict(call.pairs), sessions.elsewhere_secret(call)
    used = sessions.elsewhere(call, "")
    try:
        now = services.runtime.instance.clock.now()
        identity, next_ = await services.oidc.finish(secret, answered, f"{sessions.origin(call)}{_CALLBACK}", now)
    except SignInRefused as refused:
        services.guesses.note(call.scope, answered.get("state", ""), call.request_id)
        await sessions.note_refused(call, "oidc")
        return page_response(refused_page(call.base, str(refused)), 403, cookies=(used,))
    opened = await sessions.open(call, identity)
    return see_other(own_path(next_, call.base) or f"{call.base}/console", cookies=(opened.cookie, used))


@pages.post("/sign-out")
async def take_sign_out(call: Request[bytes, NoQuery]) -> Response:
    """End the session."""
    sessions = call.services.sessions
    if not is_session(call.caller.credential):
        return see_other(f"{call.base}/sign-in")
    form = read_form(call, sessions.form_secret(call), _SIGN_OUT)
    next_ = own_path(form.one("next"), call.base)
    then = f"{call.base}/sign-in?next={quote(next_, safe='/')}" if next_ else f"{call.base}/sign-in"
    return see_other(then, cookies=(await sessions.end(call),))


def _sign_in(call: Request[None, SignInQuery] | Request[bytes, NoQuery], next_: str, problem: str = "") -> Response:
    secret, cookies = call.services.sessions.visitor(call)
    oidc = call.services.oidc
    view = SignInView(
        base=call.base,
        form_token=form_token(secret, _SIGN_IN),
        next=next_,
        provider=oidc.name if oidc is not None else "",
        provider_path=f"{call.base}/sign-in/oidc?next={quote(next_, safe='')}",
        problem=problem,
    )
    return page_response(sign_in_page(view), 401 if problem else 200, cookies=cookies)


async def _ended_link(call: Request[None, SignInQuery] | Request[bytes, NoQuery]) -> Response:
    call.services.guesses.note(call.scope, call.path["token"], call.request_id)
    await call.services.sessions.note_refused(call, "link")
    return page_response(ended_link_page(call.base), 410)


def _until(at: int) -> str:
    """Return a moment for people, with its zone."""
    return f"{moment(at)[:16].replace('T', ' ')} UTC"
