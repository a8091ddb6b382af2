"""Events written out for the log, of which deltas that wait become one."""

from dataclasses import dataclass, field, replace

from pydantic_core import to_json

from graph.events import AnyEvent, Envelope, TextDelta, ThinkingDelta, payload

DELTAS = (TextDelta, ThinkingDelta)


@dataclass(slots=True)
class Line:
    """An event with its place in the log, written out. A delta that waits grows by those that follow it."""

    _envelope: Envelope
    _more: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, envelope: Envelope) -> "Line":
        """Write an event out. Raises PydanticSerializationError where it holds what no JSON can, as lone surrogates."""
        return cls(_written(envelope))

    def takes(self, event: AnyEvent) -> bool:
        """Take a delta in that goes on with this one; False where it is no such delta. Raises as ``of`` does."""
        match self._envelope.event, event:
            case TextDelta() as before, TextDelta() if before.section_index == event.section_index:
                pass
            case ThinkingDelta(), ThinkingDelta():
                pass
            case _:
                return False
        to_json(event.delta)  # refused here and not later, in the company of deltas that are well
        self._more.append(event.delta)
        return True

    @property
    def envelope(self) -> Envelope:
        if self._more and isinstance(event := self._envelope.event, DELTAS):
            longer = replace(event, delta=event.delta + "".join(self._more))
            self._more.clear()
            self._envelope = _written(replace(self._envelope, event=longer))
        return self._envelope

    @property
    def text(self) -> str:
        return self.envelope.text


def _written(envelope: Envelope) -> Envelope:
    return replace(envelope, text=to_json(payload(envelope)).decode())
