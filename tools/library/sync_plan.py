"""Plan how a library follows a source: what is new, changed, moved, a copy or gone, from what is there and was there.

A document follows its content: where the bytes of a file that is gone, or was overwritten, turn up under another path,
the document moves there and keeps its id. The same bytes at several paths are one document with several places.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Verb = Literal["new", "changed", "moved", "copied", "touched", "unreadable"]


@dataclass(frozen=True, slots=True)
class Listed:
    """A file that a source has now. ``fingerprint`` differs wherever the file may have changed, "" is never the same.

    ``content_hash`` is that of its bytes where the source knows it without reading. ``size`` is in bytes.
    """

    path: str
    fingerprint: str
    size: int = 0
    content_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A place of a source, as the last sync left it.

    ``document_id`` is None where the file could never be read, ``content_hash`` where its bytes could not. With
    ``trouble`` its document is of an earlier version than ``content_hash``.
    """

    path: str
    document_id: str | None
    fingerprint: str
    content_hash: str | None
    recipe: str
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Compared:
    """A listing compared with the known places: those unchanged, files to read, and places whose file is gone."""

    unchanged: Sequence[Known]
    to_read: Sequence[Listed]
    gone: Sequence[Known]


def compare(listed: Iterable[Listed], known: Mapping[str, Known], recipe: str) -> Compared:
    """Compare a listing with the known places; ``recipe`` is how files are read and described today."""
    unchanged: list[Known] = []
    to_read: list[Listed] = []
    seen: set[str] = set()
    for file in listed:
        seen.add(file.path)
        place = known.get(file.path)
        if place is not None and place.fingerprint == file.fingerprint != "" and place.recipe == recipe:
            unchanged.append(place)
        else:
            to_read.append(file)
    return Compared(unchanged, to_read, [place for path, place in known.items() if path not in seen])


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of a path that was read. ``previous`` is the path that a moved document comes from.

    ``ingests`` is whether the file has to be ingested under ``document_id``; otherwise only its place is written.
    """

    verb: Verb
    file: Listed
    document_id: str | None
    content_hash: str | None
    previous: str | None = None
    trouble: str | None = None
    ingests: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps in order of their paths, the places to remove, and the documents that no place of the source has."""

    steps: Sequence[Step]
    gone: Sequence[Known]
    left: Sequence[str]


NewId = Callable[[str, Container[str]], str]


def plan(
    compared: Compared,
    known: Mapping[str, Known],
    hashes: Mapping[str, str],
    recipe: str,
    *,
    new_id: NewId,
    adopted: Mapping[str, str],
) -> Plan:
    """Plan what follows from a comparison and the hashes of the files to read; a path without one can't be read.

    ``new_id`` returns the id of a new document at a path that is none of those taken. ``adopted`` are paths that have a
    document in the library already, and no place: each keeps its own.
    """
    files = {file.path: file for file in sorted(compared.to_read, key=lambda file: file.path)}
    touched = {path: known[path] for path in files if path in known and _stays(known[path], hashes.get(path), recipe)}
    staying = [*compared.unchanged, *touched.values()]
    unread = [known[path] for path in files if path in known and path not in hashes]
    held = {place.document_id for place in (*staying, *unread) if place.document_id}
    wanted = {path: hashes[path] for path in files if path in hashes and path not in touched}
    documents = _assign(wanted, known, staying, held, new_id, adopted)
    had = {place.document_id for place in known.values() if place.document_id}
    steps = _steps(files.values(), known, touched, hashes, documents, held, recipe)
    return Plan(list(steps), compared.gone, sorted(had - held - set(documents.values())))


def _stays(place: Known, content_hash: str | None, recipe: str) -> bool:
    """Whether a file that was read is what its place says; one that could not be read is tried by a new recipe."""
    return place.content_hash == content_hash is not None and (place.document_id is not None or place.recipe == recipe)


def _assign(
    wanted: Mapping[str, str],
    known: Mapping[str, Known],
    staying: Sequence[Known],
    held: Container[str],
    new_id: NewId,
    adopted: Mapping[str, str],
) -> dict[str, str]:
    """Return the document of each path whose content is another than it was."""
    documents = {path: adopted[path] for path in wanted if path in adopted and path not in known}
    firm = {place.content_hash: place.document_id for place in staying if _holds(place) and place.document_id}
    loose: dict[str | None, list[str]] = defaultdict(list)  # documents whose content no longer stands at their places
    for _, place in sorted(known.items(), reverse=True):
        if _holds(place) and place.document_id and place.document_id not in held:
            loose[place.content_hash].append(place.document_id)
    for path, content in wanted.items():
        if path not in documents and (loose[content] or content in firm):
            documents[path] = loose[content].pop() if loose[content] else firm[content]
            firm.setdefault(content, documents[path])
    # What is left is new content: it takes over the document of a path whose old content is nowhere any more.
    used = set(documents.values())
    made: dict[str, str] = {}
    for path, content in wanted.items():
        own = known[path].document_id if path in known else None
        if path not in documents and content not in made and own is not None and own not in used and own not in held:
            made[content] = own
            used.add(own)
    taken = used | {place.document_id for place in known.values() if place.document_id}
    for path, content in wanted.items():
        if path not in documents:
            if content not in made:
                made[content] = new_id(path, taken)
                taken.add(made[content])
            documents[path] = made[content]
    return documents


def _holds(place: Known) -> bool:
    """Whether the document of a place has the content that the place says."""
    return place.trouble is None and place.content_hash is not None


def _steps(
    files: Iterable[Listed],
    known: Mapping[str, Known],
    touched: Mapping[str, Known],
    hashes: Mapping[str, str],
    documents: Mapping[str, str],
    held: Container[str],
    recipe: str,
) -> Iterator[Step]:
    moved_from = {
        (place.document_id, place.content_hash): path
        for path, place in sorted(known.items(), reverse=True)
        if _holds(place)
    }
    # A document is read from a path that had it already, if there is one.
    owners = {
        documents[path]: path for path in documents if path in known and known[path].document_id == documents[path]
    }
    leads = {document_id: path for path, document_id in reversed([*documents.items()])} | owners
    ingested: set[str | None] = set()
    for file in files:
        path, place = file.path, known.get(file.path)
        if path not in hashes:
            yield Step("unreadable", file, place.document_id if place else None, None)
        elif path in touched:
            place = touched[path]
            again = place.recipe != recipe and place.document_id not in ingested
            ingested.add(place.document_id if again else None)
            trouble = None if again else place.trouble
            yield Step("touched", file, place.document_id, hashes[path], trouble=trouble, ingests=again)
        else:
            document_id, content = documents[path], hashes[path]
            previous = moved_from.get((document_id, content))
            verb: Verb = "new" if place is None else "changed"
            if document_id in held or leads[document_id] != path:
                yield Step("copied", file, document_id, content)
                continue
            if previous is not None:
                verb = "moved"
            yield Step(verb, file, document_id, content, previous, ingests=True)
