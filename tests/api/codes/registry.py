"""Scenes: small plays over HTTP, each of which brings one answer of one route about.

A scene for `answer_pause_point` and 201 has to be answered by that status; one for `expired` by the problem of that
name. What every route has is played from its declaration; what only one has, it has a scene of its own for.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import msgspec

from layover.api.openapi_examples import examples_of
from layover.api.routes import ROUTES
from tests.api.contract import DOCUMENT, documented
from tests.api.harness import Answered

if TYPE_CHECKING:
    from layover.api.routing import Route
    from tests.api.codes.stage import Stage

Outcome: TypeAlias = int | str  # a status, or the code of a problem
Scene: TypeAlias = Callable[["Stage", "Route"], Awaitable[Answered]]

OF_ANY: Final[dict[Outcome, Scene]] = {}
OF_ONE: Final[dict[tuple[str, Outcome], Scene]] = {}
_NAMES: Final = frozenset(route.name for route in ROUTES)


def any_route(outcome: Outcome) -> Callable[[Scene], Scene]:
    """Add a scene that works for every route."""

    def add(scene: Scene) -> Scene:
        assert outcome not in OF_ANY, outcome
        OF_ANY[outcome] = scene
        return scene

    return add


def route(name: str, *outcomes: Outcome) -> Callable[[Scene], Scene]:
    """Add a scene for a route, by the name of its handler."""

    def add(scene: Scene) -> Scene:
        assert name in _NAMES, f"there is no route {name}"
        for outcome in outcomes:
            assert (name, outcome) not in OF_ONE, (name, outcome)
            OF_ONE[name, outcome] = scene
        return scene

    return add


def scene_of(route: Route, outcome: Outcome) -> Scene | None:
    """Return how an answer of a route comes about."""
    return OF_ONE.get((route.name, outcome)) or OF_ANY.get(outcome)


class Asked(NamedTuple):
    """A request as somebody would make it who has read the document."""

    method: str
    path: str
    body: Any
    other_body: Any  # says something else

    @property
    def headers(self) -> dict[str, str]:
        return {} if self.body is None else {"content-type": "application/json"}


def asked(route: Route, **path: str) -> Asked:
    """Return a request to a route, with what the document has for examples; `path` says what is to stand in it."""
    operation = DOCUMENT["paths"][documented(route)][route.method.lower()]
    examples = {one["name"]: one["example"] for one in operation["parameters"] if one.get("in") == "path"}
    target = documented(route)
    for name, value in {**examples, **path}.items():
        target = target.replace(f"{{{name}}}", value)
    for field in msgspec.structs.fields(route.query):
        target = with_query(target, f"{field.encode_name}=ask") if field.required else target
    bodies = list(examples_of(route).values())
    return Asked(route.method, target, bodies[0] if bodies else None, _other(route, bodies[0]) if bodies else None)


def with_query(path: str, parameters: str) -> str:
    """Return a path with more parameters than it has."""
    return f"{path}{'&' if '?' in path else '?'}{parameters}" if parameters else path


def parts_of(route: Route) -> list[str]:
    """Return the names of what stands in a path."""
    return re.findall(r"\{(\w+)", route.path)


def _other(route: Route, body: Any) -> Any:
    """Return a body that is taken as well, and says something else."""
    if route.body is bytes:
        return {**body, "description": "Another one."}
    assert route.body is not None
    required = {field.encode_name for field in msgspec.structs.fields(route.body) if field.required}
    optional = [name for name in body if name not in required]
    if optional:
        return {name: value for name, value in body.items() if name != optional[-1]}
    emptied = {name: [] if isinstance(value, list) else value for name, value in body.items()}
    return emptied if emptied != body else dict.fromkeys(body, "another")
