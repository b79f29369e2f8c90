"""What an error means to whoever typed a command: a sentence, what to do next, and the code to exit with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.cli.exits import BAD_INPUT, UNKNOWN, WRONG_STATE, Stop

if TYPE_CHECKING:
    from layover.core.errors import LayoverError

_CODES = {
    "unknown_execution": UNKNOWN,
    "unknown_point": UNKNOWN,
    "unknown_workflow": UNKNOWN,
    "wrong_state": WRONG_STATE,
    "decision_required": WRONG_STATE,
    "already_answered": WRONG_STATE,
    "already_decided": WRONG_STATE,
    "already_exists": WRONG_STATE,
    "execution_closed": WRONG_STATE,
    "limit_reached": WRONG_STATE,
    "not_answerable": WRONG_STATE,
    "point_closed": WRONG_STATE,
    "point_expired": WRONG_STATE,
}

_WHO = "Say who you are with --by and --role."
_HINTS = {
    "already_exists": "Use another --id or --key, or look at that one with `layover show`.",
    "already_answered": "`layover show` tells what was answered.",
    "cannot_lock": "Keep the database on a disk of this machine.",
    "cannot_share": "Keep the database on a disk of this machine.",
    "comment_required": "Add --comment.",
    "corrupt": "`layover verify` tells how much of it can be read.",
    "decision_required": "`layover approve` or `layover reject` decide it.",
    "foreign": "Name another file with --db.",
    "invalid_answer": "`layover inbox --json` shows the schema of what is asked.",
    "locked": "`layover doctor` tells which instances have it open; try again when they are less busy.",
    "malformed_id": "`layover ls` lists the ids that there are.",
    "missing": "Name another with --db, or make it with `layover migrate`.",
    "not_a_database": "Name another file with --db.",
    "not_allowed": _WHO,
    "not_answerable": "A signal is brought with `layover signal`; time passes by itself.",
    "not_your_turn": "`layover show` tells who is asked.",
    "old_database": "Bring it up to date with `layover migrate`.",
    "requester_excluded": "Somebody other than the requester has to decide.",
    "unknown_execution": "`layover ls` lists those that there are.",
    "unknown_point": "`layover inbox` lists those that are open.",
    "wrong_state": "`layover why` tells how it stands.",
}


def told(error: LayoverError) -> Stop:
    """Return how a command ends by an error."""
    places = getattr(error, "errors", ())
    details = tuple(f"{path}: {what}" if path else what for path, what in places)
    code = _CODES.get(error.code, BAD_INPUT)
    return Stop(error.message, code, hint=_HINTS.get(error.code, ""), details=details)
