"""How Sphinx makes the site. What it reads is put together by `build.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pygments.lexer import inherit
from pygments.lexers.cel import CELLexer
from pygments.lexers.special import TextLexer
from pygments.token import Generic, Name

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

project = "Layover"
html_title = "Layover"
extensions = ["myst_parser"]
myst_heading_anchors = 4  # so many levels of headings can be linked to, by the same names as on a code host
exclude_patterns: list[str] = []
smartquotes = False

add_module_names = False
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6e6e", "color-brand-content": "#0b6e6e"},
    "dark_css_variables": {"color-brand-primary": "#5cc8c8", "color-brand-content": "#5cc8c8"},
}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["search.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
html_domain_indices = False


class ExpressionLexer(CELLexer):
    """Expressions with what they give: `1 + 1  →  2`."""

    tokens: ClassVar[dict[str, list[object]]] = {
        "root": [(r"→", Generic.Prompt), (r"`[^`\n]+`", Name), (r"[^\x00-\x7f]", Generic), inherit]
    }


def find_in_layover(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.TextElement
) -> nodes.reference | None:
    """Link a type that a signature names without its module to where it is documented, whatever module that is."""
    if node.get("refdomain") != "py":
        return None
    domain = env.domains.python_domain
    last = node["reftarget"].rpartition(".")[2]
    found = [name for name in domain.objects if name.startswith("layover.") and name.rpartition(".")[2] == last]
    classes = [name for name in found if domain.objects[name].objtype in ("class", "exception", "data")]
    if len(classes) != 1:
        return None
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", classes[0], node, contnode)


def setup(app: Sphinx) -> None:
    """Add the languages of our examples, and links between types."""
    app.add_lexer("cel", ExpressionLexer)
    app.add_lexer("template", TextLexer)
    app.connect("missing-reference", find_in_layover)
