"""This document, and a page that shows it."""

from __future__ import annotations

import functools
from importlib.resources import files
from typing import TYPE_CHECKING, Final

import msgspec

from layover.api.request import Response
from layover.api.routing import Routes
from layover.model.shared import Value

if TYPE_CHECKING:
    from layover.api.request import Request
    from layover.api.routing import NoQuery

routes = Routes("Document", "This document, and a page that shows it.", prefix="")

# The page runs what comes from here, talks to no other server, and cannot be shown inside another page.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {"content-security-policy": _POLICY}


@routes.get("/openapi.json", open="loopback", answers={200: dict[str, Value]})
async def openapi(call: Request[None, NoQuery]) -> Response:
    """Show this document: OpenAPI 3.1."""
    return Response(encoded_document(call.base))


# Everyone may see the page: it holds only what is in the package, and asks for the document with the caller's key.


@routes.get("/docs", open="anybody", alone=True, answers={200: str}, answer_media="text/html")
async def docs(call: Request[None, NoQuery]) -> Response:  # noqa: ARG001 - it is the same for all callers
    """Show a page on which this document can be read and tried out."""
    return Response(_file("page.html"), headers=_HEADERS, media_type="text/html; charset=utf-8")


@routes.get("/docs/app.js", open="anybody", alone=True, answers={200: str}, answer_media="text/javascript")
async def docs_script(call: Request[None, NoQuery]) -> Response:  # noqa: ARG001 - as above
    """Show what the page runs."""
    return Response(_file("app.js"), headers=_HEADERS, media_type="text/javascript; charset=utf-8")


@routes.get("/docs/style.css", open="anybody", alone=True, answers={200: str}, answer_media="text/css")
async def docs_style(call: Request[None, NoQuery]) -> Response:  # noqa: ARG001 - as above
    """Show how the page looks."""
    return Response(_file("style.css"), headers=_HEADERS, media_type="text/css; charset=utf-8")


@functools.lru_cache(maxsize=8)
def encoded_document(base: str = "") -> bytes:
    """Return the document as it is sent by an application that is mounted at a path."""
    from layover.api.openapi import document_of  # noqa: PLC0415 - it is made of all routes, and this is one of them
    from layover.api.routes import FAMILIES  # noqa: PLC0415 - as above

    return msgspec.json.encode(document_of(FAMILIES, base))


@functools.cache
def _file(name: str) -> bytes:
    return (files("layover.api") / "docs_page" / name).read_bytes()
