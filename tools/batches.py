"""Documents read a batch at a time, so that one transaction takes in many small ones."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from graph.errors import CitewellError
from tools.new_documents import ReadyDocument

BATCH_DOCUMENTS = 200
BATCH_CHARACTERS = 500_000

Source = Callable[[], ReadyDocument]


@dataclass(frozen=True, slots=True)
class Read:
    """A source that was read: the document, or why there is none."""

    name: str
    ready: ReadyDocument | None = None
    fault: CitewellError | None = None


class Batches:
    """Reads named sources in order. ``next`` takes CPU and file time: call it in a thread, one at a time."""

    def __init__(self, sources: Iterable[tuple[str, Source]]) -> None:
        self._left = self._read(sources)
        self._carried: Read | None = None

    def next(self) -> list[Read]:
        """Read some hundred documents or half a million characters, no id twice; an empty list is the end."""
        batch: list[Read] = []
        ids: set[str] = set()
        characters = 0
        while len(batch) < BATCH_DOCUMENTS and characters < BATCH_CHARACTERS:
            item = self._carried or next(self._left, None)
            self._carried = None
            if item is None:
                break
            if item.ready is not None:
                if item.ready.document_id in ids:
                    self._carried = item
                    break
                ids.add(item.ready.document_id)
                characters += len(item.ready.parsed.text)
            batch.append(item)
        return batch

    @staticmethod
    def _read(sources: Iterable[tuple[str, Source]]) -> Iterator[Read]:
        for name, source in sources:
            try:
                yield Read(name, source())
            except CitewellError as fault:
                yield Read(name, fault=fault)
