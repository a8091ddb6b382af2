"""A judge behind any chat model: numbered claims with their entries in one request, a verdict for each in the reply."""

import re
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

import prompts
from graph.errors import BudgetExhausted, CitewellError, DependencyFailed, ModelReplyInvalid
from graph.ports import CitedEntry, Judgement, OpenClaim
from graph.usage import Meter
from text.normal_forms import without_surrogates
from tools.judges.judge_batches import CLAIM_TOKENS, Batch, judge_batches, judge_version, worth_asking
from tools.llm.model_endpoint import ALTERNATIVES, Endpoint
from tools.llm.model_reply import ReplyEnd, ReplyText, ReplyTokens
from tools.llm.prompting import cut_to_tokens, estimate_tokens, messages, one_line, sanitize
from tools.llm.reply_schemas import judging_schema
from tools.llm.token_odds import TokenOdds
from tools.llm.verdict_reading import LEFT_OUT, VERDICTS, read_judgements
from tools.settings import ModelSettings

PROMPT = prompts.load("judge_claims", "claims")
MOST_CLAIMS = 20  # per request; endpoints limit the size of a schema
REPLY_TOKENS = 100  # per claim
HINT_TOKENS = 100  # of the question and of the sentence before
PLACE_TOKENS = 100  # of title and heading
FEWEST_TOKENS = 800  # for a claim with its entries, however small the context
MOST_REPLY_TOKENS = 50_000
CUT_OFF = "The judge's reply was cut off before it."

_QUOTED = "| "
_NUMBER = re.compile(r"[\[［【〔]\s*(\d{1,3})\s*[\]］】〕]")
_LABEL = re.compile(
    r"\b(claims?|entry|entries|asked(?: of every claim)?|verdict|difference)([ \t]*\d{0,3}[ \t*_]*)[:：]", re.IGNORECASE
)
_KEY = re.compile(r'\\?["“”＂](\d{1,3}|claim|entry|difference|verdict)\\?["“”＂](?=\s*[:：])', re.IGNORECASE)


_Seen = dict[tuple[str, str, tuple[str, ...]], int]  # surroundings of entries, and the claim that shows them first


@dataclass(frozen=True, slots=True)
class _Reply:
    text: str
    tokens: tuple[TokenOdds, ...]
    failure: CitewellError | None = None


class ChatJudge:
    """A Judge that asks a chat model. Keep it for the life of the process: it remembers which request format works."""

    def __init__(self, model: ModelSettings) -> None:
        self._endpoint = Endpoint(model, model.model, temperature=0.0)
        self.name = model.model
        self._room = max(FEWEST_TOKENS, model.context_tokens * 3 // 4 - estimate_tokens(PROMPT.text))
        self._most = max(1, min(MOST_CLAIMS, model.context_tokens // 4 // REPLY_TOKENS))
        self.version = judge_version(
            kind="chat",
            model=self.name,
            prompt=PROMPT.text,
            layout=_numbered([_SAMPLE, _SAMPLE], self._room),
            schema=judging_schema(1, VERDICTS).schema,
            parameters={"temperature": 0.0, "alternatives": ALTERNATIVES, "claims": self._most},
        )

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        """Judge claims by their entries, as many in a request as fit into the context, and at most twenty.

        A claim without an entry, or too long to be shown whole, is not asked about. Entries that don't fit are cut.
        A reply that breaks off gives the verdicts before its end. Raises DependencyFailed or BudgetExhausted where no
        claim could be judged.
        """
        asked, skipped = worth_asking(claims, longest=min(CLAIM_TOKENS, self._room // 2))
        return await judge_batches(len(claims), self._batches(asked), partial(self._ask, meter=meter), skipped)

    def _batches(self, asked: Batch[OpenClaim]) -> list[Batch[OpenClaim]]:
        batches: list[list[tuple[int, OpenClaim]]] = []
        left, seen = 0, _Seen()
        for index, claim in asked:
            number = len(batches[-1]) + 1 if batches else 1
            tokens = estimate_tokens(_frame(number, claim, asked=claim.question, room=self._room, seen=seen))
            if tokens > left or number > self._most:
                batches.append([])
                left, seen = self._room, _Seen()
                tokens = estimate_tokens(_frame(1, claim, asked=claim.question, room=self._room, seen=seen))
            batches[-1].append((index, claim))
            left -= tokens
        return list(batches)

    async def _ask(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        reply = await self._reply(claims, meter)
        missing = LEFT_OUT if reply.failure is None else reply.failure.message
        judgements = read_judgements(reply.text, reply.tokens, len(claims), missing=missing)
        if all(judgement.verdict is None for judgement in judgements):
            raise reply.failure or ModelReplyInvalid("The judge's reply judges no claim.")
        return judgements

    async def _reply(self, claims: Sequence[OpenClaim], meter: Meter) -> _Reply:
        """Return the reply, or what arrived of it before it failed."""
        texts: list[str] = []
        tokens: list[TokenOdds] = []
        failure: CitewellError | None = None
        parts = self._endpoint.reply(
            messages(PROMPT, claims=_numbered(claims, self._room)),
            schema=judging_schema(len(claims), VERDICTS),
            max_characters=400 + 800 * len(claims),
            meter=meter,
            logprobs=True,
        )
        try:
            async with aclosing(parts):
                async for part in parts:
                    match part:
                        case ReplyText(text):
                            texts.append(text)
                        case ReplyTokens(more) if len(tokens) < MOST_REPLY_TOKENS:
                            tokens.extend(more)
                        case ReplyEnd(cut=True):
                            failure = ModelReplyInvalid(CUT_OFF)
        except (DependencyFailed, BudgetExhausted) as error:
            failure = error
        return _Reply("".join(texts), tuple(tokens), failure)


def _numbered(claims: Sequence[OpenClaim], room: int) -> str:
    """Format claims under their numbers, from 1; a question that they share stands once, above them."""
    questions = {claim.question for claim in claims}
    shared = questions.pop() if len(claims) > 1 and len(questions) == 1 else ""
    seen = _Seen()
    frames = [
        _frame(number, claim, asked="" if shared else claim.question, room=room, seen=seen)
        for number, claim in enumerate(claims, start=1)
    ]
    above = [f"Asked of every claim:\n{_quoted(_hint(shared))}"] if shared.strip() else []
    return "\n\n".join([*above, *frames])


def _frame(number: int, claim: OpenClaim, *, asked: str, room: int, seen: _Seen) -> str:
    parts = [f"[{number}] Claim:", _quoted(_material(claim.claim))]
    if asked.strip():
        parts += ["Asked:", _quoted(_hint(asked))]
    if claim.before.strip():
        parts += ["After:", _quoted(_hint(claim.before))]
    left = room - estimate_tokens("\n".join(parts))
    for entry in claim.entries:
        surroundings = (entry.title, entry.heading, entry.context[-1:])
        before = seen.get(surroundings) if entry.context else None
        shown = _entry(replace(entry, context=entry.context[:-1]) if before else entry, left)
        if not shown:
            break
        parts += [f"Entry, around it the same as in [{before}]:" if before else "Entry:", shown]
        left -= estimate_tokens(shown) + 8
        seen.setdefault(surroundings, number)
    return "\n".join(parts)


def _entry(entry: CitedEntry, room: int) -> str:
    """Format an entry in at most about ``room`` tokens: its text first of all, then what it depends on; "" for none."""
    path = [one_line(without_surrogates(part)) for part in (entry.title, *entry.heading.split(" > "))]
    place = " > ".join(dict.fromkeys(part for part in path if part))
    above = [f"| # {cut_to_tokens(_neutral(place), PLACE_TOKENS)}"] if place else []
    text = _material(entry.text)
    left = room - estimate_tokens("\n".join(above)) - 4
    if not text or left < 1:
        return ""
    shown = _quoted(cut_to_tokens(text, left))
    left -= estimate_tokens(shown)
    for context in entry.context:
        lines = _quoted(_material(context), "| ~ ")
        left -= estimate_tokens(lines)
        if lines and left >= 0:
            above.append(lines)
    return "\n".join([*above, shown])


def _hint(text: str) -> str:
    return cut_to_tokens(" ".join(_material(text).split()), HINT_TOKENS)


def _material(text: str) -> str:
    return _neutral(sanitize(without_surrogates(text))).strip()


def _neutral(text: str) -> str:
    """Rewrite what looks like a number, a label or a key of this prompt."""
    return _KEY.sub(r"'\1'", _LABEL.sub(r"\1\2 -", _NUMBER.sub(r"(\1)", text)))


def _quoted(text: str, mark: str = _QUOTED) -> str:
    """Begin every line with a mark, so that no text can begin a line of ours."""
    return "\n".join(mark + line.rstrip() for line in text.splitlines() if line.strip())


_SAMPLE = OpenClaim(
    "claim",
    (CitedEntry("entry", "title", "heading", ("context",)), CitedEntry("entry")),
    question="question",
    before="before",
)
