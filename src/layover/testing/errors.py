"""What can be wrong with a test, each with what to do about it."""

from __future__ import annotations

from layover.errors import LayoverError


class TestKitError(LayoverError, AssertionError):
    """A test that asks for something that cannot be; it fails with a sentence."""

    __test__ = False  # for pytest: it is not a test by itself
    code = "test_kit"


class NobodyPlays(TestKitError):  # noqa: N818 - it says what is missing
    """A workflow calls node types that have neither a function nor a fake."""

    code = "unknown_node_type"


class NotFinished(TestKitError):  # noqa: N818 - it says what the execution is not
    """An execution that a test expects to have ended waits for something."""

    code = "not_finished"


class NeverSettles(TestKitError):  # noqa: N818 - it says what does not happen
    """Something goes on and on, or hangs."""

    code = "never_settles"


class CrashNeverCame(TestKitError):  # noqa: N818 - it says what did not happen
    """A commit point at which a test wants a crash was not reached."""

    code = "crash_never_came"
