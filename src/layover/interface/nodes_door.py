"""The part of the door that is about nodes, across executions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.interface.arguments import NODE_STATUSES, check_words
from layover.interface.bounds import (
    CONDITION,
    MOST_CONDITIONS,
    SHORT,
    check_name_in_filter,
    check_number,
    check_text,
    check_texts,
)
from layover.interface.durations import Duration, instant_of, milliseconds_of
from layover.interface.listing import Listing
from layover.interface.requests import NodeSearch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from layover.interface.backend import Backend
    from layover.model.node_searches import FoundNode


class NodesDoor:
    """What a program can ask about nodes of all executions."""

    _backend: Backend

    def node_executions(  # noqa: PLR0913 - each is named where it is given
        self,
        *,
        workflow: str | None = None,
        tag: str | None = None,
        node: str | None = None,
        type: str | None = None,  # noqa: A002 - as everywhere
        where: str | Sequence[str] = (),
        status: str | Sequence[str] = (),
        error_code: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        min_duration: Duration | None = None,
        max_duration: Duration | None = None,
        min_resumes: int | None = None,
    ) -> Listing[FoundNode]:
        """Return nodes of all executions, those of the newest execution first.

        `node` is its id in the definition. `where` are conditions such as `input.total>100` or `output.state=sent`, on
        what the node got and gave; with `node`, an index serves them. The executions were created from `since` on and
        before `until`; those nodes that have a duration have ended. With `min_resumes=1`, `status="failed"` are those
        that failed after a resume.
        """
        check_name_in_filter(workflow)
        for name, text in {"tag": tag, "node": node, "type": type, "error_code": error_code}.items():
            check_text(name, text, SHORT, 1)
        check_number("min_resumes", min_resumes, 0)
        wanted = NodeSearch(
            workflow=workflow,
            tag=tag,
            node=node,
            type=type,
            where=check_texts("where", [where] if isinstance(where, str) else where, MOST_CONDITIONS, CONDITION),
            status=check_words("status", status, NODE_STATUSES),
            error_code=error_code,
            since=instant_of("since", since),
            until=instant_of("until", until),
            min_duration=milliseconds_of("min_duration", min_duration),
            max_duration=milliseconds_of("max_duration", max_duration),
            min_resumes=min_resumes,
        )
        executions = self._backend.executions
        return Listing(lambda limit, cursor: executions.search_nodes(wanted, limit, cursor))
