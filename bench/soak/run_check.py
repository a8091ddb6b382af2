"""What is checked of one run, by the client that reads it and again in the log: order, ends, and the text's sum."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ENDS = ("run_finished", "run_failed")


@dataclass(slots=True)
class RunCheck:
    """The events of a run as they come, from its first; ``faults`` says what was wrong with them.

    ``digest`` covers each event's number, time, type and text, so that two readings can be compared. ``withheld`` is
    True where a reader who came back got the end alone: so it is for who may no longer read what the log shows.
    """

    run_id: str = ""
    seq: int = 0
    end: str = ""
    withheld: bool = False
    resumed: int = 0
    faults: list[str] = field(default_factory=list)
    _digest: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=12))
    _sections: dict[int, str] = field(default_factory=dict)

    def add(self, kind: str, event: Mapping[str, Any], *, rejoined: bool = False) -> None:
        """Take the next event; ``rejoined`` says that it is the first one after the reader came back."""
        seq = int(event["seq"])
        if self.end:
            self.faults.append(f"{kind} after the end")
        if seq != self.seq + 1:
            if rejoined and kind in ENDS and seq > self.seq:
                self.withheld = True
            else:
                self.faults.append(f"{kind} has number {seq} after {self.seq}")
        self.seq = seq
        text = event.get("delta", event.get("text", ""))
        self._digest.update(f"{seq} {event['at']} {kind} {text}\n".encode())
        self._fold(kind, event)

    def digest(self) -> bytes:
        """Return the digest of all events so far."""
        digest: bytes = self._digest.digest()
        return digest

    def _fold(self, kind: str, event: Mapping[str, Any]) -> None:
        match kind:
            case "section_started":
                self._sections[event["section_index"]] = ""
            case "text_delta":
                index = event["section_index"]
                self._sections[index] = self._sections.get(index, "") + event["delta"]
            case "section_finished":
                if self._sections.get(event["section_index"]) != event["text"]:
                    self.faults.append(f"section {event['section_index']} is not the sum of its deltas")
            case "section_revised":
                self._sections[event["section_index"]] = event["text"]
            case "run_resumed":
                self.resumed += 1
                self._sections = {index: self._sections[index] for index in event["sections"]}
            case "run_finished" | "run_failed":
                self._finish(kind, event)

    def _finish(self, kind: str, event: Mapping[str, Any]) -> None:
        self.end = event["outcome"] if kind == "run_finished" else "failed"
        if self.end == "answered" and not self.withheld:
            shown = [text for _, text in sorted(self._sections.items()) if text]
            stored = [section["text"] for section in event["message"]["sections"] if section["text"]]
            if shown != stored:
                self.faults.append("the stored message is not what was shown")
