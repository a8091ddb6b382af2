"""Check what an answer claims against the text that it cites."""

from tools.claims.verbatim import VerbatimChecker, verbatim_span

__all__ = ["VerbatimChecker", "verbatim_span"]
