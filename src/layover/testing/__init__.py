"""What tests of workflows need: an execution that runs in memory, against a clock wound by hand."""

from layover.testing.rehearsal import Behaviour, Rehearsal

__all__ = ["Behaviour", "Rehearsal"]
