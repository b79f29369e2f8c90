"""The names of spans, attributes, events and links: `docs/reference/tracing.md` describes each of them.

Values are ids, names and numbers of the engine. Inputs, outputs and texts of errors are never among them.
"""

from __future__ import annotations

from typing import Final

SCOPE: Final = "layover"  # the name of the instrumentation

LEG: Final = "leg"  # a span is called `leg` and the workflow
ATTEMPT: Final = "attempt"  # a span is called `attempt` and the node

EXECUTION: Final = "layover.execution.id"
EXECUTION_DEPTH: Final = "layover.execution.depth"
WORKFLOW: Final = "layover.workflow"
VERSION: Final = "layover.workflow.version"
INSTANCE: Final = "layover.instance"
LEG_NUMBER: Final = "layover.leg.number"
LEG_DEPTH: Final = "layover.leg.depth"
LEG_CAUSE: Final = "layover.leg.cause"
NODE: Final = "layover.node.id"
NODE_TYPE: Final = "layover.node.type"
NODE_ATTEMPT: Final = "layover.node.attempt"
PROBE: Final = "layover.node.probe"
UNDO: Final = "layover.node.undo"
OUTCOME: Final = "layover.outcome"
PAUSE_CAUSE: Final = "layover.pause.cause"
LINK: Final = "layover.link"
ERROR_TYPE: Final = "error.type"

PAUSED: Final = "paused"  # events
RESUMED: Final = "resumed"

STARTED_BY: Final = "started_by"  # what a link leads to
PREVIOUS_LEG: Final = "previous_leg"
RESUMED_BY: Final = "resumed_by"
