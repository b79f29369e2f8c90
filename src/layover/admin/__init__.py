"""Work on a whole database: migrate, verify, copy, purge, examine; and the engine that an operator's tool opens.

Everything here takes the address of a database, such as `sqlite:///app.db`, or the path of its file. Nothing here goes
over HTTP: it needs the database itself.
"""

from layover.admin.addresses import address_of, without_password
from layover.admin.audit import new_audit_key, verify_audit, verify_receipt
from layover.admin.database_copy import CopyReport, CopyViolation, copy
from layover.admin.diagnosis import doctor
from layover.admin.instances import running_instances
from layover.admin.migration import MigrationReport, Schema, migrate, schema_of
from layover.admin.operator_engine import OperatorEngine
from layover.admin.progress import AdminProgress
from layover.admin.queue import WorkQueue, queue_of
from layover.admin.retention import Purged, purge
from layover.admin.verification import Verification, verify
from layover.model.diagnosis import Diagnosis, Finding
from layover.runtime.audit.findings import AuditFinding, AuditVerification
from layover.runtime.audit.receipts import ReceiptCheck
from layover.runtime.maintenance.database_copy import Tally
from layover.runtime.maintenance.verify import Violation

__all__ = [
    "AdminProgress",
    "AuditFinding",
    "AuditVerification",
    "CopyReport",
    "CopyViolation",
    "Diagnosis",
    "Finding",
    "MigrationReport",
    "OperatorEngine",
    "Purged",
    "ReceiptCheck",
    "Schema",
    "Tally",
    "Verification",
    "Violation",
    "WorkQueue",
    "address_of",
    "copy",
    "doctor",
    "migrate",
    "new_audit_key",
    "purge",
    "queue_of",
    "running_instances",
    "schema_of",
    "verify",
    "verify_audit",
    "verify_receipt",
    "without_password",
]
