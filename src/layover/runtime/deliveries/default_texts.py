"""What is said about an occasion whose rule has no message of its own, or one that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class SpokenText(NamedTuple):
    """A subject in one line, and a text."""

    subject: str
    text: str


class TextFacts(NamedTuple):
    """What a text can tell of: the event, its point and its execution, by the names that templates have for them."""

    event: Mapping[str, object]
    point: Mapping[str, object]
    execution: Mapping[str, object]
    workflow: str
    link: str

    @property
    def title(self) -> str:
        """What a person is asked."""
        return _text(self.point, "title") or _text(self.point, "node") or "A question"

    def of_event(self, name: str) -> str:
        """Return a text of the event; nothing if it has none."""
        return _text(self.event, name)


def default_text(kind: str, facts: TextFacts) -> SpokenText:
    """Return the text of a kind of occasions."""
    say = _TEXTS.get(kind)
    subject = say(facts) if say is not None else kind
    lines = [subject if subject.endswith((".", "?", "!")) else f"{subject}.", *_details(kind, facts)]
    if facts.link:
        lines += ["", facts.link]
    return SpokenText(subject, "\n".join(lines))


def _details(kind: str, facts: TextFacts) -> list[str]:
    lines: list[str] = []
    if facts.workflow:
        id_ = _text(facts.execution, "id")
        lines.append(f"Workflow: {facts.workflow}" + (f", execution {id_}" if id_ else ""))
    deadline = _text(facts.point, "deadline")
    if deadline and kind not in _ENDED:
        lines.append(f"Until: {deadline}")
    said = [f"{name.capitalize()}: {facts.of_event(name)}" for name in ("comment", "reason") if facts.of_event(name)]
    return lines + said


def _decided(facts: TextFacts) -> str:
    decision = facts.event.get("decision")
    known = decision if isinstance(decision, dict) else {}
    verb = "approved" if known.get("approved") else "rejected"
    return f"{_text(known, 'by') or 'Somebody'} has {verb}: {facts.title}"


def _failed(facts: TextFacts) -> str:
    error = facts.event.get("error")
    message = _text(error, "message") if isinstance(error, dict) else ""
    return f"{facts.workflow} has failed" + (f": {message}" if message else "")


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


_ENDED: Final = frozenset({"pause.decided", "pause.answered", "pause.expired", "pause.cancelled"})
_TEXTS: Final[dict[str, Callable[[TextFacts], str]]] = {
    "pause.opened": lambda facts: facts.title,
    "pause.reminded": lambda facts: f"Reminder: {facts.title}",
    "pause.escalated": lambda facts: f"Escalated: {facts.title}",
    "pause.delegated": lambda facts: f"{facts.of_event('giver')} has asked {facts.of_event('taker')}: {facts.title}",
    "pause.decided": _decided,
    "pause.answered": lambda facts: f"{facts.of_event('by') or 'Somebody'} has answered: {facts.title}",
    "pause.expired": lambda facts: f"Not answered in time: {facts.title}",
    "pause.cancelled": lambda facts: f"No longer needed: {facts.title}",
    "pause.reopened": lambda facts: f"Asked again: {facts.title}",
    "execution.paused": lambda facts: f"{facts.workflow} is paused",
    "execution.resumed": lambda facts: f"{facts.workflow} goes on",
    "execution.completed": lambda facts: f"{facts.workflow} is done",
    "execution.failed": _failed,
    "execution.cancelled": lambda facts: f"{facts.workflow} was cancelled",
    "trigger.error": lambda facts: f"The trigger {facts.of_event('subject')} fails",
    "destination.disabled": lambda facts: f"The destination {facts.of_event('subject')} is disabled",
    "delivery.dead": lambda facts: f"A delivery to {facts.of_event('subject')} was given up",
}
