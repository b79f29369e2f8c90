"""What an error means to the user of a command: a sentence, what to do next, and the code to exit with."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from layover.cli.exits import BAD_INPUT, FAILED, UNKNOWN, WRONG_STATE, Stop

if TYPE_CHECKING:
    from layover.errors import LayoverError

_CODES = {
    "unknown_execution": UNKNOWN,
    "unknown_node": UNKNOWN,
    "unknown_point": UNKNOWN,
    "unknown_workflow": UNKNOWN,
    "unknown_version": UNKNOWN,
    "unknown_key": UNKNOWN,
    "unknown_session": UNKNOWN,
    "unknown_trigger": UNKNOWN,
    "unknown_input": UNKNOWN,
    "unknown_batch": UNKNOWN,
    "unknown_delivery": UNKNOWN,
    "unknown_destination": UNKNOWN,
    "unknown_person": UNKNOWN,
    "unknown_view": UNKNOWN,
    "unknown_receipt": UNKNOWN,
    "delivery_emptied": WRONG_STATE,
    "destination_exists": WRONG_STATE,
    "managed_by_settings": WRONG_STATE,
    "managed_by_definition": WRONG_STATE,
    "no_token": WRONG_STATE,
    "not_a_poll": WRONG_STATE,
    "not_a_schedule": WRONG_STATE,
    "trigger_path_conflict": WRONG_STATE,
    "trigger_full": WRONG_STATE,
    "wrong_state": WRONG_STATE,
    "decision_required": WRONG_STATE,
    "already_answered": WRONG_STATE,
    "point_changed": WRONG_STATE,
    "already_applied": WRONG_STATE,
    "already_decided": WRONG_STATE,
    "already_replied": WRONG_STATE,
    "claimed": WRONG_STATE,
    "no_question": WRONG_STATE,
    "no_requester": WRONG_STATE,
    "too_many_questions": WRONG_STATE,
    "too_many_views": WRONG_STATE,
    "already_exists": WRONG_STATE,
    "ambiguous_point": WRONG_STATE,
    "execution_closed": WRONG_STATE,
    "expired": WRONG_STATE,
    "copy_running": WRONG_STATE,
    "idempotency_mismatch": WRONG_STATE,
    "in_progress": WRONG_STATE,
    "in_use": WRONG_STATE,
    "limit_reached": WRONG_STATE,
    "not_a_copy": WRONG_STATE,
    "not_answerable": WRONG_STATE,
    "not_final": WRONG_STATE,
    "not_empty": WRONG_STATE,
    "point_closed": WRONG_STATE,
    "point_expired": WRONG_STATE,
    "snapshot_pending": WRONG_STATE,
    "workflow_inactive": WRONG_STATE,
    "audit_changed": FAILED,
    "internal": FAILED,
}

_ARGUMENT = re.compile(r"`(\w+)(?:\[\d+\])?`: ")
_OPTIONS = {"roles": "role", "scopes": "scope"}

_ID = re.compile(r"is not (?:an? (\w+) id|the id of a (pause point));")
_LISTS_OF_IDS = {
    "execution": "`layover ls` lists the ids of executions.",
    "batch": "`layover batches` lists the ids of batches.",
    "delivery": "`layover deliveries ls` lists the ids of deliveries.",
    "trigger": "`layover triggers ls` lists the ids of triggers.",
    "pause point": "`layover inbox` lists the ids of open pause points.",
}

_WHO = "Say who you are with --by and --role."
_KEY = "Give a key of the server: LAYOVER_KEY, --key @file or --key."
_ON_A_SERVER = {"not_allowed": "A user who is asked has to do it, with a key of their own."}
_HINTS = {
    "already_exists": "Use another --id or --key, or look at the existing execution with `layover show`.",
    "already_answered": "`layover show` tells what was answered.",
    "cannot_lock": "Keep the database on a disk of this machine.",
    "cannot_share": "Keep the database on a disk of this machine.",
    "comment_required": "Add --comment.",
    "corrupt": "`layover verify` tells how much of it can be read.",
    "copy_running": "If that copy was interrupted, try again in half a minute.",
    "decision_required": "`layover approve` or `layover reject` decide it.",
    "bad_answer": "Check that --url names a Layover server.",
    "forbidden": _KEY,
    "foreign": "Name another file with --db.",
    "idempotency_mismatch": "Use another --key, or the input that it was first used with.",
    "in_use": "Stop the instances first.",
    "invalid_setting": "`layover settings --help` lists all settings.",
    "invalid_filter": "For example: --where customer.tier=gold --where total=12",
    "invalid_answer": "`layover inbox --json` shows the schema of what is asked.",
    "locked": "`layover doctor` tells which instances have it open; try again when they are less busy.",
    "missing": "Name another with --db, or make it with `layover migrate`.",
    "not_a_copy": "Copy into an empty database.",
    "not_a_database": "Name another file with --db.",
    "not_allowed": _WHO,
    "not_answerable": "A signal is sent with `layover signal`; a timer fires by itself.",
    "not_empty": "If it is an interrupted copy of this source, --resume continues it.",
    "not_your_turn": "`layover show` tells who is asked.",
    "old_database": "Bring it up to date with `layover migrate`.",
    "requester_excluded": "A user other than the requester has to decide.",
    "read_only": "Let this user write the file and its folder; if it is a standby, name the primary.",
    "redirected": "Name in --url the address that it redirects to.",
    "unauthenticated": _KEY,
    "unknown_execution": "`layover ls` lists the executions.",
    "unknown_session": "`layover sessions ls` lists the sessions.",
    "unknown_key": "`layover keys ls` lists the keys.",
    "unknown_point": "`layover inbox` lists the open pause points.",
    "unreachable": "Check that it is running, and that --db or --url is its address.",
    "wrong_state": "`layover why` tells what it waits for.",
}


def stop_for(error: LayoverError) -> Stop:
    """Return how a command ends by an error."""
    places = [(path, what) for path, what in getattr(error, "errors", ()) if not _is_told(path, what, error.message)]
    details = tuple(f"{path}: {what}" if path else what for path, what in places)
    details += tuple(map(str, getattr(error, "problems", ())))
    hints = {**_HINTS, **_ON_A_SERVER} if error.request_id is not None else _HINTS
    hint = hints.get(error.code, "") or _hint_for_id(error)
    return Stop(_message(error), _CODES.get(error.code, BAD_INPUT), hint=hint, details=details)


def _hint_for_id(error: LayoverError) -> str:
    """Return where ids of the kind are listed that an error is about."""
    kind = _ID.search(error.message) if error.code == "malformed_id" else None
    return _LISTS_OF_IDS.get(kind[1] or kind[2], "") if kind is not None else ""


def _is_told(path: str, what: str, message: str) -> bool:
    return (f"`{path}`: " in message or message.startswith(f"{path}: ")) if path else what in message


def _message(error: LayoverError) -> str:
    """Return the message of an error; an argument of a method is told as the option that gives it."""
    argument = _ARGUMENT.match(error.message)
    if argument is None or error.code not in ("invalid_parameter", "invalid_body"):
        return error.message
    option = _OPTIONS.get(argument[1], argument[1].replace("_", "-"))
    return f"--{option}: {error.message[argument.end() :]}"
