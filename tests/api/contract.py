"""What the document promises of an answer: its status, its media type, its headers and its shape.

Every answer that a test gets over HTTP is held against it, so each of them tests the document as well.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Final

import jsonschema_rs
import msgspec

from layover.api.openapi import document_of
from layover.api.problems import STATUS
from layover.api.routes import FAMILIES, ROUTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from layover.api.routing import Route

DOCUMENT: Final[dict[str, Any]] = msgspec.json.decode(msgspec.json.encode(document_of(FAMILIES)))
PROBLEM: Final = "application/problem+json"

# Headers that say something of the answer, and not of how it is carried.
_TELLING: Final = frozenset({"location", "retry-after", "www-authenticate"})
_UNROUTED: Final = ("not_found", "method_not_allowed", "malformed")  # the last if it is no HTTP
_PARAMETER: Final = re.compile(r"\{(\w+)(:path)?\}")


def check_answer(method: str, path: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
    """Fail if an answer is not as the document describes it."""
    asked = f"{method} {path} -> {status} {body[:500]!r}"
    assert headers.get("x-request-id"), f"nothing finds this in the log: {asked}"
    route = route_of("GET" if method == "HEAD" else method, path)
    if route is None:
        _check_unrouted(status, headers, body, asked)
        return
    operation = DOCUMENT["paths"][documented(route)][route.method.lower()]
    described = operation["responses"].get(str(status))
    assert described is not None, f"{status} is not described: {asked}"
    response = _resolved(described)
    undescribed = (_TELLING & headers.keys()) - {name.lower() for name in response["headers"]}
    assert not undescribed, f"{undescribed} is not described: {asked}"
    contents = response.get("content", {})
    if not contents:
        assert not body, f"there was to be no body: {asked}"
        return
    media_type = headers["content-type"].partition(";")[0]
    assert media_type in contents, f"{media_type} is not described: {asked}"
    if method == "HEAD":
        assert not body, asked
    elif media_type in ("application/json", PROBLEM):
        value = msgspec.json.decode(body)
        for error in _validator(documented(route), route.method.lower(), str(status), media_type).iter_errors(value):
            raise AssertionError(f"{error.message[:500]} at {error.instance_path}: {asked}")
        if media_type == PROBLEM and "idempotency-replayed" not in headers:  # else it names the first request
            assert value["request_id"] == headers["x-request-id"], asked


def route_of(method: str, path: str) -> Route | None:
    """Return the route that a path leads to, as the server would."""
    found = [route for route, pattern in _PATTERNS if pattern.fullmatch(path.partition("?")[0])]
    return next((route for route in found if route.method == method), None)


def documented(route: Route) -> str:
    """Return the path of a route as the document has it."""
    return _PARAMETER.sub(r"{\1}", route.path)


def _check_unrouted(status: int, headers: Mapping[str, str], body: bytes, asked: str) -> None:
    """Whatever leads nowhere is told so."""
    assert status in (STATUS[code] for code in _UNROUTED), asked
    assert headers["content-type"] == PROBLEM, asked
    assert not body or msgspec.json.decode(body)["code"] in _UNROUTED, asked


def _resolved(value: dict[str, Any]) -> dict[str, Any]:
    reference = value.get("$ref")
    if reference is None:
        return value
    found: Any = DOCUMENT
    for step in reference.removeprefix("#/").split("/"):
        found = found[step]
    return found  # type: ignore[no-any-return]  # a part of the document


@functools.cache
def _validator(path: str, method: str, status: str, media_type: str) -> jsonschema_rs.Draft202012Validator:
    response = _resolved(DOCUMENT["paths"][path][method]["responses"][status])
    schema = response["content"][media_type]["schema"]
    schemas = {name: DOCUMENT["components"]["schemas"][name] for name in _named_in(schema, set())}
    return jsonschema_rs.Draft202012Validator(
        {"components": {"schemas": schemas}, "allOf": [schema]}, validate_formats=True
    )


def _named_in(part: object, known: set[str]) -> set[str]:
    """Add the schemas that a part refers to, and those that they do: a validator with all of them takes a megabyte."""
    if isinstance(part, list):
        for one in part:
            _named_in(one, known)
    elif isinstance(part, dict):
        name = str(part.get("$ref", "")).removeprefix("#/components/schemas/")
        if name and name not in known:
            known.add(name)
            _named_in(DOCUMENT["components"]["schemas"][name], known)
        for one in part.values():
            _named_in(one, known)
    return known


def _pattern(route: Route) -> re.Pattern[str]:
    parts = _PARAMETER.split(route.path)  # a text, a name and its kind, a text, …
    texts, kinds = parts[::3], parts[2::3]
    between = [".+" if kind else "[^/]+" for kind in kinds]
    return re.compile("".join(re.escape(text) + part for text, part in zip(texts, [*between, ""], strict=True)))


# What is written out comes before what may be anything.
_PATTERNS: Final = [
    (route, _pattern(route))
    for route in sorted(ROUTES, key=lambda route: [(part.startswith("{"), part) for part in route.path.split("/")])
]
