"""Sessions: a browser that has shown a credential once is known by a cookie for twelve hours.

The API takes the cookie only with `X-Layover-Console: 1`, which no form can send, and another site only by a permission
(CORS) that is never granted; and not if the browser says that another site has sent it. A page takes the cookie as it
is: what it shows, other sites cannot read, and its forms have a token that is bound to the session.

Whoever signs in gets a new session, whatever cookie was there before, and the one before it ends.
"""

from __future__ import annotations

import secrets
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urlsplit

from layover.api.access.recent import RecentlyUsed
from layover.api.cookies import cookie_name, is_https, read_cookie, set_cookie
from layover.api.log_limits import LogLimit
from layover.api.problems import Refusal
from layover.ports.access import SessionRow
from layover.ports.audit_entries import SALT_BYTES, audit_row
from layover.runtime.ids import new_id
from layover.service.api_keys import ADMIN_KEY, hash_of
from layover.service.permissions import caller_of
from layover.service.sessions import (
    MOST_SESSIONS,
    hash_of_token,
    is_session,
    link_credential,
    made_session,
    new_token,
    session_credential,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.types import Scope

    from layover.api.access.config import AccessSettings
    from layover.api.access.identity import Identity
    from layover.api.request import Request
    from layover.api.trusted_proxies import TrustedProxies
    from layover.model.access import Caller
    from layover.ports.families.sessions import SessionStore
    from layover.ports.records import AuditRow
    from layover.runtime.runtime import Runtime

CONSOLE_HEADER: Final = "x-layover-console"
_READING: Final = ("GET", "HEAD")
_SESSION, _VISITOR, _ELSEWHERE = "session", "visitor", "elsewhere"  # purposes of cookies
_ELSEWHERE_SECONDS: Final = 600
_VISITOR_BYTES: Final = 32
_VISITOR_SECONDS: Final = 12 * 3_600
_ENTRIES, _SECONDS = 30, 60.0  # of refused sign-ins, in the audit log


class OpenedSession(NamedTuple):
    """A session, and the cookie that it is known by."""

    row: SessionRow
    cookie: str


class Sessions:
    """Knows browsers by their cookies."""

    def __init__(
        self,
        runtime: Runtime,
        access: AccessSettings,
        proxies: TrustedProxies,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._runtime = runtime
        self._proxies = proxies
        self._admin_hash = hash_of(access.admin_key) if access.admin_key else None
        self._recent = RecentlyUsed[SessionRow](self._read, clock)
        self._refused = LogLimit(_ENTRIES, _SECONDS, clock)

    # Who is it

    def token_in(self, scope: Scope, headers: Mapping[str, str]) -> str:
        """Return what the cookie of a session holds; nothing if there is no such cookie."""
        return self._cookie(scope, headers, _SESSION) if "cookie" in headers else ""

    async def caller_of(self, token: str) -> Caller | None:
        """Return who is signed in; None if nobody is, any more."""
        row = await self.find(token)
        return caller_of(row.user, row.roles, session_credential(row.id), row.scopes) if row is not None else None

    async def find(self, token: str) -> SessionRow | None:
        """Return a session that has not ended, as it was at most a moment ago."""
        hash_ = hash_of_token(token, "session", self._admin_hash)
        row = await self._recent.find(hash_) if hash_ is not None else None
        return row if row is not None and row.expires_at > self._now() else None

    def is_own(self, headers: Mapping[str, str]) -> bool:
        """Return whether a request says that a page of this server has sent it."""
        return headers.get(CONSOLE_HEADER) == "1"

    def check_own(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Refuse a request with a cookie that another site may have sent."""
        if not self.is_own(headers):
            message = "A cookie counts only together with the header X-Layover-Console: 1."
            raise Refusal("cross_site", message)
        # Every browser says with an act where it comes from. With a read it may not: without https most do not.
        if scope["method"] not in _READING and "sec-fetch-site" not in headers and "origin" not in headers:
            message = (
                "With a cookie, a request that is no GET has to say where it comes from: by Origin or Sec-Fetch-Site."
            )
            raise Refusal("cross_site", message)
        self.check_origin(scope, headers)

    def check_origin(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Refuse a request of which the browser says that it comes from another origin. A program says nothing."""
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        is_other = site not in (None, "same-origin", "none")
        if origin is not None and (origin != "null" or site is None):
            is_other = is_other or not self._is_own_origin(origin, scope, headers)
        if is_other:
            raise Refusal("cross_site", "This request was sent by another site.")

    def _is_own_origin(self, origin: str, scope: Scope, headers: Mapping[str, str]) -> bool:
        public = urlsplit(self._public_url)
        if origin == f"{public.scheme}://{public.netloc}":
            return True
        scheme, _, host = origin.partition("://")
        # A proxy that ends TLS may not be named as trusted: then the scheme that the browser used is not known.
        schemes = ("https",) if self.is_secure(scope, headers) else ("http", "https")
        return scheme in schemes and host == headers.get("host")

    # Signing in and out

    async def open(self, call: Request[Any, Any], identity: Identity) -> OpenedSession:
        """Open a session for whoever has shown a credential, in the place of the one that there was."""
        caller, now = identity.caller, self._now()
        token = new_token(of_admin_key=caller.credential == ADMIN_KEY)
        hash_ = hash_of_token(token, "session", self._admin_hash)
        if hash_ is None:
            raise AssertionError("it was made just now")
        row = made_session(
            now,
            hash_,
            user=caller.user,
            roles=tuple(caller.roles),
            scopes=identity.scopes,
            opened_by=caller.credential,
            key_id=identity.key_id,
            expires_at=identity.expires_at,
        )
        entry = self._entry("session.open", row.id, call, user=row.user, credential=row.opened_by)
        await self._store.open_session(row, MOST_SESSIONS, entry)
        await self._end_before(call)
        return OpenedSession(row, self._set(call, _SESSION, token, (row.expires_at - now) // 1000))

    async def open_by_link(self, call: Request[Any, Any], link: str) -> OpenedSession | None:
        """Open a session for the user of a link, which ends by that; None if it has ended before."""
        row, now, token = await self.find_link(link), self._now(), new_token()
        hash_ = hash_of_token(token, "session")
        if row is None or hash_ is None:
            return None
        made = made_session(
            now,
            hash_,
            user=row.user,
            roles=row.roles,
            scopes=row.scopes,
            opened_by=link_credential(row.id),
            key_id=row.key_id,
        )
        entry = self._entry("session.open", made.id, call, user=made.user, credential=made.opened_by)
        if not await self._store.use_link(row.hash, made, now, MOST_SESSIONS, entry):
            return None
        await self._end_before(call)
        return OpenedSession(made, self._set(call, _SESSION, token, (made.expires_at - now) // 1000))

    async def find_link(self, token: str) -> SessionRow | None:
        """Return a sign-in link that can still be used."""
        hash_ = hash_of_token(token, "link")
        row = await self._store.find_session(hash_, self._now()) if hash_ is not None else None
        return row if row is not None and row.kind == "link" else None

    async def end(self, call: Request[Any, Any]) -> str:
        """End the session of a caller, and return the cookie that takes its place: none."""
        await self._end_before(call)
        return self._set(call, _SESSION, "", 0)

    def forget(self, session_id: str) -> str:
        """Look a session up again that has ended; return by what its caller is known."""
        self._recent.forget(lambda row: row.id == session_id)
        return session_credential(session_id)

    def forget_key(self, key_id: str) -> list[str]:
        """Look sessions up again whose key has ended; return by what their callers are known."""
        return [session_credential(row.id) for row in self._recent.forget(lambda row: row.key_id == key_id)]

    async def note_refused(self, call: Request[Any, Any], by: str) -> None:
        """Write down that a sign-in was refused: only so many of them, since strangers can cause it."""
        left_out = self._refused.take()
        if left_out is not None:
            details = {"by": by, **({"left_out": left_out} if left_out else {})}
            await self._store.note_refused(self._entry("session.refuse", "", call, details=details))

    async def _end_before(self, call: Request[Any, Any]) -> None:
        """End the session that the cookie of a request is of."""
        token = self.token_in(call.scope, call.headers)
        row = await self.find(token)
        if row is None:
            return
        credential = session_credential(row.id)
        entry = self._entry("session.end", row.id, call, user=row.user, credential=credential)
        await self._store.end_session(row.hash, entry)
        call.services.forget_session(row.id)

    # Forms of pages

    def form_secret(self, call: Request[Any, Any]) -> bytes:
        """Return what the forms of a visitor are bound to: the session, or the cookie of one who is not signed in."""
        if is_session(call.caller.credential):
            return self.token_in(call.scope, call.headers).encode()
        return self.visitor_secret(call)

    def visitor_secret(self, call: Request[Any, Any]) -> bytes:
        """Return what the forms are bound to that a visitor signs in with, whoever is signed in by now."""
        return self._cookie(call.scope, call.headers, _VISITOR).encode()

    def visitor(self, call: Request[Any, Any]) -> tuple[bytes, tuple[str, ...]]:
        """Return what sign-in forms are bound to, with the cookie to set if there was none."""
        secret = self.visitor_secret(call)
        if secret:
            return secret, ()
        made = secrets.token_urlsafe(_VISITOR_BYTES)
        return made.encode(), (self._set(call, _VISITOR, made, _VISITOR_SECONDS),)

    # Signing in elsewhere

    def origin(self, call: Request[Any, Any]) -> str:
        """Return where the browser has this server, with its base path."""
        scheme = "https" if self.is_secure(call.scope, call.headers) else "http"
        return f"{scheme}://{call.headers.get('host', '')}{call.base}"

    def elsewhere(self, call: Request[Any, Any], secret: str) -> str:
        """Return the cookie that binds a sign-in elsewhere to the browser that began it; without a secret, none."""
        return self._set(call, _ELSEWHERE, secret, _ELSEWHERE_SECONDS if secret else 0)

    def elsewhere_secret(self, call: Request[Any, Any]) -> str:
        """Return what a sign-in elsewhere is bound to."""
        return self._cookie(call.scope, call.headers, _ELSEWHERE)

    # Cookies

    def is_secure(self, scope: Scope, headers: Mapping[str, str]) -> bool:
        """Return whether a browser has sent a request by https."""
        return is_https(scope, headers, self._proxies, self._public_url)

    def _cookie(self, scope: Scope, headers: Mapping[str, str], purpose: str) -> str:
        secure = self.is_secure(scope, headers)
        return read_cookie(headers, cookie_name(purpose, headers, scope.get("root_path", ""), secure=secure))

    def _set(self, call: Request[Any, Any], purpose: str, value: str, seconds: int) -> str:
        secure = self.is_secure(call.scope, call.headers)
        name = cookie_name(purpose, call.headers, call.base, secure=secure)
        return set_cookie(name, value, base=call.base, seconds=seconds, secure=secure)

    # What it is done with

    async def _read(self, hash_: bytes) -> SessionRow | None:
        return await self._store.find_session(hash_, self._now())

    def _now(self) -> int:
        return self._runtime.instance.clock.now()

    @property
    def _store(self) -> SessionStore:
        return self._runtime.instance.store.sessions

    @property
    def _public_url(self) -> str:
        return self._runtime.instance.settings.public_url

    def _entry(
        self,
        act: str,
        target: str,
        call: Request[Any, Any],
        *,
        user: str = "",
        credential: str = "",
        details: Mapping[str, object] | None = None,
    ) -> AuditRow:
        instance = self._runtime.instance
        now = instance.clock.now()
        return audit_row(
            id=new_id(now),
            at=now,
            user=user,
            act=act,
            salt=instance.machine.secret(SALT_BYTES),
            target=target,
            credential=credential,
            address=call.address,
            request_id=call.request_id,
            details=details,
        )
