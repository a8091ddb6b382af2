"""What a dialect of the entry point group ``citewell.dialects`` is made of."""

from api.dependencies import AppSettings, Me, Opened
from api.dialects.registry import Dialect
from api.event_frames import Encoder, frame
from api.fields import ChatOptions, Question
from api.problems import register_error_shape
from api.stream import RunStream
from graph import events
from graph.events import AnyEvent, Envelope, RunFailed, RunFinished

__all__ = [
    "AnyEvent",
    "AppSettings",
    "ChatOptions",
    "Dialect",
    "Encoder",
    "Envelope",
    "Me",
    "Opened",
    "Question",
    "RunFailed",
    "RunFinished",
    "RunStream",
    "events",
    "frame",
    "register_error_shape",
]
