"""A message of the AI SDK while it is being told: which of its parts are open, and what has to close them."""

from collections.abc import Mapping, Sequence
from typing import Any

from api.dialects.ai_sdk_parts import source_part
from graph.evidence import Source

Part = dict[str, Any]
TEXT = "answer"


class ToldMessage:
    """Gives the parts that put a thought, a source or text on the message; the text is one part with the id ``answer``.

    Clients refuse a delta or an end of what was never begun, so every part that is open is ended before another.
    """

    def __init__(self) -> None:
        self._in_step = False
        self._in_text = False
        self._thought = 0
        self._thinking = False
        self._cited: set[int] = set()

    def begin_step(self) -> list[Part]:
        """Begin a step; ``reset`` drops no more than what follows."""
        ended = self.end_step()
        self._in_step = True
        return [*ended, {"type": "start-step"}]

    def end_step(self) -> list[Part]:
        """End the step with what is open in it."""
        ended = [*self.end_thought(), *self.end_text()]
        if self._in_step:
            self._in_step = False
            ended.append({"type": "finish-step"})
        return ended

    def think(self, delta: str) -> list[Part]:
        """Tell what a reasoning model thinks, apart from the answer."""
        begun: list[Part] = []
        if not self._thinking:
            self._thought += 1
            self._thinking = True
            begun.append({"type": "reasoning-start", "id": f"thought-{self._thought}"})
        return [*begun, {"type": "reasoning-delta", "id": f"thought-{self._thought}", "delta": delta}]

    def end_thought(self) -> list[Part]:
        """End the thought, if one is open."""
        if not self._thinking:
            return []
        self._thinking = False
        return [{"type": "reasoning-end", "id": f"thought-{self._thought}"}]

    def cite(self, sources: Sequence[Source]) -> list[Part]:
        """Tell the sources that the text to come refers to, each once, in the order of their marks."""
        fresh = [source for source in sources if source["index"] not in self._cited]
        self._cited |= {source["index"] for source in fresh}
        return [source_part(source) for source in sorted(fresh, key=lambda source: source["index"])]

    def write(self, text: str) -> list[Part]:
        """Tell more of the answer."""
        begun = self.end_thought()
        if not self._in_text:
            self._in_text = True
            begun.append({"type": "text-start", "id": TEXT})
        return [*begun, {"type": "text-delta", "id": TEXT, "delta": text}]

    def reset(self) -> list[Part]:
        """Drop all that the step has told; clients then hold nothing of it open."""
        self._in_text = self._thinking = False
        self._cited.clear()
        return [{"type": "reset-step"}]

    def end_text(self, extra: Mapping[str, Any] | None = None) -> list[Part]:
        """End the text, if there is any, with what proves it."""
        if not self._in_text:
            return []
        self._in_text = False
        return [{"type": "text-end", "id": TEXT, **(extra or {})}]
