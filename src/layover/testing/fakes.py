"""Functions that stand in for those that a test does not want to call, and remember what they were called with."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from layover.core.moments import Moment
from layover.interface.durations import Duration, milliseconds_of
from layover.nodes.registry import AnyFunction, Registry

if TYPE_CHECKING:
    from layover.nodes.context import NodeContext
    from layover.testing.virtual_time import VirtualTime


class FakeCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a fake: what it was given, by whom, and when."""

    input: object
    execution_id: str
    context_id: str
    attempt: int
    at: Moment

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of one node, also after a crash."""
        return f"{self.execution_id}/{self.context_id}"


class Playing(msgspec.Struct, frozen=True, kw_only=True):
    """What a fake does: at most one of the first four, after as long as it takes."""

    returns: object = None
    raises: BaseException | type[BaseException] | None = None
    side_effect: AnyFunction | None = None
    script: Sequence[object] = ()
    takes: Duration | None = None


class Fake:
    """A node type whose function is played by the test."""

    def __init__(self, name: str, behaviour: Playing, time: VirtualTime) -> None:
        given = {
            "returns": behaviour.returns is not None,
            "raises": behaviour.raises is not None,
            "side_effect": behaviour.side_effect is not None,
            "script": bool(behaviour.script),
        }
        if sum(given.values()) > 1:
            names = " and ".join(f"`{one}`" for one, is_given in given.items() if is_given)
            raise TypeError(f"The fake of `{name}` is given {names}; one of them is enough.")
        self.__name__ = name
        self.calls: list[FakeCall] = []
        self._behaviour = behaviour
        self._time = time
        self._takes = milliseconds_of("takes", behaviour.takes)

    async def __call__(self, _whole: object = None, *, context: NodeContext, **named: object) -> object:
        """Remember the call, let as much time pass as it takes, and do what it is to do."""
        given = named or _whole
        call = FakeCall(
            input=given,
            execution_id=context.execution_id,
            context_id=context.context_id,
            attempt=context.attempt,
            at=Moment.of(self._time.now),
        )
        self.calls.append(call)
        n = len(self.calls)
        if self._takes:
            await self._time.sleep(self._takes)
        return await self._play(n, given, context)

    async def _play(self, n: int, given: object, context: NodeContext) -> object:
        behaviour = self._behaviour
        if behaviour.side_effect is not None:
            registry = Registry()
            registry.add(behaviour.side_effect, self.__name__)
            value = registry.find(self.__name__).call(given, context)
            return await value if inspect.isawaitable(value) else value
        if behaviour.raises is not None:
            raise behaviour.raises
        if not behaviour.script:
            return behaviour.returns
        result = behaviour.script[min(n, len(behaviour.script)) - 1]
        if isinstance(result, BaseException) or (isinstance(result, type) and issubclass(result, BaseException)):
            raise result
        return result

    @property
    def inputs(self) -> list[object]:
        """What it was called with, call by call."""
        return [call.input for call in self.calls]

    def __repr__(self) -> str:
        return f"<fake {self.__name__}, called {len(self.calls)} times>"
