"""An engine as an operator's tool opens it: who can open the database may do everything with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from layover.bootstrap import address_of, inspectable_store
from layover.engine import Engine
from layover.errors import BadUse
from layover.metrics.labels import MOST_VALUES
from layover.model.access import Caller
from layover.nodes.registry import Registry
from layover.runtime.passive import PassiveRuntime
from layover.secret_providers import built_in_providers
from layover.service.permissions import PERMISSIONS, PROGRAM
from layover.settings import runtime_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from layover.nodes.registry import AnyFunction
    from layover.ports.view_records import Gauges
    from layover.runtime.calls.node_runner import NodeRunner
    from layover.settings import Settings

COMMAND_LINE: Final = "command line"


class OperatorEngine(Engine):
    """An engine on an address or a path, with every permission; by default it runs nothing.

    With `user`, everything is audited as done by that user, under a `credential` of its own; `roles` only count where a
    workflow asks for them. With `read_only`, the database is not opened to write, and operations fail.
    """

    def __init__(  # noqa: PLR0913 - each is named where it is given
        self,
        db: str,
        *,
        user: str | None = None,
        roles: Sequence[str] = (),
        credential: str = COMMAND_LINE,
        nodes: Iterable[AnyFunction] = (),
        settings: Settings | None = None,
        drive: bool = False,
        read_only: bool = False,
    ) -> None:
        if drive and read_only:
            raise BadUse("An engine that only reads cannot drive executions: give `drive` or `read_only`.")
        self.db = db
        super().__init__(address_of(db), nodes=nodes, settings=settings, drive=drive)
        if read_only:
            chosen = runtime_settings(settings)
            self._runtime = PassiveRuntime(
                inspectable_store(db),
                Registry(),
                acts=False,
                settings=chosen,
                secrets=built_in_providers(chosen.secrets_file, chosen.secrets_dir),
            )
        caller = PROGRAM
        if user is not None:
            caller = Caller(
                user=user, roles=tuple(roles), permissions=tuple(sorted(PERMISSIONS)), credential=credential
            )
        self._act_as(caller)
        self._node_runner: NodeRunner | None = None

    def as_user(self, user: str, roles: Sequence[str] = ()) -> Self:
        """Return this engine as a user with the permissions of their roles, and no others."""
        view = super().as_user(user, roles)
        view._node_runner, view.db = self._node_runner, self.db  # noqa: SLF001 - it is one of ours
        return view

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        self._node_runner = self._runtime.instance.node_runner  # also while it closes
        return self

    async def read_gauges(self, long: int) -> Gauges:
        """Return the figures of the database; a pause of so many milliseconds counts as long."""
        instance = self._runtime.instance
        now = instance.clock.now()
        return await instance.store.queries.read_gauges(now, now - long, MOST_VALUES)

    @property
    def instance_id(self) -> str:
        """The id of this instance, by which leases and logs name it."""
        return self._runtime.instance.id

    @property
    def is_applied(self) -> bool:
        """Whether a running instance has applied the last operation; if not, one applies it when it runs."""
        return not isinstance(self._runtime, PassiveRuntime) or self._runtime.is_applied

    @property
    def running_calls(self) -> int:
        """How many calls of node functions are running here."""
        return self._node_runner.out if self._node_runner is not None else 0

    def hurry(self) -> None:
        """Abandon the running calls: `close` does not wait for them."""
        if self._node_runner is not None:
            self._node_runner.hurry()
