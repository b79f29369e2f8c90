"""The default texts in German."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from layover.runtime.deliveries.default_texts import TextFacts

LABELS: Final = {
    "workflow": "Workflow",
    "execution": "Ausführung",
    "until": "Frist",
    "question": "Frage",
    "reply": "Antwort",
    "comment": "Kommentar",
    "reason": "Grund",
}


def _decided(facts: TextFacts) -> str:
    verb = "genehmigt" if facts.approved else "abgelehnt"
    return f"{facts.decided_by or 'Jemand'} hat {verb}: {_title(facts)}"


def _failed(facts: TextFacts) -> str:
    return f"{facts.workflow} ist fehlgeschlagen" + (f": {facts.error}" if facts.error else "")


def _title(facts: TextFacts) -> str:
    return facts.asked or "Eine Frage"


TEXTS: Final[dict[str, Callable[[TextFacts], str]]] = {
    "pause.opened": _title,
    "pause.reminded": lambda facts: f"Erinnerung: {_title(facts)}",
    "pause.escalated": lambda facts: f"Eskaliert: {_title(facts)}",
    "pause.delegated": lambda facts: f"{facts.of_event('giver')} bittet {facts.of_event('taker')}: {_title(facts)}",
    "pause.asked": lambda facts: f"{facts.of_event('by')} hat eine Rückfrage: {_title(facts)}",
    "pause.replied": lambda facts: f"{facts.of_event('by')} hat geantwortet: {_title(facts)}",
    "pause.decided": _decided,
    "pause.answered": lambda facts: f"{facts.of_event('by') or 'Jemand'} hat beantwortet: {_title(facts)}",
    "pause.expired": lambda facts: f"Nicht rechtzeitig beantwortet: {_title(facts)}",
    "pause.cancelled": lambda facts: f"Nicht mehr nötig: {_title(facts)}",
    "pause.reopened": lambda facts: f"Erneut gefragt: {_title(facts)}",
    "pause.taken_back": lambda facts: f"Zurückgenommen: {_title(facts)}",
    "execution.paused": lambda facts: f"{facts.workflow} ist angehalten",
    "execution.resumed": lambda facts: f"{facts.workflow} läuft weiter",
    "execution.completed": lambda facts: f"{facts.workflow} ist fertig",
    "execution.failed": _failed,
    "execution.cancelled": lambda facts: f"{facts.workflow} wurde abgebrochen",
    "trigger.error": lambda facts: f"Der Auslöser {facts.of_event('subject')} schlägt fehl",
    "destination.disabled": lambda facts: f"Das Ziel {facts.of_event('subject')} ist abgeschaltet",
    "delivery.dead": lambda facts: f"Eine Zustellung an {facts.of_event('subject')} wurde aufgegeben",
}
