"""The languages of a library, as a reader may know them."""

import pytest

from graph.evidence import Identity
from tools.embeddings.embedder import open_embedder
from tools.library import languages
from tools.library.ingestion import Ingestor, NewDocument
from tools.library.languages import SampledLanguages, languages_of
from tools.settings import Settings
from tools.storage.database import Database
from tools.storage.tenants import Workspaces

ME = Identity()
ENGLISH = "The ferry leaves the harbour at noon, and it is back in the evening."
VIETNAMESE = "Phà rời bến cảng vào buổi trưa và trở lại vào buổi tối."
CHINESE = "渡轮中午离开港口，傍晚返回。"


async def test_they_are_those_of_what_one_may_read_the_most_common_first(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspaces = Workspaces(database)
    ingestor = Ingestor(database, workspaces, await open_embedder(settings), settings)
    held = SampledLanguages(database, workspaces)
    assert await held(ME) == ()
    for text in (VIETNAMESE, ENGLISH, ENGLISH + " Again."):
        await ingestor.ingest(ME, NewDocument(text=text))
    await ingestor.ingest(ME, NewDocument(text=CHINESE, owner="stranger"))
    assert await held(ME) == ()  # kept for a minute
    monkeypatch.setattr(languages, "KEPT_SECONDS", 0.0)
    assert await held(ME) == ("en", "vi")
    assert set(await held(Identity(user="stranger"))) == {"en", "vi", "zh"}


def test_a_language_of_few_texts_is_none_of_the_library() -> None:
    assert languages_of([ENGLISH] * 60 + [CHINESE]) == ("en",)
    assert languages_of([ENGLISH] * 10 + [CHINESE]) == ("en", "zh")
    assert languages_of([ENGLISH] * 95 + [CHINESE] * 4) == ("en", "zh")  # one manual among many
    assert languages_of(["4711", "", "x = 1"]) == ()
