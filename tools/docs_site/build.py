"""Build the documentation as a static site: python tools/docs_site/build.py [--docs FOLDER] OUTPUT.

Every warning is an error. Sphinx reads a copy of `docs/`, to which the build adds the Python reference and the
navigation; nothing is written beside the pages themselves. A site of the same sources is left as it is.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import python_reference
from freshness import digest_of_sources, is_current, mark_current
from navigation import toctrees
from sphinx.application import Sphinx
from sphinx.util.console import nocolor
from state_tables import tables

ROOT = Path(__file__).parents[2]
ROOT_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_LINK = re.compile(r"(\]\()([^)#\s:]+\.md)")


def main() -> int:
    """Build the site; return 1 and say why if anything in it is not as it should be."""
    parser = argparse.ArgumentParser(description="Build the documentation as a static site.")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="the folder of the pages")
    parser.add_argument("output", type=Path, help="the folder of the site; it is replaced")
    arguments = parser.parse_args()
    nocolor()
    digest = digest_of_sources() if arguments.docs == ROOT / "docs" else ""
    if digest and is_current(arguments.output, digest):
        print(f"The documentation is at {arguments.output / 'index.html'}; nothing has changed since it was built")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder).resolve()
        source = _source(scratch, arguments.docs.resolve())
        warnings = io.StringIO()
        shutil.rmtree(arguments.output, ignore_errors=True)
        app = Sphinx(
            srcdir=source,
            confdir=Path(__file__).parent,
            outdir=arguments.output,
            doctreedir=scratch / "doctrees",
            buildername="html",
            status=None,
            warning=warnings,
            warningiserror=True,
        )
        app.build()
    said = warnings.getvalue().replace(str(source), str(arguments.docs))
    print(said, end="", file=sys.stderr)
    if app.statuscode == 0:
        if digest:
            mark_current(arguments.output, digest)
        print(f"The documentation is at {arguments.output / 'index.html'}")
    return app.statuscode


def _source(scratch: Path, docs: Path) -> Path:
    """Return a folder with all that Sphinx reads; what pages link to outside of the documentation is beside it."""
    source = scratch / "docs"
    shutil.copytree(docs, source)
    for entry in docs.parent.iterdir():
        if entry != docs and not entry.name.startswith("."):
            (scratch / entry.name).symlink_to(entry)
    for name, page in ROOT_PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        (source / page).write_text(text.replace("](docs/", "]("), encoding="utf-8")
    for path in source.rglob("*.md"):
        path.write_text(tables(_links(path.read_text(encoding="utf-8"), path, source)), encoding="utf-8")
    for name, text in python_reference.pages().items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    index, python = source / "index.md", source / "reference" / "python.md"
    _append(index, toctrees(index.read_text(encoding="utf-8")))
    _append(python, python_reference.contents())
    return source


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as page:
        page.write(f"\n{text}")


def _links(text: str, page: Path, source: Path) -> str:
    """Let links to pages at the root of the repository lead to their copies in the site."""

    def led(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(page.parent / found[2]))
        inside = ROOT_PAGES.get(target.name) if target.parent == source.parent else None
        return found[0] if inside is None else f"{found[1]}{os.path.relpath(source / inside, page.parent)}"

    return _LINK.sub(led, text)


if __name__ == "__main__":
    sys.exit(main())
