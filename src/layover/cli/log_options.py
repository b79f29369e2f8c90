"""How much the commands that drive executions log: `-v` and `-q` before the setting `log`, before what is usual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from layover import configure_logging
from layover.cli.exits import Stop

if TYPE_CHECKING:
    from layover.config.configuration import Configuration

_NO_NEWS: Final = "layover.execution=critical"  # that an execution failed is what the command says itself
# From quiet to all there is: for commands whose log is what one looks at, and for one that shows something else.
SERVING: Final = ("warning", "info", "info,layover=debug", "debug")
WATCHING: Final = ("critical", "error,layover.listeners=warning,layover.service=critical", "warning", "info")
DRAWING: Final = ("critical", "critical", "critical", "critical")  # a whole screen, which says itself what is wrong
SHOWING: Final = (f"error,{_NO_NEWS}", f"warning,{_NO_NEWS}", "info", "info,layover=debug")


@dataclass(frozen=True)
class LogOptions:
    """More or less of the log than usual."""

    verbose: Annotated[
        int,
        Parameter(name=["--verbose", "-v"], count=True, show_default=False, help="Log more; -vv still more."),
    ] = 0
    quiet: Annotated[
        bool, Parameter(name=["--quiet", "-q"], negative="", show_default=False, help="Log only what is wrong.")
    ] = False

    def configure(self, configuration: Configuration, levels: tuple[str, str, str, str]) -> None:
        """Configure logging for this process."""
        if self.quiet and self.verbose:
            raise Stop("Log more or less: give --verbose or --quiet, not both.")
        command, level = configuration.command, levels[0] if self.quiet else levels[1 + min(self.verbose, 2)]
        if not self.quiet and not self.verbose and configuration.origin("log") != "default":
            level = command.log
        configure_logging(level, command.log_format)


AS_USUAL: Final = LogOptions()
Logging = Annotated[LogOptions, Parameter(name="*")]
