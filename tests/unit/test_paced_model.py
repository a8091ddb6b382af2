"""The paced model of the benchmark answers from the segments it is shown, and knows which tokens it timed."""

import json

from bench.paced_model import PACED, SECTIONS, PacedModel
from evals.scripted_endpoint import ModelRequest, Reply, Say, Wait
from tools.llm.answer_writing import ANSWER_PROMPT
from tools.llm.prompting import messages

SEGMENTS = {
    f"d:{at}": f"Nothing. Row {at} lists what the office orders. It closes before the holidays." for at in range(4)
}


def asked(context: str, model: str) -> ModelRequest:
    prompt = messages(ANSWER_PROMPT, language="English", context=context, question="What?")
    sent = [{"role": role, "content": content} for role, content in prompt]
    return ModelRequest({"model": model, "messages": sent, "stream": True})


def tokens(reply: Reply) -> list[str]:
    return [step.text for step in reply.steps if isinstance(step, Say)]


def test_the_answer_quotes_and_rewords_the_segments() -> None:
    model = PacedModel()
    context = "\n".join(f"[SEG={name}] {text}" for name, text in SEGMENTS.items())
    reply = model.respond(asked(context, PACED))
    sections = json.loads("".join(tokens(reply)))["sections"]
    assert [section["source_ids"] for section in sections] == [["d:0"], ["d:1"], ["d:2"]]
    assert len(sections) == SECTIONS
    first = sections[0]["text"]
    assert first not in SEGMENTS["d:0"]
    (answer,) = model.answers
    assert answer.first_sentence == first
    assert "".join(tokens(reply)[answer.begins_at : answer.ends_at + 1]).startswith(first)
    assert sum(isinstance(step, Wait) for step in reply.steps) == len(tokens(reply)) + 1
