"""What is shown while an execution runs: lines as things happen, or in a terminal a tree of its nodes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from rich.console import Console, Group
from rich.live import Live

from layover.cli.event_lines import progress_line
from layover.cli.screen import STYLES, say, styled
from layover.cli.tree import NodeTree, now

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.text import Text

    from layover import Event, Graph, LogLine, NodeExecution, Progress

_TIMES_A_SECOND = 8


class View(Protocol):
    """Something that shows how an execution goes on."""

    live: bool  # it wants to be told of the nodes, too

    def tell(self, events: Sequence[Event | Progress | LogLine]) -> None:
        """Show what has happened."""

    def picture(self, status: str, nodes: Sequence[NodeExecution]) -> None:
        """Show how all nodes are."""

    def suspend(self) -> None:
        """Leave the terminal to a question for a while."""

    def end(self) -> None:
        """Show the last of it."""


class Silent:
    """Nothing is shown: a machine reads what comes at the end."""

    live = False

    def tell(self, events: Sequence[Event | Progress | LogLine]) -> None:
        """Show nothing."""

    def picture(self, status: str, nodes: Sequence[NodeExecution]) -> None:
        """Show nothing."""

    def suspend(self) -> None:
        """Do nothing."""

    def end(self) -> None:
        """Show nothing."""


class Lines(Silent):
    """A line for everything that happens."""

    def tell(self, events: Sequence[Event | Progress | LogLine]) -> None:
        """Print what has happened; if the reader has gone away, the execution goes on all the same."""
        lines = [line for event in events if (line := progress_line(event)) is not None]
        with suppress(BrokenPipeError):
            for line in lines:
                say(line)


class Picture(Silent):
    """A tree of the nodes in a terminal, with how long each has been at it."""

    live = True

    def __init__(self, title: str, graph: Graph) -> None:
        self._title = title
        self._graph = graph
        self._console = Console(highlight=False)
        self._status = "running"
        self._nodes: Sequence[NodeExecution] = ()
        self._live: Live | None = None
        self._is_whole = False

    def picture(self, status: str, nodes: Sequence[NodeExecution]) -> None:
        """Show how all nodes are."""
        self._status, self._nodes = status, nodes
        if self._live is None:
            self._live = Live(
                get_renderable=self._render,
                console=self._console,
                refresh_per_second=_TIMES_A_SECOND,
            )
            self._live.start()

    def suspend(self) -> None:
        """Clear the tree; it is drawn again at the next change."""
        if self._live is not None:
            self._live.transient = True
            self._live.stop()
            self._live = None

    def end(self) -> None:
        """Leave the tree as it is."""
        self._is_whole = True
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _render(self) -> Group:
        heading = styled([(f"{self._title}  ", "bold"), (self._status, STYLES.get(self._status, ""))])
        lines = [styled(line) for line in NodeTree(self._graph, self._nodes, now()).lines()]
        # What does not fit into the window could not be cleared again; the last lines are mostly those at work.
        room = max(self._console.height - 3, 1)
        hidden = 0 if self._is_whole else len(lines) - room
        if hidden > 0:
            lines = [styled([(f"  … {hidden} lines", "dim")]), *lines[-room:]]
        return Group(*map(_on_one_line, [heading, *lines]))


def _on_one_line(line: Text) -> Text:
    line.no_wrap, line.overflow = True, "ellipsis"
    return line
