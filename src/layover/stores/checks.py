"""What is refused in the same way by every store, before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.errors import StoreError
from layover.stores.ids import key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.access import Key
    from layover.ports.records import Append, Message, Token


def checked_appends(appends: Sequence[Append]) -> tuple[Append, ...]:
    """Return appends that are whole and name executions, each of them once; the sequence may change afterwards."""
    names = [append.execution_id for append in appends]
    check_ids(names)
    if len(set(names)) != len(names):
        raise ValueError("A commit may hold one append for each execution, not several.")
    check_ids(a.new.parent_id for a in appends if a.new is not None and a.new.parent_id is not None)
    for append in appends:
        if append.messages:
            _check_senders(append)
        if append.earlier:
            _check_earlier(append)
    return tuple(appends)


def check_ids(execution_ids: Iterable[str]) -> None:
    """Refuse what is not the id of an execution."""
    for execution_id in execution_ids:
        key(execution_id)


def check_texts(*texts: object) -> None:
    """Refuse what no database can keep as text: a NUL, half a character, or no text at all."""
    for text in texts:
        try:
            fits = isinstance(text, str) and b"\0" not in text.encode()
        except UnicodeEncodeError:
            fits = False
        if not fits:
            raise StoreError(f"{text!r} cannot be kept as text.", code="malformed")


def at_most(limit: int | None, otherwise: int = 0) -> int:
    """Return how many rows are wanted: a negative limit asks for none, not for all; without one, another counts."""
    return otherwise if limit is None else max(limit, 0)


def _check_senders(append: Append) -> None:
    """Refuse what an execution sends in the name of another."""
    for message in append.messages:
        if message.sender != append.execution_id:
            text = f"{append.execution_id} cannot send a message of {message.sender}."
            raise StoreError(text, code="foreign_message")


def _check_earlier(append: Append) -> None:
    """Refuse stretches of a log that leave a gap, or are more than all that is added."""
    seq = append.expected_seq + 1
    for entry in append.earlier:
        if entry.seq != seq or entry.count < 1:
            raise StoreError(f"The log of {append.execution_id} would have a gap at event {seq}.", code="gap")
        seq += entry.count
    if seq > append.expected_seq + 1 + append.count:
        raise StoreError(f"The log of {append.execution_id} would have more events than are told.", code="gap")


def message_exists(message: Message) -> StoreError:
    """Tell of a message that is written twice."""
    text = f"{message.sender} has a message {message.n} for {message.destination} already."
    return StoreError(text, code="message_exists")


def token_exists(token: Token) -> StoreError:
    """Tell of a token that is given out twice; not which, for it is a secret."""
    return StoreError(f"A token of the point {token.point} was given out before.", code="token_exists")


def point_exists(point_id: str) -> StoreError:
    """Tell of a pause point that is opened twice."""
    return StoreError(f"There is a pause point {point_id} already.", code="point_exists")


def key_exists(key: Key) -> StoreError:
    """Tell of a key that is kept twice; not its hash, for that is all that a key is known by."""
    return StoreError(f"There is a key {key.id}, or one that reads the same, already.", code="key_exists")
