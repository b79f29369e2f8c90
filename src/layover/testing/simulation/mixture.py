"""What goes wrong in a run, and how often: drawn anew for every seed.

What is left out, and what is overdone, finds more than the same mixture every time: a fault that happens all the time
hides what happens only without it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from random import Random
from typing import TYPE_CHECKING

from layover.runtime.settings import RuntimeSettings

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any


@dataclass(frozen=True)
class Mixture:
    """Chances for each request to the store, means in seconds between mishaps, and how things are set; 0 is never."""

    # Of a request to the store
    lost_requests: float = 0.0
    lost_replies: float = 0.0
    late: float = 0.0  # it is done after the error was told
    late_leases: float = 0.0  # the same for what is asked about leases, which may be over or another's by then
    held_replies: float = 0.0  # of those on a line that is deaf: they come when it is not any more
    refused: float = 0.0  # a full disk, or what cannot be written
    silences: float = 0.0  # of 5 to 60 s
    slow: float = 0.02
    lost_hints: float = 0.0
    # Seconds between two of them
    crashes: float = 0.0
    stops: float = 0.0  # SIGSTOP, or a blocked event loop
    restarts: float = 0.0  # in order
    partitions: float = 0.0
    outages: float = 0.0
    clock_steps: float = 0.0
    deployments: float = 0.0  # a workflow gets another version
    workflow_pauses: float = 0.0
    rewinds: float = 0.0
    # Of an instance that starts
    missing_functions: float = 0.0  # it has not all of them
    # At a commit point
    crashes_at_points: float = 0.0
    stops_at_points: float = 0.0
    # Of a person's request
    hang_ups: float = 0.0
    rash: float = 0.0  # it is done twice, by two at once, under a key that is in use, or too late
    # Of a call
    failing_calls: float = 0.0
    hanging_calls: float = 0.0
    blocking_calls: float = 0.0
    deadly_calls: float = 0.0
    stubborn_calls: float = 0.0  # they do not stop when they are asked to
    wild_calls: float = 0.0  # they raise what is no Exception
    unwritable_calls: float = 0.0  # they return what no log can hold
    late_threads: float = 0.0  # their functions are entered up to one and a half leases later
    http_faults: float = 0.0  # of a request to another server
    # How things are
    instances: int = 3
    executions: int = 20
    minutes: float = 5.0  # until nothing goes wrong any more
    drift: float = 0.000_5  # by which clocks are fast or slow
    shuffled: bool = False
    hints: bool = True
    operations: float = 8.0  # seconds between what operators do
    settings: RuntimeSettings = field(default_factory=RuntimeSettings)
    most_steps: int = 2_000_000  # many times what any run needs

    def without(self, fault: str) -> Mixture:
        """Return the same without one kind of fault."""
        return replace(self, **{fault: type(getattr(self, fault))(0)})

    def with_only(self, faults: Collection[str]) -> Mixture:
        """Return the same without all other kinds of faults."""
        return replace(self, **{fault: type(getattr(self, fault))(0) for fault in FAULTS if fault not in faults})

    @property
    def faults(self) -> list[str]:
        """The kinds of faults that it has."""
        return [name for name in FAULTS if getattr(self, name)]


FAULTS = tuple(one.name for one in fields(Mixture) if one.default == 0.0 and one.type == "float")


def drawn(seed: int, **fixed: Any) -> Mixture:
    """Return the mixture of a seed; what is fixed is as it is given."""
    chance = Random(f"mixture {seed}")  # noqa: S311 - chance, not secrets
    of = chance.choice
    hints = of((False, True, True))
    found = Mixture(
        lost_requests=of((0, 0.004, 0.03)),
        lost_replies=of((0, 0.004, 0.03)),
        late=of((0, 0.004, 0.02)),
        refused=of((0, 0.002, 0.01)),
        silences=of((0, 0.002, 0.01)),
        slow=of((0.02, 0.2)),
        lost_hints=of((0.0, 0.1, 0.9)),
        crashes=of((0, 60, 20)),
        stops=of((0, 90, 20)),
        restarts=of((0, 0, 90)),
        partitions=of((0, 60, 20)),
        outages=of((0, 300, 60)),
        clock_steps=of((0, 0, 0, 60)),
        deployments=of((0, 0, 60)),
        workflow_pauses=of((0, 0, 60)),
        rewinds=of((0, 0, 15)),
        missing_functions=of((0, 0, 0.3)),
        crashes_at_points=of((0, 0.0002, 0.003)),
        stops_at_points=of((0, 0.003, 0.02)),
        hang_ups=of((0, 0.3)),
        rash=of((0, 0.1, 0.5)),
        failing_calls=of((0, 0.05, 0.2)),
        hanging_calls=of((0, 0.02)),
        blocking_calls=of((0, 0, 0.02)),
        deadly_calls=of((0, 0, 0.003)),
        stubborn_calls=of((0, 0, 0.02)),
        wild_calls=of((0, 0, 0.02)),
        unwritable_calls=of((0, 0, 0.02)),
        http_faults=of((0, 0.1, 0.6)),
        late_leases=of((0, 0, 0.05)),
        held_replies=of((0, 0.5)),
        late_threads=of((0, 0, 0.2)),
        instances=of((1, 2, 3, 5)),
        executions=of((10, 30, 60)),
        minutes=of((5, 10, 30)),
        hints=hints,
        operations=of((1.0, 4.0, 16.0)),
        settings=RuntimeSettings(
            allow_secrets={"*": ("*",)},
            lease_ttl=of((2_000, 5_000, 10_000, 30_000)),
            executions=of((3, 1_000)),
            calls=of((2, 200)),
            threads=of((1, 32)),
            cache_bytes=of((0, 6_000_000)),
            snapshot_every=of((5, 500)),
            snapshot_at_rest=of((3, 100)),
            step_events=of((3, 1_000)),
            poll=20_000 if hints else of((1_000, 5_000)),
            command_poll=10_000 if hints else of((500, 2_000)),
            wait_poll=10_000,
            outbox_poll=of((2_000, 10_000)),
            drain=5_000,
            grace=2_000,
            purge_every=3_600_000,
        ),
    )
    return replace(found, **fixed)
