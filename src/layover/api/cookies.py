"""Cookies: what they are called, how they are read, and how they are set.

A browser keeps cookies by host and ignores ports, and a host may have several servers under different paths. So the
port and the base path are part of the name: two servers on one host do not break each other's sign-in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import Scope

    from layover.api.trusted_proxies import TrustedProxies

_LONGEST: Final = 200  # characters of a value that is read


def is_https(scope: Scope, headers: Mapping[str, str], proxies: TrustedProxies, public_url: str = "") -> bool:
    """Return whether a browser has sent a request by https: to us, to a trusted proxy, or to the public address."""
    if scope.get("scheme") == "https":
        return True
    if proxies.is_trusted((scope.get("client") or ("",))[0]):
        return headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower() == "https"
    public = urlsplit(public_url)
    return public.scheme == "https" and public.netloc.lower() == headers.get("host", "").lower()


def cookie_name(purpose: str, headers: Mapping[str, str], base: str, *, secure: bool) -> str:
    """Return the name of a cookie of a server: with its port, as the browser knows it, and with its base path."""
    host = headers.get("host", "")
    port = host.rpartition(":")[2] if not host.endswith("]") else ""
    port = port if port.isascii() and port.isdigit() and ":" in host else "443" if secure else "80"
    path = quote(base.rstrip("/"), safe="/-._").replace("~", "%7E").replace("/", "~")
    return f"layover_{purpose}_{port}{path}"


def read_cookie(headers: Mapping[str, str], name: str) -> str:
    """Return the value of a cookie; of several with this name the first, which is of the most specific path."""
    for pair in headers.get("cookie", "").split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name and len(value) <= _LONGEST:
            return value
    return ""


def set_cookie(name: str, value: str, *, base: str, seconds: int, secure: bool) -> str:
    """Return a cookie that no script can read, and that other sites cannot send with a form; with 0 seconds, none."""
    parts = [f"{name}={value}", f"Path={quote(base.rstrip('/')) or '/'}", f"Max-Age={seconds}", "HttpOnly"]
    # Not Strict: with that, who follows a link from a mail would not be signed in.
    return "; ".join([*parts, "SameSite=Lax", *(["Secure"] if secure else [])])
