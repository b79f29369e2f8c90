"""Which secrets workflows declare, whether they may have them, and whether there are any; never their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from layover.model.access import SecretStatus

if TYPE_CHECKING:
    from collections.abc import Iterable

    from layover.runtime.instance import Instance

_PAGE: Final = 500  # definitions read at once


class _Declaring(msgspec.Struct):
    """What is read of a definition."""

    secrets: tuple[str, ...] = ()


_decoder = msgspec.json.Decoder(_Declaring)


async def declared_secrets(instance: Instance) -> dict[str, list[str]]:
    """Return the names of secrets, each with the workflows whose newest version declares it, both in order."""
    found: dict[str, list[str]] = {}
    store, after = instance.store, ""
    while page := await store.definitions.list_workflows(after, _PAGE):
        after = page[-1].workflow
        statuses = await store.workflow_status.list_statuses([one.workflow for one in page])
        deleted = {one.workflow for one in statuses if one.state == "deleted"}
        for version in page:
            if version.workflow not in deleted and b'"secrets"' in version.document:
                for name in _decoder.decode(version.document).secrets:
                    found.setdefault(name, []).append(version.workflow)
    return dict(sorted(found.items()))


async def secret_status(instance: Instance, name: str, workflows: Iterable[str]) -> SecretStatus:
    """Return whether a secret is there, and which of the workflows that declare it may not have it."""
    declared, found = tuple(workflows), await instance.secrets.find(name)
    return SecretStatus(
        name=name,
        found=found.secret is not None,
        source=found.source or None,
        version=found.secret.version if found.secret is not None else "",
        problem=found.fault,
        workflows=declared,
        refused=tuple(one for one in declared if not instance.secret_grants.grants(one, name)),
    )
