"""The expressions and templates of one definition, each text parsed once however often it occurs."""

from __future__ import annotations

from layover.core.expressions import Expression, Template, parse


class ParsedExpressions:
    """Parses and caches; a text that does not parse raises its ExpressionError each time."""

    def __init__(self) -> None:
        self._expressions: dict[str, Expression] = {}
        self._templates: dict[str, Template] = {}
        self.steps = 0

    def expression(self, text: str) -> Expression:
        """Return the expression of a text."""
        known = self._expressions.get(text)
        if known is None:
            known = self._expressions[text] = parse(text)
            self.steps += known.steps
        return known

    def template(self, text: str) -> Template:
        """Return the template of a text."""
        known = self._templates.get(text)
        if known is None:
            known = self._templates[text] = Template.parse(text)
            self.steps += len(text) + sum(expression.steps for _, expression in known.expressions)
        return known
