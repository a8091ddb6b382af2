"""The question of a prompt that a framework has put around it.

Frameworks of agents lay a prompt out in blocks with blank lines between them: a marker and the question, what they have
gathered, how to answer. A search for all of it finds nothing.
"""

import re

from text.sentences import sentences
from text.shapes import is_question
from tools.rules.follow_ups import depends
from tools.rules.question_terms import count_content

_BETWEEN_BLOCKS = re.compile(r"\n[ \t]*\n")
_MARKER = re.compile(r"[ \t]*(?:[^\w\s][^\n]*[^\w\s]|#[^\n]*|[^\n]*:)[ \t]*\n")  # a line of its own
_LEAST_CONTENT = 1  # words


def asked_part(prompt: str) -> str:
    """Return what the one block of a prompt asks that asks something, without its marker; else the whole prompt.

    It has a question mark, and can be understood without the rest.
    """
    blocks = _BETWEEN_BLOCKS.split(prompt)
    asking = [asked for block in blocks if (asked := _asked(block))] if len(blocks) > 1 else []
    alone = len(asking) == 1 and count_content(asking[0]) >= _LEAST_CONTENT and not depends(asking[0])
    return asking[0] if alone else prompt


def _asked(block: str) -> str:
    """Return the questions of a block, from the first to the last, on one line."""
    marker = _MARKER.match(block)
    text = block[marker.end() :] if marker else block
    asked = [span for span in sentences(text) if is_question(text[slice(*span)])]
    return " ".join(text[asked[0][0] : asked[-1][1]].split()) if asked else ""
