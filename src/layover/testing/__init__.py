"""What tests of workflows need: an engine on time that stands still, with fakes and crashes; or a rehearsal."""

from layover.ports.commit_points import CommitPoint
from layover.testing.errors import (
    CrashNeverCame,
    NeverSettles,
    NobodyPlays,
    NotFinished,
    TestKitError,
)
from layover.testing.fakes import Fake, FakeCall
from layover.testing.kit import Layover
from layover.testing.rehearsal import Behaviour, Rehearsal
from layover.testing.sent import SentMessage
from layover.testing.simulation.effects import effect, had_effect, undo_effect
from layover.testing.simulation.simulating import LawBroken, Simulated, simulate
from layover.testing.surviving import DidNotSurvive, survives_crashes

__all__ = [
    "Behaviour",
    "CommitPoint",
    "CrashNeverCame",
    "DidNotSurvive",
    "Fake",
    "FakeCall",
    "LawBroken",
    "Layover",
    "NeverSettles",
    "NobodyPlays",
    "NotFinished",
    "Rehearsal",
    "SentMessage",
    "Simulated",
    "TestKitError",
    "effect",
    "had_effect",
    "simulate",
    "survives_crashes",
    "undo_effect",
]
