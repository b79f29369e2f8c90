"""One scenario, played through any of the four doors; what comes back is written down in the same form.

A door that blocks is called from the loop of the test: its engine and its server run in threads of their own.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import msgspec

import layover
from layover import LayoverError, Moment

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_API_KEY = re.compile(r"la[yk]_[A-Za-z0-9_-]+")
_LONG_AGO = 1_600_000_000_000
_PUBLIC = {name: getattr(layover, name) for name in layover.__all__}

# What is another one each time, or depends on how far an instance has come by then.
_VARIES = frozenset(
    {"address", "applied_at", "credential", "duration_ms", "instance", "key", "lease", "link", "next", "queue_position"}
    | {"request_id", "seal"}
)
_FIELDS_OF_ERRORS = (
    "errors",
    "current_status",
    "winner",
    "difference",
    "holders",
    "problems",
    "types",
    "reason",
    "error",
)


# A server says what is wrong with a request, an engine with an argument.
_SAID_OTHERWISE = frozenset({"closed", "idempotency_mismatch", "invalid_body"})


class Play:
    """A door, what was called through it, and what came back, step by step."""

    def __init__(self, door: Any) -> None:
        self.door = door
        self.called: set[tuple[str, str]] = set()
        self.steps: list[tuple[str, Any]] = []
        self._ids: dict[str, str] = {}

    async def do(self, of: Any, name: str, *args: Any, **named: Any) -> Any:
        """Call a method and write down what it returns."""
        returned = await self.call(of, name, *args, **named)
        self.note(f"{_class_of(of)}.{name}", returned)
        return returned

    async def call(self, of: Any, name: str, *args: Any, **named: Any) -> Any:
        """Call a method, and wait for it if it has to be awaited."""
        self.called.add((_class_of(of), name))
        returned = getattr(of, name)(*args, **named)
        return await returned if inspect.isawaitable(returned) else returned

    async def listed(self, of: Any, name: str, **named: Any) -> list[Any]:
        """Read a listing in all three ways, and write down what is on it."""
        listing = await self.call(of, name, **named)
        page = await self.call(listing, "page", limit=2)
        items: list[Any] = await self.call(listing, "all")
        assert self.plain([*page.items]) == self.plain(items[:2])
        assert (page.next is not None) == (len(items) > 2)
        if page.next is not None:
            behind = await self.call(listing, "page", limit=100, cursor=page.next)
            assert self.plain([*behind.items]) == self.plain(items[2:102])
        assert self.plain(items) == self.plain(await self.iterated(listing))
        self.note(f"{_class_of(of)}.{name}", items)
        return items

    async def iterated(self, items: Any) -> list[Any]:
        """Return what is iterated over."""
        if isinstance(items, AsyncIterator) or hasattr(items, "__aiter__"):
            self.called.add((_class_of(items), "__aiter__"))
            return [one async for one in items]
        assert isinstance(items, Iterator) or hasattr(items, "__iter__")
        return [*items]

    async def refused(self, of: Any, name: str, *args: Any, **named: Any) -> LayoverError:
        """Call a method that refuses; write down the error with all that it says."""
        try:
            returned = await self.call(of, name, *args, **named)
            if _class_of(returned) == "Listing":
                await self.call(returned, "page")
        except LayoverError as error:
            kind = next(class_.__name__ for class_ in type(error).__mro__ if class_.__name__ in _PUBLIC)
            fields = {field: getattr(error, field) for field in _FIELDS_OF_ERRORS if hasattr(error, field)}
            said = {"": kind, "code": error.code, "message": error.message, **fields}
            if error.code in _SAID_OTHERWISE:
                said |= {"message": "", "errors": [path for path, _ in fields.get("errors", ())]}
            self.note(f"{_class_of(of)}.{name} refuses", said)
            return error
        raise AssertionError(f"{_class_of(of)}.{name} was not refused")

    def note(self, step: str, value: Any) -> None:
        """Write down what came back."""
        self.steps.append((step, self.plain(value)))

    def plain(self, value: Any) -> Any:
        """Return a value in a form that is the same for the same result: types by name, ids by when they were seen."""
        match value:
            case str():
                text = _TIME.sub("<time>", _API_KEY.sub("<key>", value))
                return _ID.sub(lambda found: self._ids.setdefault(found[0], f"<id {len(self._ids)}>"), text)
            case Moment():
                return "<moment>"
            case int() if value > _LONG_AGO:
                return "<milliseconds>"
            case msgspec.Struct():
                found = {name: getattr(value, name) for name in value.__struct_fields__}
                return {"": type(value).__name__, **self.plain(found)}
            case Mapping():
                return {self.plain(name): self.plain(one) for name, one in value.items() if name not in _VARIES}
            case tuple():
                return tuple(map(self.plain, value))
            case list():
                return [*map(self.plain, value)]
        if hasattr(value, "info"):
            return {"": _class_of(value), "info": self.plain(value.info), "repr": self.plain(repr(value))}
        if value is None or value is msgspec.UNSET or isinstance(value, bool | int | float):
            return value
        return f"<{_class_of(value)}>"


def _class_of(value: Any) -> str:
    """Return the name of a class of the interface, be it blocking or not; engine and client are the door."""
    name = type(value).__name__.removeprefix("Sync")
    return "Door" if name in ("Engine", "Client") else name


def public_methods(class_: type) -> set[str]:
    """Return the methods that a class of the interface has."""
    found = {name for name, _ in inspect.getmembers(class_, inspect.isfunction) if not name.startswith("_")}
    return found | ({"__aiter__"} if hasattr(class_, "__aiter__") else set())
