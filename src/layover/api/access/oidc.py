"""Signing in by a provider elsewhere (OpenID Connect): authorization code with PKCE, and a token that says who it is.

One secret in a cookie binds a sign-in to the browser that began it: state, nonce and PKCE verifier are made of it, so
there is nothing to keep, and any instance can finish what another has begun. What the provider says is believed only if
its token is signed by its keys, for us, now, and for this sign-in. Roles come from a claim by a map: a value that the
map does not name gives none, and who has no role is not let in.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from base64 import b64encode, urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit

import msgspec
from msgspec import Meta

from layover.api.access.config import JwtSettings, is_safe_address
from layover.api.access.identity import Identity
from layover.api.access.jwks import read_address
from layover.api.access.tokens import Tokens
from layover.api.problems import Refusal
from layover.model.name_rules import fault_in_name
from layover.service.permissions import caller_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from layover.api.access.config import OidcSettings

_log = logging.getLogger("layover.api")

SECRET_NAME: Final = "OIDC_CLIENT_SECRET"  # noqa: S105 - the name of a secret
CREDENTIAL: Final = "oidc"
_BYTES: Final = 32
_READ_AGAIN_AFTER: Final = 600.0  # seconds
_AT_ONCE: Final = 4  # requests to the provider; each may take a thread for as long as it is waited for
_LONGEST_QUEUE: Final = 10.0  # seconds
_LONGEST_NAME: Final = 255
_MOST_VALUES: Final = 1_000  # of the claim with roles
_REFUSED: Final = range(400, 500)

_Address = Annotated[str, Meta(max_length=2_000)]


class SignInRefused(Exception):  # noqa: N818 - it says what happened to the sign-in
    """A sign-in that the provider, or what it said, does not permit; the text is for the person."""


class _Provider(msgspec.Struct, frozen=True):
    """What the provider publishes of itself."""

    issuer: str
    authorization_endpoint: _Address
    token_endpoint: _Address
    jwks_uri: _Address
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _TokenReply(msgspec.Struct, frozen=True):
    """What a code is exchanged for; only the token that says who it is matters here."""

    id_token: Annotated[str, Meta(max_length=50_000)]


class _Known(NamedTuple):
    provider: _Provider
    tokens: Tokens
    read_at: float


class BegunSignIn(NamedTuple):
    """Where to send a browser, and the secret that binds the sign-in to it."""

    location: str
    secret: str


class Oidc:
    """Sends people to a provider, and reads who they are when they come back."""

    def __init__(
        self,
        settings: OidcSettings,
        client_secret: Callable[[], Awaitable[str | None]],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._settings = settings
        self._client_secret = client_secret
        self._clock = clock
        self._known: _Known | None = None
        self._slots = asyncio.Semaphore(_AT_ONCE)

    @property
    def name(self) -> str:
        """What the provider is called on the page: its host."""
        return urlsplit(self._settings.issuer).netloc

    async def begin(self, callback: str, next_: str) -> BegunSignIn:
        """Return where a browser signs in, and comes back from to `callback`."""
        provider, secret = (await self._provider()).provider, secrets.token_urlsafe(_BYTES)
        challenge = urlsafe_b64encode(sha256(_part(secret, "verifier").encode()).digest()).decode().rstrip("=")
        asked = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": callback,
            "scope": self._settings.scopes,
            "state": _state(secret, next_),
            "nonce": _part(secret, "nonce"),
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        joint = "&" if urlsplit(provider.authorization_endpoint).query else "?"
        return BegunSignIn(f"{provider.authorization_endpoint}{joint}{urlencode(asked)}", secret)

    async def finish(self, secret: str, answered: Mapping[str, str], callback: str, now: int) -> tuple[Identity, str]:
        """Return who came back from the provider, and where they wanted to go; SignInRefused if that cannot be said."""
        next_ = _next_in(secret, answered.get("state", ""))
        if next_ is None:
            raise SignInRefused("This sign-in was not begun in this browser, or too long ago.")
        if answered.get("iss", self._settings.issuer) != self._settings.issuer:
            raise SignInRefused("Another provider has answered.")
        if "error" in answered or not answered.get("code"):
            raise SignInRefused("The provider has not signed you in.")
        known = await self._provider()
        token = await self._exchange(known.provider, answered["code"], _part(secret, "verifier"), callback)
        said = await known.tokens.verify(token, now)
        if said is None:
            raise SignInRefused("The provider's token is not valid: not signed by it, not for this server, or too old.")
        if not hmac.compare_digest(str(said.get("nonce", "")).encode(), _part(secret, "nonce").encode()):
            raise SignInRefused("The provider's token is not of this sign-in.")
        if said.get("azp", self._settings.client_id) != self._settings.client_id:
            raise SignInRefused("The provider's token is for another application.")
        return self._identity(said), next_

    def _identity(self, said: dict[str, Any]) -> Identity:
        settings = self._settings
        user = _claim(said, settings.user_claim)
        if not isinstance(user, str) or not 0 < len(user) <= _LONGEST_NAME or fault_in_name(user) is not None:
            raise SignInRefused(f"The provider's token has no name for you in `{settings.user_claim}`.")
        if settings.user_claim == "email" and said.get("email_verified") is not True:
            raise SignInRefused("The provider has not verified your address.")
        roles = roles_of(_claim(said, settings.roles_claim), settings.roles)
        if not roles:
            _log.warning("oidc_without_role user=%s claim=%s", user, settings.roles_claim)
            raise SignInRefused("You have no role here. Ask an administrator for one.")
        return Identity(caller=caller_of(user, roles, CREDENTIAL))

    async def _exchange(self, provider: _Provider, code: str, verifier: str, callback: str) -> str:
        client_id, secret = self._settings.client_id, await self._client_secret()
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": callback,
            "code_verifier": verifier,
            "client_id": client_id,
        }
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        if secret is not None and "client_secret_basic" in provider.token_endpoint_auth_methods_supported:
            pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
            headers["authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        elif secret is not None:
            fields["client_secret"] = secret
        try:
            reply = await self._ask(provider.token_endpoint, urlencode(fields).encode(), headers)
            return msgspec.json.decode(reply, type=_TokenReply).id_token
        except HTTPError as error:
            if error.code in _REFUSED:
                _log.warning("oidc_code_refused status=%d", error.code)
                raise SignInRefused("The provider has taken back this sign-in. Begin again.") from error
            raise self._unavailable(error) from error
        except (OSError, msgspec.MsgspecError) as error:
            raise self._unavailable(error) from error

    async def _provider(self) -> _Known:
        """Return what the provider says of itself; what was read a while ago is used while it cannot be reached."""
        known, now = self._known, self._clock()
        if known is not None and now - known.read_at < _READ_AGAIN_AFTER:
            return known
        issuer = self._settings.issuer
        try:
            document = await self._ask(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
            provider = msgspec.json.decode(document, type=_Provider)
            if provider.issuer != issuer:
                raise ValueError(f"it is of the issuer {provider.issuer[:100]!r}")  # noqa: TRY301 - told like all others
            addresses = (provider.authorization_endpoint, provider.token_endpoint, provider.jwks_uri)
            if not all(map(is_safe_address, addresses)):
                raise ValueError("it names an address that is not https")  # noqa: TRY301 - as above
        except (OSError, ValueError) as error:
            if known is not None:
                return known
            raise self._unavailable(error) from error
        jwt = JwtSettings(jwks_url=provider.jwks_uri, issuer=issuer, audience=self._settings.client_id)
        tokens = known.tokens if known is not None and known.provider == provider else Tokens(jwt)
        self._known = _Known(provider, tokens, now)
        return self._known

    async def _ask(self, address: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> bytes:
        async with asyncio.timeout(_LONGEST_QUEUE):
            await self._slots.acquire()
        try:
            return await asyncio.to_thread(read_address, address, data, headers)
        finally:
            self._slots.release()

    def _unavailable(self, error: Exception) -> Refusal:
        _log.warning("oidc_unavailable issuer=%s error=%r", self._settings.issuer, error)
        message = "The provider that signs people in cannot be reached just now."
        return Refusal("store_unavailable", message, headers={"retry-after": "30"})


def roles_of(claimed: object, roles: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the roles that values of a claim stand for; `*` is for everybody, and what is not named gives none."""
    values = claimed if isinstance(claimed, list) else [claimed]
    named = ["*", *(one for one in values[:_MOST_VALUES] if isinstance(one, str))]
    return tuple(dict.fromkeys(role for one in named for role in roles.get(one, ())))


def _claim(said: Mapping[str, Any], path: str) -> object:
    """Return a claim by its name, or by the way to it: `realm_access.roles`."""
    if path in said:
        return said[path]
    found: Any = said
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _part(secret: str, name: str) -> str:
    return hmac.new(secret.encode(), f"layover-oidc-v1\0{name}".encode(), sha256).hexdigest()


def _state(secret: str, next_: str) -> str:
    return f"{urlsafe_b64encode(next_.encode()).decode()}.{_part(secret, f'state{chr(0)}{next_}')}"


def _next_in(secret: str, state: str) -> str | None:
    """Return where a person wanted to go, from a state that was made with this secret; else None."""
    try:
        next_ = urlsafe_b64decode(state.partition(".")[0].encode()).decode()
    except ValueError:
        return None
    return next_ if secret and hmac.compare_digest(_state(secret, next_).encode(), state.encode()) else None
