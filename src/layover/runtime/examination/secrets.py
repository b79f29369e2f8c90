"""The secrets that workflows declare: those that are missing, and those that their workflows may not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from layover.model.diagnosis import Finding
from layover.runtime.queries.secrets import declared_secrets, secret_status

if TYPE_CHECKING:
    from layover.model.access import SecretStatus
    from layover.runtime.instance import Instance

_MOST_TOLD: Final = 20
_HERE: Final = "It was looked for with the settings and the environment of this process"


async def examine_secrets(instance: Instance) -> list[Finding]:
    """Tell which declared secrets a worker with these settings would not give to calls."""
    declared = await declared_secrets(instance)
    if not declared:
        return []
    found = [await secret_status(instance, name, workflows) for name, workflows in declared.items()]
    wrong = [finding for one in found if (finding := _finding(one)) is not None]
    if not wrong:
        return [Finding("secrets", "ok", f"{len(found)} declared, all found")]
    return wrong[:_MOST_TOLD]


def _finding(one: SecretStatus) -> Finding | None:
    used = ", ".join(one.workflows[:3]) + (" …" if len(one.workflows) > 3 else "")
    if one.refused:
        text = f"`{', '.join(one.refused[:3])}` declares it and may not have it: its calls fail"
        return Finding(f"secret {one.name}", "warning", text, "Grant it by allow_secrets, or undeclare it.")
    if one.problem:
        return Finding(f"secret {one.name}", "warning", f"{one.problem} (declared by {used})", f"{_HERE}.")
    if not one.found:
        hint = f"{_HERE}: set LAYOVER_SECRET_{one.name}, secrets_file or secrets_dir there and for workers."
        return Finding(f"secret {one.name}", "warning", f"not found (declared by {used})", hint)
    return None
