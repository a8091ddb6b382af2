"""English: what makes a sentence false, what leaves it true, and where its names are."""

import re

from evals.mutations.english.fresh import FRESH
from evals.mutations.english.names import english_names
from evals.mutations.english.reworded import PARAPHRASES
from evals.mutations.english.wrong import MUTATIONS
from evals.mutations.language import Language

_OPENER = re.compile(
    r"(?:The|A|An|In|On|At|By|It|Its|He|She|They|His|Her|Their|This|These|That|Those|When|While|If|Since|After|Before"
    r"|During|Under|Both|Many|Most|Some|All|For|From|With|As|Although|Because|There|Other|Such)\b(?! [A-Z])"
)

ENGLISH = Language(
    code="en",
    mutations={**MUTATIONS, **FRESH},
    paraphrases=PARAPHRASES,
    frames=(
        "According to the source, ",
        "The text says that ",
        "It is reported that ",
        "The document states that ",
        "As the passage explains, ",
    ),
    names=english_names,
    joined=re.compile(r"(?:,| and| or| &|/|–|-| \(|\)| as well as| with| to| versus| vs\.?)*\s*"),
    directed=re.compile(r" (?:by|from|over|than|under|against|[a-z]+ed|of|in|to|for|into|was|were|is|became|won) "),
    equal=re.compile(
        r"\b(?:between|differ\w*|relat\w*|similar|same|equal\w*|met|married|border\w*|combin\w*|both|near|merg\w*)\b"
    ),
    shortest=7,
    tidy=lambda text: text,
    lowers_after_frame=lambda text: _OPENER.match(text) is not None,
)
