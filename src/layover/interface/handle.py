"""What all handles have in common: a backend to act through, and what was last read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from layover.interface.backend import Backend

Info = TypeVar("Info")


class Handle(Generic[Info]):
    """Something to act on: `info` is what was last read of it, and its fields are readable on the handle."""

    __slots__ = ("_backend", "info")

    def __init__(self, backend: Backend, info: Info) -> None:
        self._backend = backend
        self.info = info

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a copy of the handle asks before there is any `info`
            raise AttributeError(name)
        return getattr(self.info, name)
