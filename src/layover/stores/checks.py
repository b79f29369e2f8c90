"""Checks that every store makes before it writes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.ports.errors import StoreError
from layover.stores.ids import key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.ports.access import Key, SessionRow
    from layover.ports.records import Append, Message, Token


def checked_appends(appends: Sequence[Append]) -> tuple[Append, ...]:
    """Return a copy of valid appends, at most one for each execution; the caller may change its sequence afterwards."""
    if len({append.execution_id for append in appends}) != len(appends):
        raise ValueError("A commit may hold one append for each execution, not several.")
    for append in appends:
        key(append.execution_id)
        if append.new is not None and append.new.parent_id is not None:
            key(append.new.parent_id)
        if append.messages:
            _check_senders(append)
        if append.earlier:
            _check_earlier(append)
    return tuple(appends)


def check_ids(execution_ids: Iterable[str]) -> None:
    """Refuse ids that are not those of executions."""
    for execution_id in execution_ids:
        key(execution_id)


def check_texts(*texts: object) -> None:
    """Refuse values that a database cannot store as text: a NUL, half a character, or no string at all."""
    for text in texts:
        try:
            fits = isinstance(text, str) and b"\0" not in text.encode()
        except UnicodeEncodeError:
            fits = False
        if not fits:
            raise StoreError(f"{text!r} cannot be kept as text.", code="malformed")


def at_most(limit: int | None, otherwise: int = 0) -> int:
    """Return a limit on rows, or `otherwise` without one. A negative limit asks for no rows, not for all of them."""
    return otherwise if limit is None else max(limit, 0)


def _check_senders(append: Append) -> None:
    """Refuse messages whose sender is another execution."""
    for message in append.messages:
        if message.sender != append.execution_id:
            text = f"{append.execution_id} cannot send a message of {message.sender}."
            raise StoreError(text, code="foreign_message")


def _check_earlier(append: Append) -> None:
    """Refuse earlier entries that leave a gap in the log, or have more events than the append."""
    seq = append.expected_seq + 1
    for entry in append.earlier:
        if entry.seq != seq or entry.count < 1:
            raise StoreError(f"The log of {append.execution_id} would have a gap at event {seq}.", code="gap")
        seq += entry.count
    if seq > append.expected_seq + 1 + append.count:
        raise StoreError(f"The log of {append.execution_id} would have more events than the append counts.", code="gap")


def message_exists(message: Message) -> StoreError:
    """Return the error for a message that is written twice."""
    text = f"{message.sender} has a message {message.n} for {message.destination} already."
    return StoreError(text, code="message_exists")


def token_exists(token: Token) -> StoreError:
    """Return the error for a token that is issued twice. It does not name the token, which is a secret."""
    return StoreError(f"A token of the point {token.point} was given out before.", code="token_exists")


def point_exists(point_id: str) -> StoreError:
    """Return the error for a pause point that is opened twice."""
    return StoreError(f"There is a pause point {point_id} already.", code="point_exists")


def key_exists(key: Key) -> StoreError:
    """Return the error for an API key that is stored twice. It does not name the hash, which identifies the key."""
    return StoreError(f"There is a key {key.id}, or one that reads the same, already.", code="key_exists")


def session_exists(row: SessionRow) -> StoreError:
    """Return the error for a session that is stored twice. It does not name the hash, which identifies the session."""
    return StoreError(f"There is a session {row.id}, or one that reads the same, already.", code="session_exists")
