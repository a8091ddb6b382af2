"""Documents as tests index them without reading files: texts in segments, with vectors."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tools.retrieval.segment_rows import PackedDocument
from tools.retrieval.segmenting import SegmentSpan


@dataclass(frozen=True, slots=True)
class CutDocument:
    """A document to index. ``embeddings`` has shape (len(spans), dimension), normalised."""

    document_id: str
    title: str
    spans: Sequence[SegmentSpan]
    text: str
    embeddings: NDArray[np.float32]

    def packed(self, workspace: int = 1) -> PackedDocument:
        """Lay out its rows."""
        packed = PackedDocument.of(workspace, self.document_id, self.title, self.spans, self.text)
        return packed.with_vectors(workspace, self.embeddings)
