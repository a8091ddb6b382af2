"""A judge that answers MiniCheck's document-and-claim prompt with yes or no, as Ollama and vLLM serve it.

MiniCheck (Tang, Laban and Durrett, 2024) is trained on one document and one claim. Neither the question nor the
sentence before the claim has a place in its prompt: a claim that needs them to be understood is judged without them.
"""

import re
from collections.abc import Sequence
from contextlib import aclosing
from functools import partial

from graph.errors import ModelReplyInvalid
from graph.ports import Judgement, OpenClaim
from graph.usage import Meter
from tools.judges.judge_batches import CLAIM_TOKENS, judge_batches, judge_version, passage, plain_text, worth_asking
from tools.llm.model_endpoint import ALTERNATIVES, Endpoint
from tools.llm.model_reply import ReplyText, ReplyTokens
from tools.llm.prompting import cut_to_tokens, estimate_tokens, sanitize
from tools.llm.token_odds import TokenOdds, joined_bytes, word_probability
from tools.settings import ModelSettings

PROMPT = "Document: {document}\nClaim: {claim}"
WORDS = ("yes", "no")
REPLY_CHARACTERS = 200
_FRAME = re.compile(r"\b(document|claim)([ \t*_]*)[:：]", re.IGNORECASE)
_ANSWER = re.compile(r"[\s*\"'`]*(yes|no)\b", re.IGNORECASE)


class MiniCheckJudge:
    """A Judge with one request for each claim. Keep it for the life of the process, as a ChatJudge.

    The system message that the model was trained with is for its server to add, by its template of a chat.
    """

    def __init__(self, model: ModelSettings) -> None:
        self._endpoint = Endpoint(model, model.model, temperature=0.0)
        self.name = model.model
        self._room = model.context_tokens * 3 // 4 - estimate_tokens(PROMPT)
        self.version = judge_version(
            kind="minicheck",
            model=model.model,
            prompt=["", PROMPT],  # the first was a system message: results of exams are kept under this digest
            schema=WORDS,
            parameters={"temperature": 0.0, "alternatives": ALTERNATIVES},
        )

    async def judge(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        """Judge each claim alone: yes is ``supported``, no is ``unsupported``; it can't say ``contradicted``.

        A claim without an entry, or too long to be shown whole, is not asked about. Entries that don't fit are cut.
        Raises DependencyFailed or BudgetExhausted where no claim could be judged.
        """
        asked, skipped = worth_asking(claims, longest=min(CLAIM_TOKENS, self._room // 2))
        return await judge_batches(len(claims), [[each] for each in asked], partial(self._ask, meter=meter), skipped)

    async def _ask(self, claims: Sequence[OpenClaim], *, meter: Meter) -> list[Judgement]:
        (claim,) = claims
        words = _material(" ".join(claim.claim.split()))
        document = _material("\n\n".join(map(passage, claim.entries)))
        shown = cut_to_tokens(document, self._room - estimate_tokens(words))
        asked = [("user", PROMPT.format(document=shown, claim=words))]
        texts: list[str] = []
        tokens: list[TokenOdds] = []
        # A reply that goes on after its first word is cut by the bound, and read all the same.
        parts = self._endpoint.reply(asked, schema=None, max_characters=REPLY_CHARACTERS, meter=meter, logprobs=True)
        async with aclosing(parts):
            async for part in parts:
                match part:
                    case ReplyText(text):
                        texts.append(text)
                    case ReplyTokens(more):
                        tokens.extend(more)
        answer = _ANSWER.match("".join(texts))
        if answer is None:
            raise ModelReplyInvalid("The judge's reply is neither yes nor no.")
        word = answer[1].lower()
        return [Judgement("supported" if word == "yes" else "unsupported", _probability(tokens, word))]


def _material(text: str) -> str:
    return _FRAME.sub(r"\1\2 -", sanitize(plain_text(text)))


def _probability(tokens: Sequence[TokenOdds], word: str) -> float | None:
    """Return P(yes) at the token that begins the answer; None where the tokens don't spell it."""
    spelled = joined_bytes(tokens)
    thought = spelled.rfind("</think>")
    begin = thought + len("</think>") if thought >= 0 else 0
    answer = _ANSWER.match(spelled, begin)
    if answer is None or answer[1].lower() != word:
        return None
    return word_probability(tokens, begin, answer.start(1), WORDS)
