"""Questions asked of the whole graph through the llm family, whose model is a scripted server."""

from dataclasses import replace

from graph.ports import Family, Judge, Resources
from tests.fakes import MemoryLibrary
from tests.graph.asking import FOOD, LEAVE, PAY, Asked
from tests.scripted_openai import Reply, ScriptedOpenAI
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import ExtractiveWriter
from tools.llm.llm_family import llm_family
from tools.settings import ModelSettings


def family_of(server: ScriptedOpenAI, judge: Judge | None = None) -> Family:
    """Return the llm family with the scripted model, and a judge that does not ask it."""
    settings = ModelSettings(name="scripted", base_url=server.base_url, model="any", timeout_seconds=15)
    family = llm_family(
        settings,
        thinking=False,
        checker=CodeChecker(),
        fallback=ExtractiveWriter(),
    )
    return replace(family, judge=judge)


def session(server: ScriptedOpenAI, judge: Judge | None = None) -> Asked:
    """Ask through the llm family, with a library in memory."""
    family = family_of(server, judge)
    library = MemoryLibrary([LEAVE, PAY, FOOD])
    return Asked(
        library=library,
        of=Resources(
            searcher=library,
            reader=library,
            families=lambda model, *, thinking=False: family,
        ),
    )


def always(server: ScriptedOpenAI, prompt: str, *replies: Reply) -> None:
    """Script these replies to a prompt, over and over, for as many calls as a run can make."""
    server.script(*(reply for _ in range(8) for reply in replies), to=prompt)
