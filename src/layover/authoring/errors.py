"""Errors while a workflow is being built, before it is checked as a whole."""

from __future__ import annotations

from layover.errors import LayoverError


class BadBuild(LayoverError):  # noqa: N818 - it says what the build is
    """A node or an edge that cannot be added to a workflow."""

    code = "bad_workflow"


class UnknownPort(BadBuild, LookupError):  # noqa: N818 - it says what the port is
    """A port that a node does not have."""

    code = "unknown_port"


class UnknownNode(BadBuild, LookupError):  # noqa: N818 - it says what the node is
    """A node that a workflow does not have."""

    code = "unknown_node"
