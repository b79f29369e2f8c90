"""What a verification of the audit chain finds."""

from __future__ import annotations

from typing import Final

import msgspec

LIMITS: Final = (
    "Entries of about the last second have no seal yet: until then they can be added, changed or deleted unnoticed.",
    "A chain whose end was cut off looks whole: compare it with a witness (--head), a receipt or the log audit_sealed.",
)


class AuditFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not as it was written: `code` says what, `seal` and `entry` say where."""

    code: str
    message: str
    seal: int | None = None
    entry: str = ""


class AuditVerification(msgspec.Struct, frozen=True, kw_only=True):
    """What was checked of the audit chain, what was found, and what no check of a database alone can find.

    `purged_through` is the last seal whose entries retention has deleted, as an entry says. `key` says against what
    signatures were checked: `given` keys, the `current` signing key, or only those in the `database`; nothing for a
    chain that is not signed.
    """

    seals: int = 0
    entries: int = 0
    waiting: int = 0  # entries without a seal
    unsigned: int = 0  # seals without a signature
    erased: int = 0  # entries whose text and salt were erased
    decisions: int = 0  # in logs, that were compared with entries
    purged_through: int = 0
    head: str = ""
    key: str = ""
    findings: tuple[AuditFinding, ...] = ()
    limits: tuple[str, ...] = LIMITS

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def finding(kind: str, message: str, *, seal: int | None = None, entry: str = "") -> AuditFinding:
    """Return something that was found."""
    return AuditFinding(code=kind, message=message, seal=seal, entry=entry)
