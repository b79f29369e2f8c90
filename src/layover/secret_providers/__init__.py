"""Where secrets come from, beside objects of the program: the environment, a file, a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from layover.secret_providers.environment import EnvironmentSecrets
from layover.secret_providers.files import SecretsDirectory, SecretsFile

if TYPE_CHECKING:
    from layover.ports.secrets import Secrets


def built_in_providers(file: str | None, directory: str | None) -> tuple[Secrets, ...]:
    """Return the providers that every engine has, in the order in which they are asked."""
    return (
        EnvironmentSecrets(),
        *([SecretsFile(file)] if file is not None else []),
        *([SecretsDirectory(directory)] if directory is not None else []),
    )
