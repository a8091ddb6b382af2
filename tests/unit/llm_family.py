"""The llm family over a scripted server, with retries that nobody waits for, and a small library."""

from typing import Any

from graph.evidence import Segment
from graph.ports import Family
from tests.scripted_openai import ScriptedOpenAI
from tools.claims.code_checker import CodeChecker
from tools.extractive.extractive_family import ExtractiveWriter
from tools.llm.llm_family import llm_family
from tools.settings import ModelSettings

A, B = "0f0e0d0c-0b0a-4909-8807-060504030201", "1f0e0d0c-0b0a-4909-8807-060504030201"
BRIDGE_TEXT = "The Cedar Bridge was finished in 1911. It carries two lanes."
BRIDGE = Segment(A, 3, 200, 200 + len(BRIDGE_TEXT), BRIDGE_TEXT, page_idx=4, heading="Bridges", title="Town guide")
BAKERY = Segment(B, 0, 0, 28, "The bakery opens at six. Ask.", title="Shops")


def scripted_family(server: ScriptedOpenAI, **options: Any) -> Family:
    """Make the family; ``options`` are those of ``llm_family`` or of the model's settings."""
    of_family = {
        "thinking": False,
        "checker": CodeChecker(),
        "fallback": ExtractiveWriter(),
    }
    of_family |= {name: options.pop(name) for name in list(options) if name in of_family}
    settings = {"model": "plain", "thinking_model": "thinker", "timeout_seconds": 15} | options
    return llm_family(ModelSettings(name="scripted", base_url=server.base_url, **settings), **of_family)
