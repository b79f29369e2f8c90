"""The fifth model: an input of a trigger becomes one execution, whoever dies, stalls, retries or forgets.

Two instances serve one trigger. A schedule has one occurrence, which an instance reads and then claims; a sender
delivers one input, and delivers it again. A source has one item: an instance leases the trigger to poll it, and a later
poll may return it again; a lease may run out at any moment, without its holder noticing. A claim, a delivery or a poll
leaves a pending input; a start reads it, and creates the execution a moment later: in between, anything may happen.
Executions are purged, inputs are forgotten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from .rules import Invariant, Rule
from .search import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = ("a", "b")
Source = Literal["schedule", "sender", "poll"]


class Server(NamedTuple):
    """What one instance is doing, and with which input."""

    does: Literal["nothing", "claims", "polls", "keeps", "owns", "starts", "marks"] = "nothing"
    seq: int = 0  # of the trigger, as it was read
    input: int = 0
    epoch: int = 0  # of its lease
    again: bool = False  # the source has returned what it has returned before


class Row(NamedTuple):
    """One input, and the execution that its id leads to."""

    state: Literal["unknown", "pending", "started"] = "unknown"
    execution: Literal["none", "exists", "purged"] = "none"


class Serving(NamedTuple):
    """Everything, at one moment."""

    seq: int = 0
    epoch: int = 0
    claimed: bool = False  # the cursor has passed the occurrence, or the item
    rows: tuple[Row, Row] = (Row(), Row())
    servers: tuple[Server, Server] = (Server(), Server())
    starts: int = 0
    sends: int = 0  # that are to come; of a source, again
    stalls: int = 2  # leases that may run out while their holders are at it
    crashes: int = 2
    purges: int = 2

    def with_server(self, n: int, server: Server) -> Serving:
        """Change what an instance does."""
        return self._replace(servers=tuple(server if m == n else one for m, one in enumerate(self.servers)))  # type: ignore[arg-type]

    def with_row(self, n: int, row: Row) -> Serving:
        """Change an input."""
        return self._replace(rows=tuple(row if m == n else one for m, one in enumerate(self.rows)))  # type: ignore[arg-type]


class OneStartForEachInput:
    """The protocol of triggers, or that without one of its rules."""

    def __init__(self, without: Rule | None = None, source: Source | None = None) -> None:
        self._without = without
        chosen: Source = "sender" if without in (Rule.INPUT_IS_KEYED, Rule.DEDUP_OUTLIVES_RETRIES) else "schedule"
        self._source: Source = source if source is not None else chosen

    def initial(self) -> Serving:
        """Begin with an occurrence that is due, a sender that has something to send, or a source with an item."""
        match self._source:
            case "schedule":
                return Serving()
            case "sender":
                return Serving(claimed=True, sends=2)
            case "poll":
                return Serving(sends=1)

    def broken(self, state: Serving) -> Invariant | None:
        """Return what is wrong with a state."""
        return Invariant.INPUT_STARTS_ONE if state.starts > 1 else None

    def is_end(self, state: Serving) -> bool:
        """All is claimed and sent, it has started, and nobody is at it."""
        at_rest = all(server.does == "nothing" for server in state.servers)
        pending = any(row.state == "pending" for row in state.rows)
        sent = not state.sends or self._source == "poll"  # a source need not repeat itself
        return state.claimed and sent and state.starts > 0 and at_rest and not pending

    def steps(self, state: Serving) -> Iterator[Step[Serving]]:
        """Yield all that can happen."""
        for n, server in enumerate(state.servers):
            yield from self._serve(state, n, server)
            if server.does != "nothing" and state.crashes:
                died = state.with_server(n, Server())._replace(crashes=state.crashes - 1)
                yield Step("crashed", f"{NAMES[n]}: is killed", died, obliged=False)
        yield from self._forget(state)

    def _serve(self, state: Serving, n: int, server: Server) -> Iterator[Step[Serving]]:
        match server.does:
            case "nothing":
                yield from self._begin(state, n)
            case "claims":
                yield self._claim(state, n, server)
            case "polls":
                yield self._commit(state, n, server)
            case "keeps":
                kept = self._keep(state, n, server.input)
                yield Step("kept", f"{NAMES[n]}: writes the input", kept)
            case "owns":
                starts = state.with_server(n, server._replace(does="starts"))
                yield Step("picked", f"{NAMES[n]}: starts what it has written", starts)
            case "starts":
                yield self._start(state, n, server)
            case "marks":
                row = state.rows[server.input]
                marked = state.with_row(server.input, row._replace(state="started") if row.state == "pending" else row)
                yield Step("marked", f"{NAMES[n]}: marks the input", marked.with_server(n, Server()))

    def _begin(self, state: Serving, n: int) -> Iterator[Step[Serving]]:
        if self._source == "poll":
            yield from self._lease(state, n)
        elif not state.claimed:
            read = state.with_server(n, Server("claims", state.seq))
            yield Step("read", f"{NAMES[n]}: sees the occurrence", read)
        if state.sends and self._source == "sender":
            which = 2 - state.sends if self._without is Rule.INPUT_IS_KEYED else 0
            sent = self._keep(state._replace(sends=state.sends - 1), n, which)
            yield Step("sent", f"sender: delivers to {NAMES[n]}", sent)
        for which, row in enumerate(state.rows):
            if row.state == "pending" and self._without is not Rule.PENDING_IS_ANYBODYS:
                picked = state.with_server(n, Server("starts", 0, which))
                yield Step("picked", f"{NAMES[n]}: finds a pending input", picked)

    def _lease(self, state: Serving, n: int) -> Iterator[Step[Serving]]:
        is_held = any(server.does == "polls" for server in state.servers)
        if (state.claimed and not state.sends) or (is_held and not state.stalls):
            return
        epoch = state.epoch + 1
        which = 1 if state.claimed and self._without is Rule.INPUT_IS_KEYED else 0
        leased = state._replace(epoch=epoch, stalls=state.stalls - is_held)
        polls = leased.with_server(n, Server("polls", state.seq, which, epoch, state.claimed))
        yield Step("leased", f"{NAMES[n]}: leases the trigger and asks the source", polls, obliged=not state.claimed)

    def _commit(self, state: Serving, n: int, server: Server) -> Step[Serving]:
        is_stale = (server.seq, server.epoch) != (state.seq, state.epoch)  # a cursor changes with the number
        if is_stale and self._without is not Rule.CLAIM_COMPARES:
            return Step("refused", f"{NAMES[n]}: its lease is over", state.with_server(n, Server()))
        is_new = state.rows[server.input].state == "unknown"
        sends = 0 if server.again else state.sends
        moved = state._replace(claimed=True, seq=state.seq + (is_new or not state.claimed), sends=sends)
        if self._without is Rule.INPUTS_COMMIT_WITH_CURSOR:
            keeps = moved.with_server(n, Server("keeps", 0, server.input))
            return Step("polled", f"{NAMES[n]}: advances the cursor", keeps)
        return Step("polled", f"{NAMES[n]}: writes the item and the cursor", self._keep(moved, n, server.input))

    def _claim(self, state: Serving, n: int, server: Server) -> Step[Serving]:
        if server.seq != state.seq and self._without is not Rule.CLAIM_COMPARES:
            return Step("refused", f"{NAMES[n]}: comes too late to claim", state.with_server(n, Server()))
        moved = state._replace(claimed=True, seq=state.seq + 1)
        if self._without is Rule.INPUTS_COMMIT_WITH_CURSOR:
            return Step("claimed", f"{NAMES[n]}: advances the cursor", moved.with_server(n, Server("keeps")))
        return Step("claimed", f"{NAMES[n]}: claims the occurrence", self._keep(moved, n, 0))

    def _keep(self, state: Serving, n: int, which: int) -> Serving:
        row = state.rows[which]
        if row.state != "unknown":  # a known id is a duplicate
            return state.with_server(n, Server())
        return state.with_row(which, row._replace(state="pending")).with_server(n, Server("owns", 0, which))

    def _start(self, state: Serving, n: int, server: Server) -> Step[Serving]:
        row = state.rows[server.input]
        marks_with_it = self._without is not Rule.START_MARKS_THE_INPUT
        if row.execution == "exists" or (marks_with_it and row.state != "pending"):
            after = state.with_server(n, Server() if marks_with_it else server._replace(does="marks"))
            return Step("too late", f"{NAMES[n]}: finds it started", after)
        begun = row._replace(execution="exists", state="started" if marks_with_it else row.state)
        after = state.with_row(server.input, begun)._replace(starts=state.starts + 1)
        following = Server() if marks_with_it else server._replace(does="marks")
        return Step("started", f"{NAMES[n]}: creates the execution", after.with_server(n, following))

    def _forget(self, state: Serving) -> Iterator[Step[Serving]]:
        for which, row in enumerate(state.rows):
            if row.execution == "exists" and state.purges:
                gone = state.with_row(which, row._replace(execution="purged"))._replace(purges=state.purges - 1)
                yield Step("purged", "purger: deletes the execution", gone, obliged=False)
            too_early = state.sends > 0 and self._without is not Rule.DEDUP_OUTLIVES_RETRIES
            if row.state == "started" and not too_early:
                forgotten = state.with_row(which, row._replace(state="unknown"))
                yield Step("forgotten", "purger: forgets the input", forgotten, obliged=False)
