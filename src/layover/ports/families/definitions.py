"""Definitions: workflows and their versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from layover.ports.records import AuditRow, DefinitionText, Version, WrittenText
    from layover.ports.trigger_records import NewTrigger


class DefinitionStore(Protocol):
    """The versions of workflows. A version never changes."""

    async def save(  # noqa: PLR0913 - each is named where it is given
        self,
        workflow: str,
        hash_: str,
        document: bytes,
        now: int,
        audit: AuditRow | None = None,
        triggers: Sequence[NewTrigger] = (),
        *,
        text: WrittenText | None = None,
    ) -> Version:
        """Save a definition as the newest version, unless it is that already; a deleted workflow is active again.

        Its triggers are registered in the same transaction; those that it has no more are stopped. A text becomes that
        of the version, also if the version was there already; without one, the version keeps what it has.
        """

    async def find_text(self, workflow: str, number: int) -> DefinitionText | None:
        """Find the text of a version as it was written."""

    async def read_texts(self, after: tuple[str, int], limit: int) -> list[DefinitionText]:
        """Read the texts of all versions by workflow and number, beginning after one of them."""

    async def find_by_hash(self, hash_: str) -> Version | None:
        """Find a version by its hash."""

    async def find_latest(self, workflow: str) -> Version | None:
        """Find the newest version of a workflow."""

    async def list_versions(self, workflow: str | None = None) -> list[Version]:
        """List the versions of a workflow, or the newest of every workflow."""

    async def list_hashes(self, workflow: str | None = None) -> list[str]:
        """List the hashes of all versions of a workflow, or of every workflow, each once."""

    async def list_workflows(self, after: str = "", limit: int = 100) -> list[Version]:
        """List the newest versions of workflows whose names come after one, by name."""
