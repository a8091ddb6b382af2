"""What a library does to follow a source, over random trees and edits against a model."""

from collections.abc import Container, Mapping
from itertools import count

from hypothesis import given
from hypothesis import strategies as st

from tools.library.sync_plan import Known, Listed, Plan, compare, plan

PATHS = ["a", "b", "c", "d/a", "d/e"]
CONTENTS = ["1", "2", "3", "4"]
TREES = st.dictionaries(st.sampled_from(PATHS), st.sampled_from(CONTENTS))


class Mirror:
    """A library that follows a source of paths with contents, as the plan says."""

    def __init__(self) -> None:
        self.known: dict[str, Known] = {}
        self.numbers = count(1)
        self.stamps: dict[str, tuple[str, int]] = {}
        self.clock = count(1)
        self.deleted: list[str] = []

    def new_id(self, path: str, taken: Container[str]) -> str:
        return next(name for number in self.numbers if (name := f"{path}#{number}") not in taken)

    def listing(self, tree: Mapping[str, str], touched: Container[str] = ()) -> list[Listed]:
        """List a tree; the fingerprint of a file changes where it is written, or only touched."""
        stamps = {}
        for path, content in tree.items():
            before = self.stamps.get(path)
            keeps = before is not None and before[0] == content and path not in touched
            stamps[path] = before if keeps and before else (content, next(self.clock))
        self.stamps = stamps
        return [Listed(path, str(stamp)) for path, (_, stamp) in stamps.items()]

    def sync(
        self,
        tree: Mapping[str, str],
        *,
        recipe: str = "r",
        touched: Container[str] = (),
        unreadable: Container[str] = (),
        adopted: Mapping[str, str] | None = None,
    ) -> Plan:
        compared = compare(self.listing(tree, touched), self.known, recipe)
        hashes = {file.path: tree[file.path] for file in compared.to_read if file.path not in unreadable}
        planned = plan(compared, self.known, hashes, recipe, new_id=self.new_id, adopted=adopted or {})
        known = {place.path: place for place in compared.unchanged}
        for step in planned.steps:
            path = step.file.path
            if step.verb == "unreadable":
                known[path] = Known(path, step.document_id, "", None, recipe, "It can't be opened.")
            else:
                known[path] = Known(path, step.document_id, step.file.fingerprint, step.content_hash, recipe)
        self.known = known
        self.deleted += planned.left
        return planned

    @property
    def documents(self) -> dict[str, str | None]:
        return {path: place.document_id for path, place in self.known.items()}


def verbs(planned: Plan) -> dict[str, str]:
    return {step.file.path: step.verb for step in planned.steps}


@given(st.lists(TREES, min_size=1, max_size=6), st.sets(st.sampled_from(PATHS)))
def test_a_library_follows_any_edits(trees: list[dict[str, str]], touched: set[str]) -> None:
    mirror = Mirror()
    before: dict[str, str | None] = {}
    old: dict[str, str] = {}
    for tree in trees:
        planned = mirror.sync(tree, touched=touched)
        documents = mirror.documents
        assert documents.keys() == tree.keys()
        # one content, one document
        assert {(documents[p] == documents[q]) == (tree[p] == tree[q]) for p in tree for q in tree} <= {True}
        # a document follows its content
        homes = {content: before[path] for path, content in old.items()}
        for path, content in tree.items():
            assert documents[path] == homes.get(content, documents[path])
        # what no path has any more is deleted, and nothing else
        assert set(planned.left) == set(before.values()) - set(documents.values())
        # new content at the same path replaces, unless the document is needed for what it was
        for path in tree.keys() & old.keys():
            alone = [each for each, other in old.items() if other == old[path]] == [path]
            first = min(each for each in tree if tree[each] == tree[path]) == path
            if alone and first and tree[path] not in homes and old[path] not in tree.values():
                assert documents[path] == before[path]
        # each document is ingested at most once, and only where its content or its first path is another
        ingested = [step.document_id for step in planned.steps if step.ingests]
        assert len(ingested) == len(set(ingested))
        assert {documents[path] for path in tree} - set(before.values()) <= set(ingested)
        again = mirror.sync(tree)
        assert (list(again.steps), list(again.gone), list(again.left)) == ([], [], [])
        before, old = documents, tree


@given(TREES, TREES, st.sets(st.sampled_from(PATHS)))
def test_what_cannot_be_read_keeps_its_document(
    first: dict[str, str], then: dict[str, str], unreadable: set[str]
) -> None:
    mirror = Mirror()
    mirror.sync(first)
    before = mirror.documents
    planned = mirror.sync(then, unreadable=unreadable)
    for step in planned.steps:
        if step.verb == "unreadable":
            assert step.document_id == before.get(step.file.path)
    mirror.sync(then)
    documents = mirror.documents
    assert {(documents[p] == documents[q]) for p in then for q in then if then[p] != then[q]} <= {False}


def test_a_swap_swaps_the_places() -> None:
    mirror = Mirror()
    mirror.sync({"a": "1", "b": "2"})
    before = mirror.documents
    assert verbs(mirror.sync({"a": "2", "b": "1"})) == {"a": "moved", "b": "moved"}
    assert mirror.documents == {"a": before["b"], "b": before["a"]}
    assert mirror.deleted == []


def test_a_copy_that_changes_gets_a_document_of_its_own() -> None:
    mirror = Mirror()
    assert verbs(mirror.sync({"a": "1", "b": "1"})) == {"a": "new", "b": "copied"}
    assert verbs(mirror.sync({"a": "1", "b": "2"})) == {"b": "changed"}
    assert mirror.documents["a"] != mirror.documents["b"]


def test_new_content_is_read_from_the_path_that_had_the_document() -> None:
    mirror = Mirror()
    mirror.sync({"b": "1"})
    before = mirror.documents
    assert verbs(mirror.sync({"a": "2", "b": "2"})) == {"a": "copied", "b": "changed"}
    assert mirror.documents == {"a": before["b"], "b": before["b"]}


def test_a_new_recipe_reads_each_document_once() -> None:
    mirror = Mirror()
    mirror.sync({"a": "1", "b": "1", "c": "2"})
    before = mirror.documents
    planned = mirror.sync({"a": "1", "b": "1", "c": "2", "d/a": "1"}, recipe="s")
    assert verbs(planned) == {"a": "touched", "b": "touched", "c": "touched", "d/a": "copied"}
    assert [step.file.path for step in planned.steps if step.ingests] == ["a", "c"]
    assert mirror.documents == before | {"d/a": before["a"]}


def test_documents_that_were_there_before_stay_apart() -> None:
    mirror = Mirror()
    mirror.sync({"a": "1", "b": "1"}, adopted={"a": "x", "b": "y"})
    assert mirror.documents == {"a": "x", "b": "y"}
    assert verbs(mirror.sync({"b": "1", "c": "1"})) == {"c": "moved"}
    assert mirror.documents == {"b": "y", "c": "x"}
