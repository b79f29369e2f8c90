"""Translates the errors of the driver into ours, which say what to do."""

from __future__ import annotations

import asyncpg
from asyncpg import exceptions as pg

from layover.ports.errors import StoreError, StoreUnavailable, StoreUnusable

# All errors of the driver. It raises an internal one for a connection that the server has closed, before it has seen
# that.
OF_DRIVER = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
# Such a statement has written nothing, and may pass the next time.
REPEATABLE = (pg.SerializationError, pg.DeadlockDetectedError)

_EXISTS = {
    "pause_points_pkey": ("point_exists", "There is such a pause point already"),
    "pause_points_by_id": ("point_exists", "There is such a pause point already"),
    "commands_by_source": ("command_exists", "This command came in by another way at the same moment"),
    "outbox_pkey": ("message_exists", "There is such a message already"),
    "tokens_pkey": ("token_exists", "A token was given out before"),
    "tokens_by_hash": ("token_exists", "A token was given out before"),
    "keys_pkey": ("key_exists", "There is such a key already"),
    "audit_seals_pkey": ("seal_exists", "There is such a seal already"),
    "keys_by_hash": ("key_exists", "There is such a key already"),
    "sessions_pkey": ("session_exists", "There is such a session already"),
    "sessions_by_hash": ("session_exists", "There is such a session already"),
}
_SECRET = ("token_exists", "key_exists", "session_exists")


def store_error(error: BaseException, shown: str) -> StoreError:  # noqa: C901, PLR0912 - a table with a line for each
    """Return our error for an error of the driver."""
    match error:
        case pg.UniqueViolationError() if error.constraint_name in _EXISTS:
            code, text = _EXISTS[error.constraint_name]
            # The detail has the value; that of a token, an API key or a session is a secret.
            detail = f": {error.detail}" if error.detail and code not in _SECRET else "."
            return StoreError(f"{text}{detail}", code=code)
        case pg.NotNullViolationError(column_name="version_id"):
            return StoreError("There is no such version of the workflow.", code="unknown_version")
        case pg.CharacterNotInRepertoireError() | pg.UntranslatableCharacterError() | UnicodeEncodeError():
            return StoreError("PostgreSQL cannot keep this text: it has a NUL or half a character.", code="malformed")
        case pg.DiskFullError():
            return StoreUnavailable(f"The disk of {shown} is full; nothing was written. Free some space.", code="full")
        case pg.ReadOnlySQLTransactionError():
            return StoreUnavailable(f"{shown} only lets us read: is it a standby?", code="read_only")
        case pg.LockNotAvailableError() | pg.QueryCanceledError():
            return StoreUnavailable(f"{shown} took too long to answer: {error}.", code="too_slow")
        case pg.SerializationError() | pg.DeadlockDetectedError():
            return StoreUnavailable(f"{shown} could not do this beside others: {error}.", code="locked")
        case pg.InvalidAuthorizationSpecificationError() | pg.InsufficientPrivilegeError():
            return StoreUnavailable(f"{shown} does not let us in: {error}.", code="denied")
        case pg.InvalidCatalogNameError():
            return StoreUnavailable(f"{shown} is not there: {error}. Create the database first.", code="no_database")
        case pg.UndefinedTableError() | pg.InvalidSchemaNameError() | pg.UndefinedColumnError():
            return StoreUnusable(f"{shown} is not a database of ours, or of another release: {error}.", code="foreign")
        case _ if _is_pooled(error):
            text = "is behind a pooler; say so with `?pooler=transaction` in its address"
            return StoreUnavailable(f"{shown} {text} ({error}).", code="pooled")
        case pg.DataCorruptedError() | pg.IndexCorruptedError():
            return StoreUnusable(f"{shown} is damaged ({error}). Restore it from a backup.", code="corrupt")
        case pg.DataError() | pg.IntegrityConstraintViolationError():
            return StoreError(f"{shown}: {error}.")
        case TimeoutError():
            return StoreUnavailable(f"{shown} took too long to answer.", code="too_slow")
        case (
            OSError()
            | pg.PostgresConnectionError()
            | asyncpg.InterfaceError()
            | asyncpg.InternalClientError()
            | pg.OperatorInterventionError()
            | pg.IdleInTransactionSessionTimeoutError()
        ):
            said = str(error) or type(error).__name__
            return StoreUnavailable(f"{shown} cannot be reached: {said}.", code="unreachable")
        case pg.InsufficientResourcesError() | pg.PostgresSystemError() | pg.ObjectNotInPrerequisiteStateError():
            return StoreUnavailable(f"{shown} cannot do this now: {error}.")
        case _:
            return StoreError(f"{shown}: {error}.")


def _is_pooled(error: BaseException) -> bool:
    """Whether there is a pooler that the address does not name: it refuses settings, or mixes up statements."""
    if isinstance(error, pg.ProtocolViolationError):  # poolers use this one for everything
        return "startup parameter" in str(error)
    return isinstance(error, (pg.InvalidSQLStatementNameError, pg.DuplicatePreparedStatementError))
