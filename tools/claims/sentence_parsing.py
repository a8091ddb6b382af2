"""Parse a sentence once for comparison: tokens with numbers, dates and units joined, names and negations marked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from text.normal_forms import fold
from text.stop_words import word_set
from tools.claims.claim_tokens import Token, tokens_of
from tools.claims.dates import join_dates
from tools.claims.proper_names import Certainty, names_among
from tools.claims.quantities import join_numbers, join_units

_NEGATIONS = word_set(
    """
        not no never none neither nor nobody nothing nowhere without hardly scarcely barely không chưa chẳng chả
        đừng nicht kein keine keinen niemals nie ne pas jamais aucun aucune nunca jamás ningún não não нет не
        никогда
        """
)
_SOFT = word_set(
    """
        fail failed fails failing refuse refused refuses lack lacked lacks lacking deny denied denies false
        non chối
        untrue wrong incorrect incorrectly falsely wrongly impossible unable myth
        """
)
# Of what a negation brings along; a run of nothing else but these and negations says nothing but "not".
_COMPANIONS = word_set(
    """
        do does did done is are was were be been being am has have had will would can could may might shall
        should must to it the that case true fact any at all in a an of by means ever so there also phải là hề
        có đã từ bao giờ lúc nào luôn từng nhưng longer or used được sẽ bị cũng một bất kỳ điều đó việc cứ đúng rằng
        """
)
_ZH_COMPANIONS = frozenset("并能会是有曾可以得被过了的任何一从来该事实这说法")
_ZH_NEGATIONS = frozenset("不没無无未非莫勿")
_ZH_COMPOUNDS = re.compile(
    "不仅|不但|不过|不断|不久|不同|不管|不论|不得不|不少|不错|不只|不光|不如|不止|不足|不等|不惜|不禁|非洲|非常|除非|未来|未必|无数"
    "|无论|无限|无线|无锡|南非|北非|东非|西非|中非|没收|沉没|淹没|没落|出没|埋没|差不多|约莫|了不起|是不是|有没有|能不能|非法"
)
_VI_COMPOUNDS = re.compile(
    r"không (?:khí|gian|quân|lực|chỉ|những|trung|phận|ít|kém|lưu|tặc|ngừng|quá|dưới|hơn)\b"
    r"|(?:hàng|trên|số|hư|phòng) không\b(?! (?:có|phải|được|thể|bao|hề|còn))"
    r"|có [^.,]{1,40} hay không\b"
)
_EN_COMPOUNDS = re.compile(
    r"\bnot only\b|\bno (?:more|less|fewer|later|earlier|longer than) than\b"
    r"|\bno\. ?\d|\bnothing but\b|\bnot (?:just|merely)\b"
)


def negations(folded: str, tokens: Sequence[Token]) -> list[bool]:
    """Say of each token of a sentence whether it negates."""
    masked = _hidden(folded)
    return [
        not masked[token.start]
        and (token.key in _NEGATIONS or token.key in _SOFT or (token.kind == "letter" and token.key in _ZH_NEGATIONS))
        for token in tokens
    ]


def accompanies(token: Token) -> bool:
    """Tell whether a token only helps a negation to stand where it does."""
    return token.key in _COMPANIONS or (token.kind == "letter" and token.key in _ZH_COMPANIONS)


def _hidden(folded: str) -> bytearray:
    masked = bytearray(len(folded) + 1)
    lowered = folded.lower()
    for pattern in (_ZH_COMPOUNDS, _VI_COMPOUNDS, _EN_COMPOUNDS):
        for match in pattern.finditer(lowered):
            if match.end() <= len(folded):
                masked[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return masked


_VIETNAMESE = re.compile("[ăđơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉĩịọỏốồổỗộớờởỡợụủũứừửữựỳỵỷỹ]", re.IGNORECASE)
_LONGEST = 20_000  # characters of one sentence that are compared; a longer one is only compared verbatim


@dataclass(frozen=True, slots=True)
class ParsedSentence:
    """A sentence as the checks compare it. Tokens hold offsets into ``folded``."""

    folded: str
    tokens: tuple[Token, ...]
    keys: tuple[str, ...]
    names: tuple[Certainty, ...]
    negates: tuple[bool, ...]
    asks: bool = False

    def said(self, first: int, last: int) -> str:
        """Give the words of a run of tokens as they were written."""
        run = self.tokens[first:last]
        if not run:
            return ""
        return self.folded[min(token.start for token in run) : max(token.end for token in run)]


def is_vietnamese(folded: str) -> bool:
    """Tell by a letter that only Vietnamese has."""
    return _VIETNAMESE.search(folded) is not None


@lru_cache(maxsize=8192)
def parse_sentence(text: str) -> ParsedSentence:
    """Read a sentence of any language. Takes time linear in the text."""
    folded = fold(text[:_LONGEST])
    tokens = tokens_of(folded)
    tokens = join_numbers(tokens, vietnamese=is_vietnamese(folded))
    tokens = join_units(join_dates(tokens))
    asks = "?" in folded[max((token.end for token in tokens), default=0) :]
    return ParsedSentence(
        folded,
        tuple(tokens),
        tuple(token.key for token in tokens),
        tuple(names_among(tokens, folded)),
        tuple(negations(folded, tokens)),
        asks,
    )
