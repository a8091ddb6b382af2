"""An AG-UI run while it is being told: what is open, and what has to be closed before the run may end."""

from typing import Any

Frame = dict[str, Any]


class ToldRun:
    """Gives the events of steps, thoughts and text, so that none is begun twice or ended without having begun.

    Clients refuse a step whose name is open already, and an end of the run while anything is.
    """

    def __init__(self, message_id: str) -> None:
        self._message_id = message_id
        self._steps: list[str] = []
        self._in_text = False
        self._thoughts = 0
        self._thinking = ""

    def begin_step(self, name: str) -> list[Frame]:
        """Begin a step; one that was cut off before is ended first."""
        ended = self.end_step(name)
        self._steps.append(name)
        return [*ended, {"type": "STEP_STARTED", "stepName": name}]

    def end_step(self, name: str) -> list[Frame]:
        """End a step if it is open. Steps run side by side, so any of those that are open may end."""
        if name not in self._steps:
            return []
        self._steps.remove(name)
        return [{"type": "STEP_FINISHED", "stepName": name}]

    def think(self, delta: str) -> list[Frame]:
        """Tell what a reasoning model thinks, apart from the answer."""
        begun: list[Frame] = []
        if not self._thinking:
            self._thoughts += 1
            self._thinking = f"{self._message_id}-thought-{self._thoughts}"
            begun = [
                {"type": "REASONING_START", "messageId": self._thinking},
                {"type": "REASONING_MESSAGE_START", "messageId": self._thinking, "role": "reasoning"},
            ]
        return [*begun, {"type": "REASONING_MESSAGE_CONTENT", "messageId": self._thinking, "delta": delta}]

    def end_thought(self) -> list[Frame]:
        """End the thought, if one is open."""
        if not self._thinking:
            return []
        thought, self._thinking = self._thinking, ""
        return [
            {"type": "REASONING_MESSAGE_END", "messageId": thought},
            {"type": "REASONING_END", "messageId": thought},
        ]

    def write(self, text: str) -> list[Frame]:
        """Tell more of the answer."""
        begun = self.end_thought()
        if not self._in_text:
            self._in_text = True
            begun.append({"type": "TEXT_MESSAGE_START", "messageId": self._message_id, "role": "assistant"})
        return [*begun, {"type": "TEXT_MESSAGE_CONTENT", "messageId": self._message_id, "delta": text}]

    def cut_off(self) -> list[Frame]:
        """End the steps and the thought that a crash has left open; the text goes on."""
        return [*self.end_thought(), *(frame for name in list(self._steps) for frame in self.end_step(name))]

    def end(self) -> list[Frame]:
        """End all that is open."""
        ended = self.cut_off()
        if self._in_text:
            self._in_text = False
            ended.append({"type": "TEXT_MESSAGE_END", "messageId": self._message_id})
        return ended
