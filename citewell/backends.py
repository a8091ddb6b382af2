"""What a backend of the entry point group ``citewell.backends`` is made of."""

from graph.evidence import Hit
from graph.ports import Draft, DraftClosed, DraftOpened, Drafts, DraftText, Family
from graph.usage import Meter
from tools.backends.backend_registry import Backend
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import ExtractiveWriter, extractive_family

__all__ = [
    "Backend",
    "CodeChecker",
    "Draft",
    "DraftClosed",
    "DraftOpened",
    "DraftText",
    "Drafts",
    "ExtractiveWriter",
    "Family",
    "Hit",
    "Meter",
    "extractive_family",
]
