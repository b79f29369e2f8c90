"""Which endpoint a path belongs to, found part by part instead of by trying one pattern after the other.

Where a word and a name fit, the word goes first. What is all words comes before everything else, and has the other
methods of the pattern that it fits: a workflow may be called `check`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import BaseRoute, Match

from layover.api.endpoint import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.types import Receive, Scope, Send

    from layover.api.routing import Route
    from layover.api.services import Services


_REST = ":path}"  # the end of a name that stands for all the rest, whatever is in it


class _Part:
    """A part of patterns: what comes behind it, and what is there if nothing does."""

    def __init__(self) -> None:
        self.words: dict[str, _Part] = {}
        self.any: _Part | None = None
        self.rest: _Part | None = None
        self.names: tuple[str, ...] = ()
        self.endpoint: Endpoint | None = None

    def add(self, pattern: str, endpoint: Endpoint) -> None:
        """Let a pattern lead to an endpoint."""
        part = self
        parts = pattern.split("/")
        for one in parts:
            if one.endswith(_REST):
                part.rest = part = part.rest or _Part()
            elif one.startswith("{"):
                part.any = part = part.any or _Part()
            else:
                part = part.words.setdefault(one, _Part())
        part.names = tuple(one.strip("{}").partition(":")[0] for one in parts if one.startswith("{"))
        part.endpoint = endpoint

    def find(self, parts: list[str], at: int = 0) -> tuple[_Part, tuple[str, ...]] | None:
        """Return where a path leads, and what stands in it for names."""
        if at == len(parts):
            return (self, ()) if self.endpoint is not None else None
        word = self.words.get(parts[at])
        found = word.find(parts, at + 1) if word is not None else None
        if found is None and self.any is not None and parts[at]:
            found = self.any.find(parts, at + 1)
            if found is not None:
                found = (found[0], (parts[at], *found[1]))
        if found is None and self.rest is not None:
            found = (self.rest, ("/".join(parts[at:]),))
        return found


class RouteIndex(BaseRoute):
    """All paths of an application."""

    def __init__(self, routes: Iterable[Route], services: Services) -> None:
        by_path: dict[str, dict[str, Route]] = {}
        for route in routes:
            by_path.setdefault(route.path, {})[route.method] = route
        self._patterns = _Part()
        for path, methods in by_path.items():
            if "{" in path:
                self._patterns.add(path, Endpoint(methods, services))
        self._words = {
            path: self._with_pattern(path, methods, services) for path, methods in by_path.items() if "{" not in path
        }

    def _with_pattern(
        self, path: str, methods: Mapping[str, Route], services: Services
    ) -> tuple[Endpoint, dict[str, str]]:
        endpoint, named = self._in_patterns(path)
        if "id" in named:  # no id is a word: nothing but the path itself is meant
            return Endpoint(methods, services), {}
        others = endpoint.routes if endpoint is not None else {}
        return Endpoint({**others, **methods}, services), named

    def _in_patterns(self, path: str) -> tuple[Endpoint | None, dict[str, str]]:
        found = self._patterns.find(path.split("/"))
        if found is None:
            return None, {}
        part, values = found
        return part.endpoint, dict(zip(part.names, values, strict=True))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Find the endpoint of a request."""
        if scope["type"] != "http":
            return Match.NONE, {}
        path, root = scope["path"], scope.get("root_path", "")
        path = path[len(root) :] if root and path.startswith(f"{root}/") else path
        endpoint, named = self._words.get(path) or self._in_patterns(path)
        if endpoint is None:
            return Match.NONE, {}
        return Match.FULL, {"endpoint": endpoint, "path_params": named}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Have a request answered, also one by a method that its path does not have."""
        await scope["endpoint"](scope, receive, send)
