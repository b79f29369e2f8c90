"""The executions of a database that may be open elsewhere: it is opened only to read."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from layover.admin.addresses import file_of, without_password
from layover.admin.examination.database import hint_for
from layover.bootstrap import inspectable_store, living_instances
from layover.core.definitions.node_types import TYPES
from layover.errors import LayoverError, Unavailable
from layover.model.diagnosis import Finding
from layover.nodes.registry import Registry
from layover.ports.records import CLOSED
from layover.runtime.examination.executions import (
    OpenExecutions,
    examine_outbox,
    examine_retention,
    judge_instances,
    tell_counts,
)
from layover.runtime.examination.secrets import examine_secrets
from layover.runtime.passive import PassiveRuntime
from layover.secret_providers import built_in_providers
from layover.settings import runtime_settings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.nodes.registry import AnyFunction
    from layover.settings import Settings


async def examine_executions(db: str, settings: Settings, nodes: Iterable[AnyFunction] | None) -> list[Finding]:
    """Look at instances, at open executions, and at what is kept for them."""
    path, shown = file_of(db), without_password(db)
    absent = Finding("database", "ok", f"{shown} does not exist yet; the first command that writes creates it")
    if path is not None and not path.is_file():
        return [] if path.exists() else [absent]
    if path is not None and not path.stat().st_size:
        return [Finding("database", "ok", f"{shown} is empty; the first command that writes fills it")]
    try:
        async with _looking_at(db, settings) as runtime:
            opened = runtime.operations
            living, counts = await _living(db), await opened.lists.counts()
            look = OpenExecutions(opened, living, _types_of(nodes) if nodes is not None else None)
            how_to_start = f"layover worker --db {quote(shown)} --nodes MODULE"
            return [
                tell_counts(counts),
                judge_instances(living, counts, how_to_start) if living is not None else _unseen(),
                *await look.findings(),
                *await examine_secrets(opened.instance),
                await examine_outbox(opened),
                await examine_retention(opened, sum(count for status, count in counts.items() if status in CLOSED)),
            ]
    except LayoverError as error:
        if path is None and error.code == "missing":
            return [absent]
        return [Finding("database", "problem", error.message, hint_for(error))]


def _looking_at(db: str, settings: Settings) -> PassiveRuntime:
    """Return a runtime that only reads, with the secrets that an engine with the same settings would have."""
    chosen = runtime_settings(settings)
    providers = built_in_providers(chosen.secrets_file, chosen.secrets_dir)
    return PassiveRuntime(inspectable_store(db), Registry(), acts=False, settings=chosen, secrets=providers)


async def _living(db: str) -> list[str] | None:
    """Return the instances that are alive; None if this user may not see them."""
    try:
        return await living_instances(db)
    except Unavailable as error:
        if error.code != "denied":
            raise
        return None


def _unseen() -> Finding:
    hint = "Run it as the user of the instances: they belong to another one."
    return Finding("instances", "warning", "this user may not see which are alive", hint)


def _types_of(nodes: Iterable[AnyFunction]) -> frozenset[str]:
    registry = Registry()
    for function in nodes:
        registry.add(function)
    return frozenset({*TYPES, "http", *registry.parameters()})
