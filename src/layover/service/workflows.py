"""Workflows as one user registers, reads and changes them."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from layover.core.definitions.canonical import document
from layover.core.definitions.check import check
from layover.core.definitions.problems import InvalidDefinition, Problem
from layover.core.definitions.schema import format_schema
from layover.core.moments import Moment
from layover.core.plan import compile_plan, load
from layover.errors import NotFound
from layover.model.executions import WaitingOn
from layover.model.shared import Page
from layover.model.workflows import Bundle, Differences, DryRun
from layover.runtime.operations import dry_run as dry_runs
from layover.runtime.operations.deploy_plans import plan_deployment
from layover.runtime.queries.graphs import drawn
from layover.runtime.queries.node_executions import node_executions
from layover.runtime.results.executions import node_of
from layover.runtime.results.failures import failure_of
from layover.runtime.results.workflows import change_of, resting_of, version_of
from layover.service.actor import READ
from layover.service.cursors import malformed_cursor
from layover.service.definition_texts import source_of, text_in, written
from layover.service.differences import differences
from layover.service.node_types import node_types
from layover.service.pages import MOST
from layover.service.resume_times import end_of, end_texts

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Mapping, Sequence

    from layover.core.definitions.check import Checked
    from layover.core.definitions.read_text import Syntax
    from layover.core.plan import Plan
    from layover.interface.requests import ResumeTime
    from layover.model.deploy_plans import DeployPlan
    from layover.model.executions import Graph
    from layover.model.workflows import NodeType, Resting, WorkflowChange, WorkflowSource, WorkflowVersion
    from layover.ports.access import WorkflowStatus
    from layover.ports.records import Version
    from layover.service.actor import Actor

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,254}")
_NUMBER: Final = re.compile(r"[1-9][0-9]{0,9}")
_MOST_PROBLEMS: Final = 200
_MOST_RESTING: Final = 5_000  # executions of each status, and points, that are looked at


class WorkflowService:
    """Workflows: definitions, versions, and whether they may be started."""

    __slots__ = ("_actor",)

    def __init__(self, actor: Actor) -> None:
        self._actor = actor

    async def register(
        self, definition: str | bytes | Mapping[str, object], *, allow_unknown: bool, syntax: Syntax = "yaml"
    ) -> WorkflowVersion:
        """Store a definition as the newest version of its workflow, unless it is that already."""
        self._actor.require("workflow:write")
        found = await self.checked(definition, allow_unknown=allow_unknown, syntax=syntax)
        plan = await asyncio.to_thread(compile_plan, found)
        version, _ = await self.save(plan, definition if isinstance(definition, str | bytes) else None)
        return version

    async def check(
        self, definition: str | bytes | Mapping[str, object], *, allow_unknown: bool, syntax: Syntax = "yaml"
    ) -> tuple[Problem, ...]:
        """Return everything that is wrong with a definition."""
        self._actor.require("workflow:read")
        return tuple((await self.checked(definition, allow_unknown=allow_unknown, syntax=syntax)).problems)

    async def node_types(self) -> tuple[NodeType, ...]:
        """Return the types that a node may have."""
        self._actor.require("workflow:read")
        return node_types(self._actor.runtime.workflows.known_types())

    async def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of definitions."""
        self._actor.require("workflow:read")
        return await asyncio.to_thread(format_schema)

    async def get(self, name: str, version: int | None) -> WorkflowVersion:
        """Return a version of a workflow with its definition."""
        self._actor.require("workflow:read")
        status = await self._actor.runtime.workflow_status.get(name)
        return version_of(await self._version(name, version), status, with_definition=True)

    async def source(self, name: str, version: int | None) -> WorkflowSource:
        """Return the text of a version, as it was written."""
        self._actor.require("workflow:read")
        found = await self._version(name, version)
        text = await self._actor.runtime.instance.store.definitions.find_text(name, found.number)
        return await asyncio.to_thread(source_of, found, text)

    async def list(self, limit: int, cursor: str | None) -> Page[WorkflowVersion]:
        """Return a page of workflows by name, each with its newest version; deleted ones are left out."""
        self._actor.require("workflow:read")
        if cursor and not _NAME.fullmatch(cursor):
            raise malformed_cursor()
        most = min(limit, MOST)
        listed: list[WorkflowVersion] = []
        async for version, status in self._all(cursor or "", most + 1):
            listed.append(version_of(version, status))
            if len(listed) > most:
                break
        items = tuple(listed[:most])
        return Page(items=items, next=items[-1].name if len(listed) > most else None)

    async def versions(self, name: str, limit: int, cursor: str | None) -> Page[WorkflowVersion]:
        """Return a page of the versions of a workflow, the newest first."""
        self._actor.require("workflow:read")
        if cursor and not _NUMBER.fullmatch(cursor):
            raise malformed_cursor()
        most = min(limit, MOST)
        status = await self._actor.runtime.workflow_status.get(name)
        stored = await self._actor.runtime.instance.store.definitions.list_versions(name)
        found = [one for one in reversed(stored) if not cursor or one.number < int(cursor)]
        items = tuple(version_of(one, status) for one in found[:most])
        return Page(items=items, next=str(items[-1].version) if len(found) > most else None)

    async def graph(self, name: str, version: int | None) -> Graph:
        """Return the graph of a version: its nodes with those inside of containers, and its edges."""
        self._actor.require("workflow:read")
        found = await self._version(name, version)
        plan = await asyncio.to_thread(load, msgspec.json.decode(found.document))
        return drawn(plan, found.number)

    async def diff(self, name: str, before: int | None, after: int | None) -> Differences:
        """Return what is different between two versions: by default the newest and the one before it."""
        self._actor.require("workflow:read")
        later = await self._version(name, after)
        earlier = await self._version(name, before if before is not None else max(later.number - 1, 1))
        found = differences(msgspec.json.decode(earlier.document), msgspec.json.decode(later.document))
        return Differences(name=later.workflow, before=earlier.number, after=later.number, differences=tuple(found))

    async def compare(
        self, name: str, definition: str | bytes | Mapping[str, object], *, syntax: Syntax = "yaml"
    ) -> Differences:
        """Return how a definition differs from the newest version; `after` is the number that it would get."""
        self._actor.require("workflow:read")
        found = await self.checked(definition, allow_unknown=True, syntax=syntax)
        plan = await asyncio.to_thread(compile_plan, found)
        newest = await self._version(name, None)
        if plan.definition.name != name:
            message = f"The definition is one of `{plan.definition.name}`, not of `{name}`."
            raise InvalidDefinition([Problem(code="other_name", path="$.name", message=message)])
        proposed = msgspec.json.decode(msgspec.json.encode(document(plan.definition)))
        changed = tuple(differences(msgspec.json.decode(newest.document), proposed))
        after = newest.number if plan.hash == newest.hash else newest.number + 1
        return Differences(name=name, before=newest.number, after=after, differences=changed)

    async def resting(self, name: str) -> Resting:
        """Return where the executions of a workflow rest that have not ended, as far as they are counted."""
        self._actor.require("workflow:read")
        self._actor.require(*READ)
        runtime = self._actor.runtime
        await runtime.workflow_status.get(name)
        return resting_of(name, await runtime.instance.store.queries.count_resting(name, _MOST_RESTING))

    async def dry_run_of(
        self,
        definition: str | bytes | Mapping[str, object],
        input: object,  # noqa: A002 - as the interface
        outputs: Mapping[str, object],
        answers: Mapping[str, object],
    ) -> DryRun:
        """Play a definition that is stored nowhere, as `dry_run` does."""
        self._actor.require("workflow:read")
        found = await self.checked(definition, allow_unknown=True)
        plan = await asyncio.to_thread(compile_plan, found)
        return await self._play(plan, input, outputs, answers)

    async def plan(
        self, definition: str | bytes | Mapping[str, object], map_: Mapping[str, str], *, allow_unknown: bool
    ) -> DeployPlan:
        """Return what a definition would mean to the open executions of its workflow; nothing is changed."""
        self._actor.require("workflow:read")
        self._actor.require(*READ)
        found = await self.checked(definition, allow_unknown=allow_unknown)
        return await self.planned(await asyncio.to_thread(compile_plan, found), map_)

    async def planned(self, plan: Plan, map_: Mapping[str, str]) -> DeployPlan:
        """Return what a version would mean to the open executions of its workflow; nothing is changed."""
        self._actor.require("workflow:read")
        self._actor.require(*READ)
        instance = self._actor.runtime.instance
        stored = await instance.store.definitions.list_versions(plan.definition.name)
        number = next((one.number for one in reversed(stored) if one.hash == plan.hash), None)
        return await plan_deployment(instance, plan, map_, number)

    async def dry_run(
        self,
        name: str,
        version: int | None,
        input: object,  # noqa: A002 - as the interface
        outputs: Mapping[str, object],
        answers: Mapping[str, object],
    ) -> DryRun:
        """Play a workflow with given outputs and answers: nothing is called, stored or waited for."""
        self._actor.require("workflow:read")
        plan = await self._actor.runtime.instance.plans.of((await self._version(name, version)).hash)
        return await self._play(plan, input, outputs, answers)

    async def export(self, names: Sequence[str]) -> Bundle:
        """Return the newest definitions of some workflows, or of all."""
        self._actor.require("workflow:read")
        runtime = self._actor.runtime
        for name in names:
            await runtime.workflow_status.get(name)
        newest = (
            [await runtime.instance.store.definitions.find_latest(name) for name in sorted(set(names))]
            if names
            else [version async for version, _ in self._all("", MOST)]
        )
        found = [one for one in newest if one is not None]
        definitions = runtime.instance.store.definitions
        texts = [await definitions.find_text(one.workflow, one.number) for one in found]
        return Bundle(
            sources={text.workflow: text.body.decode() for text in texts if text is not None},
            exported_at=Moment.of(runtime.instance.clock.now()),
            workflows=tuple(msgspec.json.decode(one.document) for one in found),
            triggers=tuple(await runtime.trigger_resources.export([one.workflow for one in found])),
        )

    async def import_(self, bundle: Bundle, *, allow_unknown: bool) -> tuple[WorkflowVersion, ...]:
        """Store all definitions of a bundle, each as the newest version of its workflow, or none.

        A text of the bundle that says something else than its definition is not kept.
        """
        self._actor.require("workflow:write")
        plans = await self._plans(bundle, self._known_types(allow_unknown=allow_unknown))
        for plan in plans:
            self._actor.runtime.workflows.check_secrets(plan)
        resources, given = self._actor.runtime.trigger_resources, bundle.triggers
        await resources.check_import(plans, given, allow_unknown=allow_unknown)
        accepted = self._actor.runtime.workflows.accepted
        texts = [await text_in(bundle, plan, accepted) for plan in plans]
        saved = [(await self.save(plan, text))[0] for plan, text in zip(plans, texts, strict=True)]
        entries = [self._actor.entry("trigger.import", f"{one.get('workflow')}/{one.get('name')}") for one in given]
        addresses = await resources.import_(given, entries)
        return tuple(
            msgspec.structs.replace(one, addresses={**one.addresses, **addresses.get(one.name, {})}) for one in saved
        )

    async def pause(self, name: str, reason: str, *, running: bool, until: ResumeTime | None = None) -> WorkflowChange:
        """Hold what starts from now on; with `running`, what has begun, too; perhaps until a time or a signal.

        `more` in the result says that there were many: the same call again goes on with the others.
        """
        actor = self._actor
        actor.require("workflow:write")
        end = end_of(until, actor.runtime.instance.clock.now())
        entry = actor.entry("workflow.pause", name, reason=reason or None, running=running, **end_texts(until))
        moved = await actor.runtime.workflow_status.pause(name, reason, end, running=running, by=actor.by, audit=entry)
        return change_of(moved.status, executions=moved.executions, more=moved.more)

    async def resume(self, name: str) -> WorkflowChange:
        """Let a workflow go on: new starts, those that were held, and those that were paused with it."""
        actor = self._actor
        actor.require("workflow:write")
        moved = await actor.runtime.workflow_status.resume(
            name, by=actor.by, audit=actor.entry("workflow.resume", name)
        )
        return change_of(moved.status, executions=moved.executions, more=moved.more)

    async def set_breakpoint(self, name: str, node: str, reason: str) -> WorkflowChange:
        """Pause each execution of a workflow before a node, whenever it comes there."""
        actor = self._actor
        actor.require("workflow:write")
        entry = actor.entry("workflow.set_breakpoint", name, node=node, reason=reason or None)
        return change_of(
            await actor.runtime.workflow_status.set_breakpoint(name, node, reason, by=actor.by, audit=entry)
        )

    async def clear_breakpoint(self, name: str, node: str | None) -> WorkflowChange:
        """Let executions of a workflow no longer pause before a node, or before any."""
        actor = self._actor
        actor.require("workflow:write")
        entry = actor.entry("workflow.clear_breakpoint", name, node=node)
        return change_of(await actor.runtime.workflow_status.clear_breakpoint(name, node or "", audit=entry))

    async def schedule_resume(self, name: str, when: ResumeTime | None) -> WorkflowChange:
        """Set when a paused workflow goes on by itself; None: it no longer does."""
        actor = self._actor
        actor.require("workflow:write")
        end = end_of(when, actor.runtime.instance.clock.now())
        entry = actor.entry("workflow.schedule_resume", name, **end_texts(when))
        moved = await actor.runtime.workflow_status.schedule_resume(name, end, by=actor.by, audit=entry)
        return change_of(moved.status)

    async def activate(self, name: str) -> WorkflowChange:
        """Let a workflow be started again."""
        actor = self._actor
        actor.require("workflow:write")
        entry = actor.entry("workflow.activate", name)
        return change_of(await actor.runtime.workflow_status.set(name, "active", by=actor.by, audit=entry))

    async def deactivate(self, name: str, reason: str) -> WorkflowChange:
        """Refuse to start a workflow from now on; what has begun goes on."""
        actor = self._actor
        actor.require("workflow:write")
        entry = actor.entry("workflow.deactivate", name, reason=reason or None)
        return change_of(await actor.runtime.workflow_status.set(name, "inactive", reason, by=actor.by, audit=entry))

    async def delete(self, name: str) -> None:
        """Delete a workflow: its name is unknown from then on, and its open executions go on."""
        actor = self._actor
        actor.require("workflow:write")
        await actor.runtime.workflow_status.set(
            name, "deleted", by=actor.by, audit=actor.entry("workflow.delete", name)
        )

    # What routes of HTTP need besides

    async def checked(
        self, definition: str | bytes | Mapping[str, object], *, allow_unknown: bool, syntax: Syntax = "yaml"
    ) -> Checked:
        """Return what is found in a definition, checked beside the event loop."""
        functions = self._known_types(allow_unknown=allow_unknown)
        return await asyncio.to_thread(check, definition, syntax=syntax, functions=functions)

    async def save(self, plan: Plan, text: str | bytes | None = None) -> tuple[WorkflowVersion, bool]:
        """Store a plan and the text that it is made of; return its version, and whether that was the newest already."""
        actor = self._actor
        plan = await actor.runtime.workflows.accepted(plan)
        name, store = plan.definition.name, actor.runtime.instance.store
        newest = await store.definitions.find_latest(name)
        before = await store.workflow_status.list_statuses([name])
        entry = actor.entry("workflow.save", name, hash=plan.hash)
        kept = await asyncio.to_thread(written, text) if text is not None else None
        version = await actor.runtime.workflows.register(plan, audit=entry, text=kept)
        was_deleted = any(one.state == "deleted" for one in before)
        is_known = newest is not None and newest.number == version.number and not was_deleted
        found = version_of(version, before[0] if before and not was_deleted else None)
        addresses = await actor.runtime.trigger_resources.first_tokens(plan)
        return msgspec.structs.replace(found, addresses=addresses), is_known

    async def _play(
        self, plan: Plan, given: object, outputs: Mapping[str, object], answers: Mapping[str, object]
    ) -> DryRun:
        """Play a plan beside the event loop."""
        now = self._actor.runtime.instance.clock.now()
        run = dry_runs.DryRunner(plan, outputs=outputs, answers=answers, now=now)
        await asyncio.to_thread(run.run, given)
        return _dry_run_of(plan, run)

    async def _version(self, name: str, number: int | None) -> Version:
        """Return a version of a workflow, the newest if no number is given; a deleted one has none."""
        store = self._actor.runtime.instance.store
        await self._actor.runtime.workflow_status.get(name)
        if number is None:
            newest = await store.definitions.find_latest(name)
            if newest is None:
                raise NotFound(f"There is no workflow `{name}`.", code="unknown_workflow")
            return newest
        for one in await store.definitions.list_versions(name):
            if one.number == number:
                return one
        raise NotFound(f"The workflow `{name}` has no version {number}.", code="unknown_version")

    async def _all(self, after: str, at_once: int) -> AsyncIterator[tuple[Version, WorkflowStatus | None]]:
        """Return workflows by name, each with its newest version and its status; deleted ones are left out."""
        store = self._actor.runtime.instance.store
        while page := await store.definitions.list_workflows(after, at_once):
            workflow_statuses = {
                one.workflow: one for one in await store.workflow_status.list_statuses([one.workflow for one in page])
            }
            for version in page:
                status = workflow_statuses.get(version.workflow)
                if status is None or status.state != "deleted":
                    yield version, status
            after = page[-1].workflow

    def _known_types(self, *, allow_unknown: bool) -> Collection[str] | None:
        """Return the node types that a definition may have, or None if it may have any."""
        return None if allow_unknown else self._actor.runtime.workflows.known_types()

    async def _plans(self, bundle: Bundle, functions: Collection[str] | None) -> Sequence[Plan]:
        """Return the plans of all definitions, or refuse them all for what is wrong with any of them."""
        plans: dict[str, Plan] = {}
        problems: list[Problem] = []
        for index, definition in enumerate(bundle.workflows):
            within = f"$.workflows[{index}]"
            try:
                plan = await asyncio.to_thread(lambda one: compile_plan(check(one, functions=functions)), definition)
            except InvalidDefinition as error:
                problems += [_moved(one, within) for one in error.problems if one.severity == "error"]
                continue
            name = plan.definition.name
            if name in plans:
                message = f"`{name}` is there twice."
                problems.append(Problem(code="duplicate_name", path=f"{within}.name", message=message))
            plans[name] = plan
        if problems:
            raise InvalidDefinition(problems[:_MOST_PROBLEMS])
        return list(plans.values())


def _moved(problem: Problem, within: str) -> Problem:
    return msgspec.structs.replace(problem, path=f"{within}{problem.path.removeprefix('$')}")


def _dry_run_of(plan: Plan, run: dry_runs.DryRunner) -> DryRun:
    state, facts = run.state, run.state.facts
    points = sorted(state.points.rows.values(), key=lambda point: (point.opened_at, point.node))
    return DryRun(
        status=state.status,
        outcome=facts.outcome,
        output=facts.output,
        error=failure_of(facts.error),
        nodes=tuple(node_of(one) for one in node_executions(plan, run.log)),
        waiting_on=tuple(
            WaitingOn(
                context_id=point.node,
                kind=point.kind,
                since=Moment.of(point.opened_at),
                until=Moment.maybe(point.deadline),
            )
            for point in points
        ),
    )
