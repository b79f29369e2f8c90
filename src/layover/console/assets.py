"""The built files of the console, read and compressed once, with the headers that they are sent with.

The names of assets hold a hash of what is in them, so a browser may keep them forever; the page that names them is
asked for each time. One build serves under any path: the page says where it is mounted.
"""

from __future__ import annotations

import functools
import gzip
import secrets
from html import escape
from importlib.resources import files
from typing import Final

import msgspec

_PLACE: Final = "<!--layover-->"  # where the page says where it is mounted
_MEDIA: Final = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
_WORTH_IT: Final = 1_000  # bytes; what is smaller is not compressed
_FOREVER: Final = "public, max-age=31536000, immutable"


class Asset(msgspec.Struct, frozen=True):
    """A file as it is sent: plain, or compressed if that is smaller."""

    media_type: str
    plain: bytes
    compressed: bytes | None


def find_asset(name: str) -> Asset | None:
    """Return an asset by its name, which is one of those that the build has made."""
    return _assets().get(name)


def asset_headers(asset: Asset, accepted: str) -> tuple[bytes, dict[str, str]]:
    """Return what is sent to a client that accepts some encodings, and the headers with it."""
    headers = {"cache-control": _FOREVER, "vary": "accept-encoding"}
    if asset.compressed is not None and _takes_gzip(accepted):
        return asset.compressed, {**headers, "content-encoding": "gzip"}
    return asset.plain, headers


def console_page(base: str) -> tuple[bytes, dict[str, str]]:
    """Return the page of a server that is mounted at `base`, and the headers with it."""
    nonce = secrets.token_urlsafe(16)
    told = (
        f'<base href="{escape(base)}/console/">'
        f'<meta name="layover-base" content="{escape(base)}">'
        f'<meta name="layover-nonce" content="{nonce}">'
    )
    return _page().replace(_PLACE, told).encode(), {
        "cache-control": "no-cache",
        "content-security-policy": _policy(nonce),
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "same-origin",
        "x-robots-tag": "noindex, nofollow",
    }


def _policy(nonce: str) -> str:
    """Return what the page may do: run and load what comes from here, and make a worker by the one named policy."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; "
        "img-src 'self' data:; worker-src 'self'; form-action 'self'; base-uri 'self'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types layover"
    )


def _takes_gzip(accepted: str) -> bool:
    for part in accepted.lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


@functools.cache
def _page() -> str:
    return (files("layover.console") / "static" / "index.html").read_text("utf-8")


@functools.cache
def _assets() -> dict[str, Asset]:
    folder = files("layover.console") / "static" / "assets"
    return {one.name: _asset(one.name, one.read_bytes()) for one in folder.iterdir() if one.is_file()}


def _asset(name: str, plain: bytes) -> Asset:
    media_type = _MEDIA.get(name.rpartition(".")[2], "application/octet-stream")
    if len(plain) < _WORTH_IT:
        return Asset(media_type, plain, None)
    return Asset(media_type, plain, gzip.compress(plain, 9, mtime=0))
