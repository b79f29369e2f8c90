"""The settings of an instance, with defaults for a small machine. Times are in milliseconds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from layover.core.definitions.destinations import DestinationDefinition
from layover.core.plan import PlannedNotify


class RuntimeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """`layover.Settings` as a runtime has them, which are described there."""

    lease_ttl: int = 30_000
    max_iterations: int | None = 10_000  # of loops and parallels over data that say none, when they are registered
    executions: int = 1_000  # driven at once
    calls: int = 200  # made at once
    calls_by_type: dict[str, int] = {}  # the same for single node types
    threads: int = 32  # for functions that are not async: as many of their calls are made at once
    give_back_after: int = 1_000  # an execution that has waited so long for a slot is left to an instance that has one
    abandoned_threads: int = 32  # that are replaced while functions whose calls were given up hold them
    cache_bytes: int = 6_000_000  # of memory for states that have come to rest, so that they need not be read again
    ended_bytes: int = 2_000_000  # the same for states that have come to their end, for those who ask for their results
    log_view_bytes: int = 20_000_000  # of memory for the nodes and legs that logs tell of, for the pages of long lists
    leg_flush: int = 2_000  # how long an execution that is durable by the leg goes on without writing
    snapshot_every: int = 500  # events, while an execution is driven
    snapshot_at_rest: int = 100  # events since the last one, when an execution comes to rest
    snapshot_bytes: int = 64_000_000  # a larger state is not written as a snapshot: it is read from its log
    commit_bytes: int = 16_000_000  # that go to the database in one group; one append may be larger, and goes by itself
    append_bytes: int = 256_000_000  # that an execution may write in one step; it fails if it needs more
    step_events: int = 1_000  # that are decided in one step; then others have their turn, and the next one goes on
    queue_warning: int = 500  # executions in one queue for call slots, from which on the log warns
    node_logs: bool = False  # what node functions log is kept
    node_log_bytes: int = 4_000_000  # of it for one execution, compressed
    poll: int = 1_000  # the longest time between two looks for something due
    command_poll: int = 200  # the same for commands that others sent to what is driven here
    act_wait: int = 10_000  # how long a pause, resume, cancel and the like waits until its execution has applied it
    wait_poll: int = 1_000  # the same for what is waited for here, and driven elsewhere
    outbox_poll: int = 2_000  # the same for messages that others have left undelivered
    audit_poll: int = 10_000  # the same for audit entries of others that wait for a seal
    search_index: bool = True  # it writes the search index, if no other instance does
    index_after: int = 1_000  # how long the search index lets rests gather before it takes them in
    jitter: bool = True  # the moments of retries are spread by chance, as their policies say
    drain: int = 30_000  # how long a pause waits for calls that are out
    grace: int = 10_000  # how long stopping waits for calls that are out
    store_grace: int = 5_000  # how long stopping waits, besides that, for a store that does not answer
    max_takeovers: int = 5  # an execution that loses more instances than this waits for an operator
    recovery_backoff: int = 1_000  # before an execution is recovered that lost two in a row; doubled for each one more
    suspect_alone: int = 10_000  # how long such an execution is driven alone then; doubled likewise
    blocked_after: int = 1_000  # how long a function may hold up everything else before it is named in the log
    blocked_limit: int = 300_000  # how long leases are renewed while a function holds up everything else
    unhealthy_after: int = 60_000  # how long a service may fail by errors of its own before `/healthz` says so
    http_timeout: int = 30_000  # how long a request of an `http` node may take, unless the node has a `timeout`
    http_private: bool = False  # such requests may also go to addresses that are not on the public internet
    public_url: str = "http://localhost:8080"  # where others reach this engine, for addresses to call back
    link_key: tuple[str, ...] = ()  # the first makes new links in mails
    retention: int | None = None  # how long executions are kept after their end, unless their workflow says otherwise
    signal_retention: int = 7 * 86_400_000  # how long signals are kept for those who look back
    audit_retention: int | None = None  # how long it is kept what people did; for ever, unless it is said
    purge_every: int = 60_000  # how often what is no longer kept is looked for
    redact: Callable[[str], object] | None = None  # masks texts, beside what is masked anyway
    allow_secrets: dict[str, tuple[str, ...]] = {}  # patterns of workflows, each with patterns of names
    secrets_file: str | None = None
    secrets_dir: str | None = None
    notify: tuple[PlannedNotify, ...] = ()  # beside the rules of each workflow
    destinations: dict[str, DestinationDefinition] = {}  # by name
    directory: Any = None  # a `Directory` of a program, or the path of a file
