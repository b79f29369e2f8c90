"""Workflows: definitions, their versions, and whether they may be started."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layover.api.resources.executions import Graph
from layover.api.resources.shared import EmptyBody, Page, ReasonBody
from layover.api.resources.workflows import (
    Bundle,
    BundleBody,
    Checked,
    Differences,
    DryRun,
    DryRunBody,
    Imported,
    PauseWorkflowBody,
    SavedVersion,
    StandingChanged,
    VersionSummary,
    Workflow,
    WorkflowSummary,
)
from layover.client.requests import ClientRequest, checked_key, path_of, post, written

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from layover.client.transport import Transport

_YAML = "application/yaml"
_JSON = "application/json"


class Workflows:
    """Workflows of a server. A definition is a mapping, or text in YAML (which JSON is, too)."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def save(
        self, definition: Mapping[str, Any] | str, *, allow_unknown: bool = False, key: str | None = None
    ) -> SavedVersion:
        """Keep a definition: as a version of its own, unless the newest says the same.

        Node types that the server has no function for are refused, unless `allow_unknown`.
        """
        path = path_of("workflows", allow_unknown=allow_unknown or None)
        return await self._transport.ask(_definition("POST", path, definition, key), SavedVersion)

    async def replace(
        self, name: str, definition: Mapping[str, Any] | str, *, allow_unknown: bool = False
    ) -> SavedVersion:
        """Keep a definition of this name, as `save` does."""
        path = path_of("workflows", name, allow_unknown=allow_unknown or None)
        return await self._transport.ask(_definition("PUT", path, definition, None), SavedVersion)

    async def check(self, definition: Mapping[str, Any] | str, *, allow_unknown: bool = False) -> Checked:
        """Return everything that is wrong with a definition."""
        path = path_of("workflows", "check", allow_unknown=allow_unknown or None)
        return await self._transport.ask(_definition("POST", path, definition, None), Checked)

    async def list(self, *, limit: int | None = None, cursor: str | None = None) -> Page[WorkflowSummary]:
        """Return a page of workflows, by name."""
        path = path_of("workflows", limit=limit, cursor=cursor)
        return await self._transport.ask(ClientRequest(method="GET", path=path), Page[WorkflowSummary])

    async def each(self) -> AsyncIterator[WorkflowSummary]:
        """Return all workflows by name, page after page."""
        cursor: str | None = None
        while True:
            page = await self.list(limit=100, cursor=cursor)
            for one in page.items:
                yield one
            cursor = page.next
            if cursor is None:
                return

    async def get(self, name: str, *, version: int | None = None) -> Workflow:
        """Return a version of a workflow with its definition: the newest, or the one that is named."""
        return await self._transport.ask(
            ClientRequest(method="GET", path=path_of("workflows", name, version=version)), Workflow
        )

    async def versions(self, name: str, *, limit: int | None = None, cursor: str | None = None) -> Page[VersionSummary]:
        """Return a page of the versions of a workflow."""
        path = path_of("workflows", name, "versions", limit=limit, cursor=cursor)
        return await self._transport.ask(ClientRequest(method="GET", path=path), Page[VersionSummary])

    async def each_version(self, name: str) -> AsyncIterator[VersionSummary]:
        """Return all versions of a workflow, page after page."""
        cursor: str | None = None
        while True:
            page = await self.versions(name, limit=100, cursor=cursor)
            for one in page.items:
                yield one
            cursor = page.next
            if cursor is None:
                return

    async def graph(self, name: str, *, version: int | None = None) -> Graph:
        """Return the graph of a version of a workflow."""
        path = path_of("workflows", name, "graph", version=version)
        return await self._transport.ask(ClientRequest(method="GET", path=path), Graph)

    async def diff(self, name: str, from_: int | None = None, to: int | None = None) -> Differences:
        """Return what is different between two versions of a workflow."""
        path = path_of("workflows", name, "diff", from_=from_, to=to)
        return await self._transport.ask(ClientRequest(method="GET", path=path), Differences)

    async def delete(self, name: str) -> None:
        """Take a workflow away: it cannot be started any more, and what is open goes on."""
        await self._transport.do(ClientRequest(method="DELETE", path=path_of("workflows", name)))

    async def activate(self, name: str, *, key: str | None = None) -> StandingChanged:
        """Let a workflow be started again."""
        return await self._transport.ask(
            post(path_of("workflows", name, "activate"), EmptyBody(), key), StandingChanged
        )

    async def deactivate(self, name: str, reason: str | None = None, *, key: str | None = None) -> StandingChanged:
        """Let a workflow not be started any more."""
        ask = post(path_of("workflows", name, "deactivate"), ReasonBody(reason=reason), key)
        return await self._transport.ask(ask, StandingChanged)

    async def pause(
        self, name: str, reason: str | None = None, *, running: bool = False, key: str | None = None
    ) -> StandingChanged:
        """Hold what starts from now on; with `running`, what is under way, too."""
        body = PauseWorkflowBody(reason=reason, running=running)
        return await self._transport.ask(post(path_of("workflows", name, "pause"), body, key), StandingChanged)

    async def resume(self, name: str, *, key: str | None = None) -> StandingChanged:
        """Let a workflow go on, and what was paused with it."""
        return await self._transport.ask(post(path_of("workflows", name, "resume"), EmptyBody(), key), StandingChanged)

    async def dry_run(
        self,
        name: str,
        input: object = None,  # noqa: A002 - as the wire has it
        *,
        version: int | None = None,
        outputs: dict[str, Any] | None = None,
        answers: dict[str, Any] | None = None,
    ) -> DryRun:
        """Return what a run would do in which nothing is called: nodes give what `outputs` and `answers` say."""
        body = DryRunBody(input=input, version=version, outputs=outputs or {}, answers=answers or {})
        return await self._transport.ask(post(path_of("workflows", name, "dry-run"), body, None), DryRun)

    async def export(self, names: Sequence[str] = ()) -> Bundle:
        """Return definitions to be taken elsewhere: of some workflows, or of all."""
        path = path_of("workflows", "export", name=[*names])
        return await self._transport.ask(ClientRequest(method="GET", path=path), Bundle)

    async def import_(self, bundle: Bundle, *, allow_unknown: bool = False, key: str | None = None) -> Imported:
        """Keep definitions from elsewhere: all of them, or none."""
        body = BundleBody(format=bundle.format, workflows=bundle.workflows, exported_at=bundle.exported_at)
        path = path_of("workflows", "import", allow_unknown=allow_unknown or None)
        return await self._transport.ask(post(path, body, key), Imported)


def _definition(method: str, path: str, definition: Mapping[str, Any] | str, key: str | None) -> ClientRequest:
    is_text = isinstance(definition, str)
    return ClientRequest(
        method=method,
        path=path,
        body=definition.encode() if isinstance(definition, str) else written(dict(definition)),
        media_type=_YAML if is_text else _JSON,
        key=checked_key(key) if method == "POST" else None,
    )
