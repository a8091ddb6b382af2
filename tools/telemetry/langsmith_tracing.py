"""LangSmith's tracing, which LangGraph and LangChain take up from variables of the shell: Citewell sends it nothing."""

import os

SWITCHES = (
    "LANGSMITH_TRACING_V2",
    "LANGCHAIN_TRACING_V2",
    "LANGSMITH_TRACING",
    "LANGCHAIN_TRACING",  # LangChain fails every run where this one or the next is on, and those above are off
    "LANGCHAIN_HANDLER",
)
_OFF = ("false", "0", "")


def switch_off_langsmith() -> list[str]:
    """Switch it off for this process and those that it starts; return the variables that had it on.

    To be called before anything runs: LangSmith reads them once.
    """
    on = [name for name in SWITCHES if os.environ.get(name, "").strip().lower() not in _OFF]
    # Not removed: what reads a .env file into the environment later leaves alone what is there.
    os.environ.update(dict.fromkeys(SWITCHES, _OFF[0]))
    return on
