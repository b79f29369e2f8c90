"""What is said about an occasion whose rule has no message of its own, or one that fails."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple
from zoneinfo import ZoneInfo

from layover.runtime.deliveries import german_texts

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
    def asked(self) -> str:
        """What a person is asked; nothing if that is not known."""
        return _text(self.point, "title") or _text(self.point, "node")

    @property
    def title(self) -> str:
        """What a person is asked."""
        return self.asked or "A question"

    @property
    def decided_by(self) -> str:
        """Who has decided, if the event is a decision."""
        return _text(self._decision, "by")

    @property
    def approved(self) -> bool:
        """Whether that was an approval."""
        return bool(self._decision.get("approved"))

    @property
    def error(self) -> str:
        """What went wrong, if the event tells of it."""
        error = self.event.get("error")
        return _text(error, "message") if isinstance(error, dict) else ""

    @property
    def _decision(self) -> Mapping[str, object]:
        decision = self.event.get("decision")
        return decision if isinstance(decision, dict) else {}

    def of_event(self, name: str) -> str:
        """Return a text of the event; nothing if it has none."""
        return _text(self.event, name)


class _Words(NamedTuple):
    """How one language tells of occasions."""

    texts: Mapping[str, Callable[[TextFacts], str]]
    labels: Mapping[str, str]


def default_text(kind: str, facts: TextFacts, language: str = "", zone: str = "") -> SpokenText:
    """Return the text of a kind of occasions in a language such as `de` or `de-AT`; in English if there is none.

    Times are those of a time zone, which is written behind them; of UTC if there is none.
    """
    words = _LANGUAGES.get(language.replace("_", "-").partition("-")[0].lower(), _ENGLISH)
    say = words.texts.get(kind)
    subject = say(facts) if say is not None else kind
    lines = [
        subject if subject.endswith((".", "?", "!")) else f"{subject}.",
        *_details(kind, facts, words.labels, zone),
    ]
    if facts.link:
        lines += ["", facts.link]
    return SpokenText(subject, "\n".join(lines))


def _details(kind: str, facts: TextFacts, labels: Mapping[str, str], zone: str) -> list[str]:
    lines: list[str] = []
    if facts.workflow:
        id_ = _text(facts.execution, "id")
        lines.append(f"{labels['workflow']}: {facts.workflow}" + (f", {labels['execution']} {id_}" if id_ else ""))
    deadline = _text(facts.point, "deadline")
    if deadline and kind not in _ENDED:
        lines.append(f"{labels['until']}: {_time(deadline, zone)}")
    said = [f"{labels[name]}: {facts.of_event(name)}" for name in _SAID if facts.of_event(name)]
    return lines + said


def _time(written: str, zone: str) -> str:
    """Return a time as people everywhere read it, to the minute."""
    try:
        there = datetime.fromisoformat(written).astimezone(ZoneInfo(zone or "UTC"))
    except (ValueError, OSError, KeyError, OverflowError):  # a zone that this machine does not know
        return written
    return f"{there:%Y-%m-%d %H:%M} {f'({zone})' if zone else 'UTC'}"


def _decided(facts: TextFacts) -> str:
    verb = "approved" if facts.approved else "rejected"
    return f"{facts.decided_by or 'Somebody'} has {verb}: {facts.title}"


def _failed(facts: TextFacts) -> str:
    return f"{facts.workflow} has failed" + (f": {facts.error}" if facts.error else "")


def _text(fields: Mapping[str, object], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


_ENDED: Final = frozenset({"pause.decided", "pause.answered", "pause.taken_back", "pause.expired", "pause.cancelled"})
_SAID: Final = ("question", "reply", "comment", "reason")
_TEXTS: Final[dict[str, Callable[[TextFacts], str]]] = {
    "pause.opened": lambda facts: facts.title,
    "pause.reminded": lambda facts: f"Reminder: {facts.title}",
    "pause.escalated": lambda facts: f"Escalated: {facts.title}",
    "pause.delegated": lambda facts: f"{facts.of_event('giver')} has asked {facts.of_event('taker')}: {facts.title}",
    "pause.asked": lambda facts: f"{facts.of_event('by')} asks you: {facts.title}",
    "pause.replied": lambda facts: f"{facts.of_event('by')} has replied: {facts.title}",
    "pause.decided": _decided,
    "pause.answered": lambda facts: f"{facts.of_event('by') or 'Somebody'} has answered: {facts.title}",
    "pause.taken_back": lambda facts: f"{facts.of_event('by') or 'Somebody'} has taken it back: {facts.title}",
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
_LABELS: Final = {
    "workflow": "Workflow",
    "execution": "execution",
    "until": "Until",
    "question": "Question",
    "reply": "Reply",
    "comment": "Comment",
    "reason": "Reason",
}
_ENGLISH: Final = _Words(_TEXTS, _LABELS)
_LANGUAGES: Final = {"en": _ENGLISH, "de": _Words(german_texts.TEXTS, german_texts.LABELS)}
