"""The native dialect: every event unchanged, flat with its envelope, named by its type."""

from api.event_frames import EncodedJson, frame
from graph.events import Envelope, payload


class NativeEncoder:
    """An encoder that treats all events alike; clients ignore those that they do not know."""

    stateful = False
    resumable = True

    def encode(self, envelope: Envelope) -> bytes:
        """Return the frame of an event."""
        data = EncodedJson(envelope.text) if envelope.text else payload(envelope)
        return frame(data, event=envelope.event.type, event_id=envelope.event_id)
