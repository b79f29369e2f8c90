"""Definitions as they were written: which text is kept for a version, and how it is told."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Literal, cast

import msgspec

from layover.authoring.readable import as_people_write
from layover.core.definitions.check import check
from layover.core.definitions.problems import InvalidDefinition
from layover.core.moments import Moment
from layover.core.plan import compile_plan
from layover.model.workflows import WorkflowSource
from layover.ports.records import WrittenText

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from layover.core.plan import Plan
    from layover.model.workflows import Bundle
    from layover.ports.records import DefinitionText, Version

_MediaType = Literal["application/yaml", "application/json"]
_YAML: Final = "application/yaml"
_JSON: Final = "application/json"


def written(text: str | bytes) -> WrittenText:
    """Return the text of a sound definition as it is kept. It is JSON if it can be read as that, however it came."""
    body = text.encode() if isinstance(text, str) else text
    return WrittenText(media_type=_JSON if _is_json(body) else _YAML, body=body)


async def text_in(bundle: Bundle, plan: Plan, accepted: Callable[[Plan], Awaitable[Plan]]) -> str | None:
    """Return the text of a definition in a bundle, if it says the same as the definition, as that is accepted here."""
    text = bundle.sources.get(plan.definition.name)
    found = await asyncio.to_thread(_plan_of, text) if text is not None else None
    if found is None or found.definition.name != plan.definition.name:
        return None
    is_same = found.hash == plan.hash or (await accepted(found)).hash == (await accepted(plan)).hash
    return text if is_same else None


def source_of(version: Version, text: DefinitionText | None) -> WorkflowSource:
    """Return the text of a version; if none was given, the definition as people write it."""
    if text is None:
        from layover.core.definitions.yaml_write import write_yaml  # noqa: PLC0415 - loaded only when needed

        made = write_yaml(as_people_write(msgspec.json.decode(version.document)))
        return _source(version, _YAML, made, version.created_at, as_written=False)
    return _source(version, cast("_MediaType", text.media_type), text.body.decode(), text.changed_at, as_written=True)


def _source(version: Version, media_type: _MediaType, text: str, at: int, *, as_written: bool) -> WorkflowSource:
    return WorkflowSource(
        name=version.workflow,
        version=version.number,
        media_type=media_type,
        text=text,
        as_written=as_written,
        changed_at=Moment.of(at),
    )


def _plan_of(text: str) -> Plan | None:
    try:
        return compile_plan(check(text, syntax="auto"))
    except InvalidDefinition:
        return None


def _is_json(body: bytes) -> bool:
    if not body.lstrip().startswith(b"{"):
        return False
    try:
        msgspec.json.decode(body, type=dict[str, msgspec.Raw])
    except msgspec.DecodeError:
        return False
    return True
