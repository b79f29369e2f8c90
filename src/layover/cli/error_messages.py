"""What an error means to whoever typed a command: a sentence, what to do next, and the code to exit with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.cli.exits import BAD_INPUT, FAILED, UNKNOWN, WRONG_STATE, Stop

if TYPE_CHECKING:
    from layover.core.errors import LayoverError

_CODES = {
    "unknown_execution": UNKNOWN,
    "unknown_node": UNKNOWN,
    "unknown_point": UNKNOWN,
    "unknown_workflow": UNKNOWN,
    "unknown_version": UNKNOWN,
    "unknown_key": UNKNOWN,
    "wrong_state": WRONG_STATE,
    "decision_required": WRONG_STATE,
    "already_answered": WRONG_STATE,
    "already_decided": WRONG_STATE,
    "already_exists": WRONG_STATE,
    "ambiguous_point": WRONG_STATE,
    "execution_closed": WRONG_STATE,
    "expired": WRONG_STATE,
    "idempotency_mismatch": WRONG_STATE,
    "in_progress": WRONG_STATE,
    "limit_reached": WRONG_STATE,
    "not_answerable": WRONG_STATE,
    "point_closed": WRONG_STATE,
    "point_expired": WRONG_STATE,
    "snapshot_pending": WRONG_STATE,
    "workflow_inactive": WRONG_STATE,
    "internal": FAILED,
}

_WHO = "Say who you are with --by and --role."
_KEY = "Give a key that opens it: LAYOVER_KEY, --key @file or --key."
_ON_A_SERVER = {
    "not_allowed": "Somebody who is asked has to do it, with a key of their own.",
    "unreachable": "Is it running, and is --url its address?",
}
_HINTS = {
    "already_exists": "Use another --id or --key, or look at that one with `layover show`.",
    "already_answered": "`layover show` tells what was answered.",
    "cannot_lock": "Keep the database on a disk of this machine.",
    "cannot_share": "Keep the database on a disk of this machine.",
    "comment_required": "Add --comment.",
    "corrupt": "`layover verify` tells how much of it can be read.",
    "decision_required": "`layover approve` or `layover reject` decide it.",
    "bad_answer": "Does --url name a server of Layover?",
    "forbidden": _KEY,
    "foreign": "Name another file with --db.",
    "idempotency_mismatch": "Use another --key, or the input that it was first used with.",
    "invalid_filter": "For example: --where customer.tier=gold --where total=12",
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
    "redirected": "Name in --url the address that it leads to.",
    "unauthenticated": _KEY,
    "unknown_execution": "`layover ls` lists those that there are.",
    "unknown_point": "`layover inbox` lists those that are open.",
    "wrong_state": "`layover why` tells how it stands.",
}


def told(error: LayoverError) -> Stop:
    """Return how a command ends by an error."""
    places = getattr(error, "errors", ())
    details = tuple(f"{path}: {what}" if path else what for path, what in places)
    code = _CODES.get(error.code, BAD_INPUT)
    hints = {**_HINTS, **_ON_A_SERVER} if hasattr(error, "problem") else _HINTS
    return Stop(error.message, code, hint=hints.get(error.code, ""), details=details)
