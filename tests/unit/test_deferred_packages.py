import subprocess
import sys

import pytest


def run_program(program: str, **environment: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_deferred_package_runs_at_the_first_look_at_its_names() -> None:
    run_program("""
import sys
from cli.deferred_packages import defer_packages

defer_packages()
defer_packages()
import langgraph.graph
import langgraph_sdk
import langsmith.client
from langsmith import types

deferred = [langgraph_sdk, types]
assert all(type(package).__name__ == "_DeferredModule" for package in deferred)
assert not {"langgraph_sdk.client", "langsmith.types.run"} & set(sys.modules)
assert not hasattr(langgraph_sdk, "__wrapped__")
from langgraph_sdk import get_client
from langsmith.types import Run
assert (get_client.__module__, Run.__module__) == ("langgraph_sdk._async.client", "langsmith.types.run")
assert all(type(package) is type(sys) for package in deferred)
assert all(package.__spec__.loader.get_data(package.__file__) for package in deferred)
assert not hasattr(langgraph_sdk, "no_such_name")
""")


def test_a_name_of_a_deferred_module_stands_for_what_the_module_defines() -> None:
    run_program("""
import sys
from typing import get_args
from cli.deferred_packages import defer_packages

defer_packages()
from requests import HTTPError, Response

assert not isinstance(ValueError(), HTTPError) and not issubclass(int, Response)
assert not hasattr(HTTPError, "__wrapped__")
assert get_args(int | Response | None)[1:] == (Response, type(None))
assert not {"requests.models"} & set(sys.modules)

class Failed(HTTPError):
    pass

import requests
assert issubclass(Failed, requests.HTTPError) and requests.HTTPError is not HTTPError
assert isinstance(Failed(), HTTPError) and issubclass(Failed, HTTPError)
assert isinstance(Response(), requests.Response)
assert HTTPError.__name__ == "HTTPError"
""")


GRAPH = """
import asyncio, os, sys
from cli.deferred_packages import defer_packages

defer_packages()
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

class State(TypedDict):
    seen: list

async def node(state, config):
    return {"seen": [type(handler).__name__ for handler in config["callbacks"].handlers]}

graph = StateGraph(State).add_node("node", node).add_edge(START, "node").compile()
print(asyncio.run(graph.ainvoke({"seen": []}))["seen"], "langsmith.client" in sys.modules, flush=True)
os._exit(0)  # sends nothing
"""


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({}, "[] False\n"),
        ({"LANGSMITH_TRACING": "false"}, "[] False\n"),
        ({"LANGSMITH_TRACING_V2": "false", "LANGSMITH_TRACING": "true"}, "[] False\n"),
        ({"LANGSMITH_TRACING": "true"}, "['LangChainTracer'] True\n"),
        ({"LANGCHAIN_TRACING_V2": "true"}, "['LangChainTracer'] True\n"),
    ],
)
def test_langsmith_is_imported_only_where_the_environment_turns_its_tracing_on(
    environment: dict[str, str], told: str
) -> None:
    server = {"LANGSMITH_ENDPOINT": "http://127.0.0.1:9", "LANGSMITH_API_KEY": "none"}
    assert run_program(GRAPH, **server, **environment) == told


UNUSED = {"alembic", "authlib", "docx", "fastapi", "langchain_openai", "lxml", "mcp", "openai", "sqlalchemy"}


def test_what_answers_questions_imports_nothing_that_only_files_sites_and_servers_need() -> None:
    program = "import sys, graph.entrypoint; print(*{name.partition('.')[0] for name in sys.modules})"
    assert UNUSED & set(run_program(program).split()) == set()
