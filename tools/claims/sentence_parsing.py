"""Parse a sentence once for comparison: tokens with numbers, dates and units joined, names and negations marked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from text.language import FUNCTION_WORDS, VIETNAMESE_FUNCTION_WORDS, word_set
from text.normal_forms import fold
from tools.claims.claim_tokens import Token, tokens_of
from tools.claims.quantities import join_dates, join_numbers, join_units

_TRANSLITERATED = frozenset(
    "阿埃艾安奥巴班贝本比彼伯布查达戴丹德登迪蒂杜顿多厄恩尔法菲费芬弗福盖甘冈高戈格古哈海汉赫华霍基吉加贾杰金卡凯坎康考科克肯孔库拉莱赖兰朗劳勒雷蕾李里丽利莉林琳隆卢鲁路露伦罗洛马迈麦曼梅门蒙米密敏明莫姆穆纳娜奈南内尼宁纽努诺欧帕潘庞佩皮珀普奇契恰乔切琼热荣瑞若萨塞桑瑟森莎沙珊舍圣施史士斯丝斯思松苏索塔泰坦汤唐陶特忒提廷图托瓦万旺威韦维魏温沃乌武西希锡夏香肖歇谢辛休雅亚扬耶叶伊因英尤约泽扎詹珍朱兹佐茨黛蔓妮薇"
)
_PLACE_ENDINGS = frozenset("国州省市县区镇村山河江湖海洋岛港城堡宫寺院校馆队军党社族教会派系街路桥站人语岸")
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛阎段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤"
)


def looks_like_name(run: str, wide: str) -> bool:
    """Whether Chinese letters look like a name: transliterated, or with the ending of a place or group.

    ``wide`` is the run with its neighbouring letters.
    """
    follows = wide[wide.find(run) + len(run) :][:1]
    if "·" in wide or len(run) < 2:
        return "·" in wide or (follows in _PLACE_ENDINGS and run not in _PLACE_ENDINGS)
    if sum(letter in _TRANSLITERATED for letter in run) >= 0.6 * len(run) or run[-1] in _PLACE_ENDINGS:
        return True
    return (len(run) == 2 and follows in _PLACE_ENDINGS) or (len(run) <= 3 and run[0] in _SURNAMES)


Certainty = Literal[0, 1, 2]  # no name; maybe, since a sentence begins with it; surely

_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|ein|eine|den|dem|von|mit|für|wird|sich|auf)\b")
_TITLE_CASE = 0.7  # of the words of a sentence; above it capitals tell nothing
# A word with such an ending may be the people of a place whose name begins alike: Spain, Spanish; France, French.
_PEOPLE = ("ese", "ish", "ian", "ean", "an", "ch", "sh", "ss", "ek", "ine", "ino", "ard", "ai", "qi", "ani")
_IRREGULAR = frozenset(
    frozenset(pair.split("/"))
    for pair in word_set(
        "dutch/netherlands dutch/holland british/uk british/britain british/england english/england american/us "
        "american/usa american/america swiss/switzerland welsh/wales burmese/myanmar soviet/ussr emirati/uae "
        "filipino/philippines"
    )
)
_DEMONYMS = ("ese", "ish", "ian", "ean", "an", "ic", "i", "s", "n", "es", "'s")


def names_among(tokens: Sequence[Token], folded: str) -> list[Certainty]:
    """Return for each token how surely it is a name; a script without capitals has none."""
    words = [token for token in tokens if token.kind == "word"]
    capitals = sum(token.capital for token in words)
    if not capitals or len(_GERMAN.findall(folded)) > 2:
        return [0] * len(tokens)
    shouted = len(words) > 4 and capitals > _TITLE_CASE * len(words)
    found: list[Certainty] = []
    for at, token in enumerate(tokens):
        if token.kind != "word" or not token.capital or (_holds(token, at) and not _acronym(token, folded)):
            found.append(0)
        elif shouted:
            found.append(1)
        elif at == 0 or _begins(folded, token.start):
            following = tokens[at + 1] if at + 1 < len(tokens) else None
            joined = following is not None and following.capital and folded[token.end : following.start] in (" ", "-")
            sure = (joined and following is not None and following.key not in FUNCTION_WORDS) or _acronym(token, folded)
            found.append(2 if sure else 1)
        else:
            found.append(2)
    return found


def _holds(token: Token, at: int) -> bool:
    return token.key in FUNCTION_WORDS and (at == 0 or token.key not in VIETNAMESE_FUNCTION_WORDS)


def _begins(folded: str, start: int) -> bool:
    before = folded[max(0, start - 3) : start].rstrip()
    return not before or before[-1] in '".!?:(*-#'


def _acronym(token: Token, folded: str) -> bool:
    written = folded[token.start : token.end]
    return len(written) > 1 and any(sign.isupper() for sign in written[1:])


def one_name(these: Sequence[str], those: Sequence[str]) -> bool:
    """Whether two runs of words may name the same: a part of a name, its initials, its adjective."""
    if not these or not those:
        return False
    short, long = sorted((tuple(these), tuple(those)), key=len)
    if set(short) <= set(long):
        return True
    if len(short) == 1 and len(long) > 1 and short[0] in _initials(long):
        return True
    if len(short) == 1 and any(_abbreviates(*pair) for word in long for pair in ((short[0], word), (word, short[0]))):
        return True
    if all(any(_initial(a, b) for b in long) for a in short):
        return True
    return len(short) == len(long) and all(_akin(a, b) for a, b in zip(short, long, strict=True))


_COURTESY = word_set(
    """
    mr mrs ms miss mx dr doctor prof professor sir dame lord lady madam president chancellor premier prime minister king
    queen prince princess emperor empress pope saint st bishop archbishop cardinal rev reverend father brother sister
    general colonel captain major lieutenant sergeant admiral senator governor mayor judge justice chief director chair
    chairman chairwoman secretary ambassador coach ceo vua ông bà ngài anh chị cô thầy giáo sư tiến sĩ bác tổng thống
    thủ tướng chủ tịch bộ trưởng
    """
)


def without_courtesy(name: Sequence[str]) -> list[str]:
    """Return the words of a name without titles of courtesy and office."""
    return [word for word in name if word not in _COURTESY]


def is_roman(key: str) -> bool:
    """Whether a word is a Roman numeral of more than one sign."""
    return len(key) > 1 and not set(key) - set("ivxlcdm")


def _initials(words: Sequence[str]) -> tuple[str, str]:
    """Return the initials of some words, and those without words such as "of"."""
    return "".join(word[0] for word in words), "".join(word[0] for word in words if word not in FUNCTION_WORDS)


def _abbreviates(short: str, word: str) -> bool:
    """Whether a word is the beginning of another: Corp, Corporation."""
    return len(short) >= 3 and len(word) > len(short) + 1 and word.startswith(short)


def _initial(a: str, b: str) -> bool:
    return a == b or (min(len(a), len(b)) == 1 and a[0] == b[0])


def _akin(a: str, b: str) -> bool:
    """Whether two words are a country and its adjective, or a name and its plural."""
    if a == b:
        return True
    if is_roman(a) and is_roman(b):
        return False
    shared = 0
    while shared < min(len(a), len(b)) and a[shared] == b[shared]:
        shared += 1
    endings = ("", "y", "e", "a", *_DEMONYMS)
    if shared >= 3 and a[shared:] in endings and b[shared:] in endings:
        return True
    people = (a.endswith(_PEOPLE), b.endswith(_PEOPLE))
    return frozenset((a, b)) in _IRREGULAR or (shared >= 2 and people[0] != people[1])


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
    r"|chẳng (?:hạn|qua)\b"
    r"|có [^.,]{1,40} hay không\b"
)
_EN_COMPOUNDS = re.compile(
    r"\bnot only\b|\bno (?:more|less|fewer|later|earlier|longer than) than\b"
    r"|\bno\. ?\d|\bnothing but\b|\bnot (?:just|merely)\b"
)


def negations(folded: str, tokens: Sequence[Token]) -> list[bool]:
    """Return for each token of a sentence whether it negates."""
    masked = _hidden(folded)
    return [
        not masked[token.start]
        and (token.key in _NEGATIONS or token.key in _SOFT or (token.kind == "letter" and token.key in _ZH_NEGATIONS))
        for token in tokens
    ]


def accompanies(token: Token) -> bool:
    """Whether a token is only the grammar of a negation, such as "do" before "not"."""
    return token.key in _COMPANIONS or (token.kind == "letter" and token.key in _ZH_COMPANIONS)


def _hidden(folded: str) -> bytearray:
    masked = bytearray(len(folded) + 1)
    lowered = folded.lower()
    for pattern in (_EN_COMPOUNDS,) if folded.isascii() else (_ZH_COMPOUNDS, _VI_COMPOUNDS, _EN_COMPOUNDS):
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
        """Return the words of a run of tokens as they were written."""
        run = self.tokens[first:last]
        if not run:
            return ""
        return self.folded[min(token.start for token in run) : max(token.end for token in run)]


def is_vietnamese(folded: str) -> bool:
    """Whether a text is Vietnamese, by a letter that only Vietnamese has."""
    return not folded.isascii() and _VIETNAMESE.search(folded) is not None


@lru_cache(maxsize=512)  # some 3.6 KB each
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
