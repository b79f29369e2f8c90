"""Public keys that tokens are signed with, from the address where their issuer publishes them (a JWKS).

They are read again every few minutes, so that a key which the issuer takes back ends here too, and when a token names
one that is not known: at most once a minute, since any caller can write a name into a token. While the issuer cannot be
reached the old ones are used, for a day.
"""

from __future__ import annotations

import asyncio
import logging
import urllib.request
from time import monotonic
from typing import TYPE_CHECKING, Any, Final
from urllib.error import HTTPError
from urllib.parse import urlsplit

import jwt
import msgspec
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from layover.api.access.listen_address import is_loopback
from layover.api.problems import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from http.client import HTTPMessage

_log = logging.getLogger("layover.api")

_TIMEOUT: Final = 5.0  # seconds, for all of it
LARGEST: Final = 500_000  # bytes
_PIECE: Final = 65_536
_READ_AGAIN_AFTER: Final = 600.0  # seconds
_TRIED_AGAIN_AFTER: Final = 60.0
_USED_FOR: Final = 86_400.0
_SHORTEST_RSA: Final = 2048  # bits
_MOST: Final = 100

PublicKey = RSAPublicKey | EllipticCurvePublicKey


class SigningKey(msgspec.Struct, frozen=True):
    """A public key, and the only way of signing that is taken with it."""

    public: PublicKey
    algorithm: str


class SigningKeys:
    """The keys at one address, by their ids."""

    def __init__(self, address: str, clock: Callable[[], float] = monotonic) -> None:
        self._address = address
        self._clock = clock
        self._keys: dict[str, SigningKey] | None = None
        self._read_at = 0.0
        self._tried_at: float | None = None
        self._reading = asyncio.Lock()

    async def find(self, key_id: str | None) -> SigningKey | None:
        """Return a key by its id; without one, the key if there is only one."""
        if not self._is_fresh() or self._pick(key_id) is None:
            # Only one request waits for the issuer if there is something to go by.
            if self._pick(key_id) is None or not self._reading.locked():
                await self._read_again(key_id)
            if self._keys is None or self._clock() - self._read_at > _USED_FOR:
                message = "The keys by which tokens are checked cannot be had just now; try again."
                raise Refusal("store_unavailable", message, headers={"retry-after": "60"})
        return self._pick(key_id)

    def _pick(self, key_id: str | None) -> SigningKey | None:
        keys = self._keys or {}
        if key_id is None:
            return next(iter(keys.values())) if len(keys) == 1 else None
        return keys.get(key_id)

    def _is_fresh(self) -> bool:
        return self._keys is not None and self._clock() - self._read_at < _READ_AGAIN_AFTER

    async def _read_again(self, key_id: str | None) -> None:
        async with self._reading:
            if self._is_fresh() and self._pick(key_id) is not None:
                return  # another request has, meanwhile
            now = self._clock()
            if self._tried_at is not None and now - self._tried_at < _TRIED_AGAIN_AFTER:
                return
            self._tried_at = now
            try:
                self._keys = keys_in(await asyncio.to_thread(read_address, self._address))
                self._read_at = now
            except (OSError, ValueError) as error:
                _log.warning("signing_keys_not_read address=%s error=%r", self._address, error)


def keys_in(document: bytes) -> dict[str, SigningKey]:
    """Return the keys of a document that can be used here: RSA of a safe length, and P-256."""
    try:
        listed = msgspec.json.decode(document, type=dict[str, Any]).get("keys")
    except msgspec.MsgspecError as error:
        raise ValueError("it is not a JSON object") from error
    if not isinstance(listed, list) or len(listed) > _MOST:
        raise ValueError(f"it has no list of at most {_MOST} `keys`")
    found = ((str(one.get("kid", "")), _usable(one)) for one in listed if isinstance(one, dict))
    return {key_id: key for key_id, key in found if key is not None}


def _usable(described: dict[str, Any]) -> SigningKey | None:
    """Return a key, unless it is not for signing, secret, too short, or for another way of signing."""
    if described.get("kty") not in ("RSA", "EC") or described.get("use", "sig") != "sig" or "d" in described:
        return None
    algorithm = "RS256" if described["kty"] == "RSA" else "ES256"
    if described.get("alg", algorithm) != algorithm:
        return None
    try:
        public = jwt.PyJWK(described, algorithm).key
    except (jwt.PyJWTError, ValueError, TypeError):
        return None
    is_safe = (isinstance(public, RSAPublicKey) and public.key_size >= _SHORTEST_RSA) or (
        isinstance(public, EllipticCurvePublicKey) and isinstance(public.curve, SECP256R1)
    )
    return SigningKey(public, algorithm) if is_safe else None


class _Straight(urllib.request.HTTPRedirectHandler):
    """Goes nowhere but where it was sent."""

    def redirect_request(
        self,
        req: urllib.request.Request,  # noqa: ARG002 - as it is called
        fp: object,  # noqa: ARG002 - as above
        code: int,  # noqa: ARG002 - as above
        msg: str,  # noqa: ARG002 - as above
        headers: HTTPMessage,  # noqa: ARG002 - as above
        newurl: str,  # noqa: ARG002 - as above
    ) -> None:
        return None


def read_address(address: str, data: bytes | None = None, headers: Mapping[str, str] | None = None) -> bytes:
    """Return what is at a checked address, or is answered to `data`; OSError if it is too slow or too large."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        with open(urllib.request.url2pathname(parts.path), "rb") as file:  # noqa: PTH123 - a path from an address, read up to a bound
            return _bounded(file.read(LARGEST + 1))
    handlers: list[urllib.request.BaseHandler] = [_Straight()]
    if is_loopback(parts.hostname or ""):
        handlers.append(urllib.request.ProxyHandler({}))
    until = monotonic() + _TIMEOUT
    content = b""
    request = urllib.request.Request(address, data, dict(headers or {}))  # noqa: S310 - its scheme was checked
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=_TIMEOUT) as response:
            while piece := response.read1(_PIECE):
                content = _bounded(content + piece)
                if monotonic() > until:
                    raise TimeoutError("it took too long to come")
    except HTTPError as error:
        error.close()  # else its connection is open for as long as somebody knows of the error
        raise
    return content


def _bounded(content: bytes) -> bytes:
    if len(content) > LARGEST:
        raise OSError(f"it has more than {LARGEST:,} bytes")
    return content
