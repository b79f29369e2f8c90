"""What can be wrong with a secret when it is needed. No text has anything of a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.errors import LayoverError, NotAllowed

if TYPE_CHECKING:
    from collections.abc import Sequence


class SecretMissing(LayoverError):  # noqa: N818 - it says what the secret is
    """A secret that no provider has, or that cannot be used; it may be there at the next attempt."""

    code = "secret_missing"
    retryable = True


class SecretNotAllowed(NotAllowed):
    """A secret that the setting `allow_secrets` does not grant to a workflow."""

    code = "secret_not_allowed"
    retryable = False

    def __init__(self, workflow: str, names: Sequence[str]) -> None:
        listed = ", ".join(f"`{name}`" for name in names)
        what = f"the secret {listed}" if len(names) == 1 else f"the secrets {listed}"
        super().__init__(
            f"The workflow `{workflow}` may not have {what}: the setting `allow_secrets` does not grant "
            f"{'it' if len(names) == 1 else 'them'}."
        )
