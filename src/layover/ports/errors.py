"""What can go wrong with a store, in words that do not depend on which one it is."""

from __future__ import annotations

from layover.core.errors import LayoverError


class StoreError(LayoverError):
    """A store could not do what it was asked."""

    code = "store_error"


class StoreUnavailable(StoreError):  # noqa: N818 - it says what the store is
    """The store cannot be reached or written just now: busy, full, or read-only. It is worth trying again."""

    code = "store_unavailable"


class StoreUnusable(StoreError):  # noqa: N818 - it says what the store is
    """What is there is not, or not entirely, a store of ours that this release can use."""

    code = "store_unusable"
