"""The errors of a store, in words that do not depend on the database."""

from __future__ import annotations

from layover.errors import LayoverError, Unavailable


class StoreError(LayoverError):
    """A store could not do what it was asked to do."""

    code = "store_error"


class StoreUnavailable(StoreError, Unavailable):  # noqa: N818 - it says what the store is
    """The store cannot be reached or written now: busy, full, or read-only. Try again later."""

    code = "store_unavailable"


class StoreUnusable(StoreError):  # noqa: N818 - it says what the store is
    """The database is not, or not entirely, a store that this release can use."""

    code = "store_unusable"
