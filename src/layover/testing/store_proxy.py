"""A family of a store whose calls all go through one function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class FamilyProxy:
    """In place of a family: `wrap` gets the name of each method, such as `claims.renew`, and what it stands for."""

    def __init__(self, name: str, family: object, wrap: Callable[[str, Any], Any]) -> None:
        self._name = name
        self._family = family
        self._wrap = wrap

    def __getattr__(self, method: str) -> Any:
        wrapped = self._wrap(f"{self._name}.{method}", getattr(self._family, method))
        setattr(self, method, wrapped)  # the next time it is found at once
        return wrapped
