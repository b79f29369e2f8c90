"""What a person is shown at a pause point: the question, the facts, the form, the buttons, and what each leads to.

A view is a pure function of a point and its schema: both are fixed when the point opens, and nothing that happens to
the point later (decisions, reminders, delegations) is part of it. Its canonical bytes are JSON with sorted keys and
without blanks, in UTF-8; their SHA-256 pins what a person had seen when they answered.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

from layover.core.audit_proofs import canonical_json
from layover.core.engine.state import PEOPLE
from layover.core.moments import moment

if TYPE_CHECKING:
    from layover.core.engine.state import Point

_BUTTONS: Final = {"approval": ("approved", "rejected"), "form": ("done",)}
# The port by which a node leaves when its deadline decides.
_DEADLINE_PORTS: Final = {
    "approve": "approved",
    "reject": "rejected",
    "expired": "expired",
    "continue": "done",
    "partial": "done",
}


class ViewButton(msgspec.Struct, frozen=True, kw_only=True):
    """One way to answer, named by the port that it leaves by; None if nothing is known of what it leads to."""

    port: str
    leads_to: str | None = None


class ViewDeadline(msgspec.Struct, frozen=True, kw_only=True):
    """When the time to answer ends, what happens then, and what that leads to."""

    at: str
    outcome: str | None = None
    leads_to: str | None = None


class PointView(msgspec.Struct, frozen=True, kw_only=True):
    """What a person is shown; `form` is the JSON Schema that an answer has to fit."""

    title: str
    shown: object = None
    form: object = None
    buttons: tuple[ViewButton, ...] = ()
    deadline: ViewDeadline | None = None

    def document(self) -> bytes:
        """Return the canonical bytes."""
        return canonical_json(msgspec.to_builtins(self))

    def hash(self) -> str:
        """Return the SHA-256 of the canonical bytes, in hex."""
        return sha256(self.document()).hexdigest()


def view_of(point: Point, schema: object) -> PointView | None:
    """Return what a person is shown at a point; None at one that no person answers."""
    if point.kind not in PEOPLE:
        return None
    leads_to = leads_to_of(point)
    deadline: ViewDeadline | None = None
    if point.deadline is not None:
        port = _DEADLINE_PORTS.get(point.on_deadline or "")
        consequence = leads_to.get(port) if port is not None else None
        deadline = ViewDeadline(at=moment(point.deadline), outcome=point.on_deadline, leads_to=consequence)
    return PointView(
        title=str(point.details.get("title") or ""),
        shown=point.details.get("shown"),
        form=schema,
        buttons=tuple([ViewButton(port=port, leads_to=leads_to.get(port)) for port in _BUTTONS[point.kind]]),
        deadline=deadline,
    )


def leads_to_of(point: Point) -> dict[str, str]:
    """Return what the ways out of a point lead to, as far as that is known."""
    found = point.details.get("leads_to")
    return {str(port): str(text) for port, text in found.items()} if isinstance(found, dict) else {}
