"""The tables as dicts. Their values are frozen and replaced as a whole.

Several stores may share one database, as several processes share a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.core.search_terms import Terms
    from layover.ports.access import IdempotentReply, Key, LinkRow, SessionRow, UserSettingsRow, ViewRow, WorkflowStatus
    from layover.ports.batch_records import BatchItemRow, BatchRow
    from layover.ports.delivery_records import DeliveryRow, DestinationRow, PersonRow
    from layover.ports.limit_records import AdmissionRow
    from layover.ports.records import (
        AuditRow,
        ClosedExecution,
        DefinitionText,
        Entry,
        Head,
        Message,
        NewExecution,
        PointRow,
        QueuedCommand,
        Signal,
        Version,
        Wait,
    )
    from layover.ports.seal_records import Seal, SealKey
    from layover.ports.trigger_records import InputRow, TriggerEventRow, TriggerRow, TriggerToken
    from layover.ports.view_records import LogChunk, NodeProgress


def _machine_time() -> int:
    return int(time() * 1000)


@dataclass
class MemoryDatabase:
    """The tables, by execution id unless a comment says otherwise."""

    clock: Callable[[], int] = _machine_time
    heads: dict[str, Head] = field(default_factory=dict)
    infos: dict[str, NewExecution] = field(default_factory=dict)
    inputs: dict[str, bytes] = field(default_factory=dict)  # of those that are found by what they began with
    resumes: dict[str, int] = field(default_factory=dict)  # of those that were resumed: how often
    unindexed: set[str] = field(default_factory=set)  # marked as not in the search index
    terms: dict[str, Terms] = field(default_factory=dict)  # those that it has
    ends: dict[str, tuple[int, ClosedExecution]] = field(default_factory=dict)
    logs: dict[str, list[Entry]] = field(default_factory=dict)
    snapshots: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    commands: dict[str, list[QueuedCommand]] = field(default_factory=dict)
    points: dict[str, PointRow] = field(default_factory=dict)  # by their own ids
    outbox: dict[tuple[str, int, str], Message] = field(default_factory=dict)  # by sender, number and destination
    progress: dict[str, dict[str, NodeProgress]] = field(default_factory=dict)  # then by node
    node_logs: dict[str, dict[str, LogChunk]] = field(default_factory=dict)  # then by their own ids
    tokens: dict[bytes, Wait] = field(default_factory=dict)  # by hash
    waits: dict[tuple[str, str, str], Wait] = field(default_factory=dict)  # by name, key and point
    signals: dict[str, Signal] = field(default_factory=dict)  # by their own ids
    undispatched: set[str] = field(default_factory=set)  # ids of signals
    places: dict[str, AdmissionRow] = field(default_factory=dict)
    rates: dict[str, int] = field(default_factory=dict)  # by name: until when it is used up, in microseconds
    triggers: dict[str, TriggerRow] = field(default_factory=dict)  # by their own ids
    trigger_inputs: dict[tuple[str, str], InputRow] = field(default_factory=dict)  # by trigger and their own ids
    trigger_tokens: dict[str, TriggerToken] = field(default_factory=dict)  # by their hashes
    trigger_events: dict[str, dict[int, TriggerEventRow]] = field(default_factory=dict)  # by trigger and number
    deliveries: dict[str, DeliveryRow] = field(default_factory=dict)  # by their own ids
    destinations: dict[str, DestinationRow] = field(default_factory=dict)  # by name
    batches: dict[str, BatchRow] = field(default_factory=dict)  # by their own ids
    batch_items: dict[str, dict[int, BatchItemRow]] = field(default_factory=dict)  # by batch and number
    links: dict[bytes, LinkRow] = field(default_factory=dict)  # by hash
    user_settings: dict[str, UserSettingsRow] = field(default_factory=dict)  # by user
    saved_views: dict[tuple[str, str], ViewRow] = field(default_factory=dict)  # by user and name
    people: dict[str, PersonRow] = field(default_factory=dict)  # by user
    definition_texts: dict[tuple[str, int], DefinitionText] = field(default_factory=dict)  # by workflow and number
    versions: list[Version] = field(default_factory=list)
    audit: dict[tuple[int, str], AuditRow] = field(default_factory=dict)  # by moment and their own ids
    seals: dict[int, Seal] = field(default_factory=dict)  # by number
    seal_keys: dict[str, SealKey] = field(default_factory=dict)  # by their own ids
    audit_documents: dict[bytes, bytes] = field(default_factory=dict)  # by hash
    keys: dict[str, Key] = field(default_factory=dict)  # by their own ids
    sessions: dict[str, SessionRow] = field(default_factory=dict)  # by their own ids
    replies: dict[tuple[str, str], IdempotentReply] = field(default_factory=dict)  # by scope and key
    workflow_statuses: dict[str, WorkflowStatus] = field(default_factory=dict)  # by workflow
    locks: dict[str, tuple[str, int]] = field(default_factory=dict)  # by name: who holds it, and until when
    instances: set[str] = field(default_factory=set)  # those that live
