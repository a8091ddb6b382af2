"""The columns of segments and of vectors, in the order in which they are copied.

A table of another release may have them in another order, and the table of a further part has one more: what moves or
joins rows of several tables names them.
"""

from typing import LiteralString

SEGMENT_COLUMNS: LiteralString = (
    "workspace, segment_index, document_id, start_offset, end_offset, page_idx, tokens, weights, terms, heading, body,"
    " structure"
)
VECTOR_COLUMNS: LiteralString = "workspace, segment_index, document_id, embedding"
