"""`@source` makes a function something that triggers poll; programs still call it as before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from layover import Batch, Item, source
from layover.nodes.registry import BadFunction, Registry
from layover.nodes.typed import BadInput

if TYPE_CHECKING:
    from layover import NodeContext


@source
def mailbox(cursor: str | None, folder: str, most: int = 10) -> Batch:
    """Return what there is."""
    return Batch([Item("1", [folder, most])], cursor=cursor)


def registered(function: Any) -> Registry:
    registry = Registry()
    registry.add(function)
    return registry


def test_it_is_called_as_before() -> None:
    assert mailbox("7", "INBOX").items[0].data == ["INBOX", 10]
    assert (mailbox.__name__, mailbox.__doc__, repr(mailbox)) == (
        "mailbox",
        "Return what there is.",
        "<source mailbox>",
    )


def test_it_is_registered_beside_node_types() -> None:
    registry = registered(mailbox)
    assert not registry.has("mailbox")
    found = registry.find_source("mailbox")
    assert found is not None
    assert found.poll("7", {"folder": "INBOX", "most": 3}) == Batch([Item("1", ["INBOX", 3])], cursor="7")
    (parameters,) = registry.source_parameters().items()
    assert parameters[0] == "source:mailbox"
    assert parameters[1] is not None
    assert (parameters[1].required, parameters[1].optional) == (("folder",), ("most",))


def test_arguments_that_do_not_fit_are_refused() -> None:
    found = registered(mailbox).find_source("mailbox")
    assert found is not None
    with pytest.raises(BadInput, match="does not take this argument"):
        found.poll(None, {"folder": "INBOX", "colour": "red"})
    with pytest.raises(BadInput, match="folder"):
        found.poll(None, {})


def test_what_acknowledges_gets_the_arguments_that_it_takes() -> None:
    told: list[object] = []

    @source
    def feed(cursor: str | None, folder: str, most: int) -> Batch:  # noqa: ARG001 - it finds nothing
        return Batch()

    @feed.acknowledge
    def note(cursor: str, folder: str) -> None:
        told.append((cursor, folder))

    found = registered(feed).find_source("feed")
    assert found is not None
    found.acknowledge("7", {"folder": "INBOX", "most": 3})
    assert told == [("7", "INBOX")]


def test_functions_that_cannot_be_sources_are_refused() -> None:
    @source
    def without() -> Batch:
        return Batch()

    @source
    def with_context(cursor: str | None, context: NodeContext) -> Batch:  # noqa: ARG001 - it is refused
        return Batch()

    @source(name="no name")
    def named(cursor: str | None) -> Batch:  # noqa: ARG001 - the same
        return Batch()

    for function in (without, with_context, named):
        with pytest.raises(BadFunction):
            registered(function)
    with pytest.raises(TypeError, match="decorates a function"):
        source("mailbox")  # type: ignore[call-overload]  # a name is given by its name
