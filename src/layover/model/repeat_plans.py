"""What a retry or a rewind would do to an execution."""

from __future__ import annotations

from layover.model.shared import ContextId, Resource


class RepeatPlan(Resource, frozen=True, kw_only=True):
    """What an act would repeat, as things stand, in context ids; nothing was changed.

    A loop or parallel stands for all that was in rounds and branches that are done.
    """

    repeated: tuple[ContextId, ...] = ()  # nodes that were reached, and start from their beginning
    dropped: tuple[ContextId, ...] = ()  # those of them whose results are dropped
    superseded: tuple[ContextId, ...] = ()  # nodes whose open pause points are closed
    variables: tuple[str, ...] = ()  # that get back the value they had, or are unset again
    calls: tuple[ContextId, ...] = ()  # repeated nodes that called, started a child or sent before, and do it again
