"""What a parser of the entry point group ``citewell.parsers`` is made of."""

from graph.errors import UnreadableDocument
from tools.parsers import Block, CanonicalText, Parsed, Parser
from tools.parsers.plain import decode

__all__ = ["Block", "CanonicalText", "Parsed", "Parser", "UnreadableDocument", "decode"]
