import subprocess
import sys


def test_a_deferred_package_runs_at_the_first_look_at_its_names() -> None:
    program = """
import sys
from cli.deferred_packages import DEFERRED, defer_packages

defer_packages()
defer_packages()
import langgraph.graph
import langgraph_sdk
from langsmith import types

deferred = [sys.modules[name] for name in DEFERRED]
assert "get_client" not in vars(langgraph_sdk) and "Run" not in vars(types)
assert not {"langgraph_sdk.client", "langsmith.types.run"} & set(sys.modules)
assert not hasattr(langgraph_sdk, "__wrapped__")
from langgraph_sdk import get_client
from langsmith.types import Run
assert (get_client.__module__, Run.__module__) == ("langgraph_sdk._async.client", "langsmith.types.run")
assert all(package.__spec__.loader.get_data(package.__file__) for package in deferred)
assert not hasattr(langgraph_sdk, "no_such_name")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_threads_that_look_at_once_all_find_the_names() -> None:
    program = """
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from cli.deferred_packages import defer_packages

defer_packages()
import langgraph_sdk

sys.setswitchinterval(1e-5)
begun = Barrier(8)
with ThreadPoolExecutor(8) as threads:
    assert all(threads.map(lambda _: begun.wait() is not None and langgraph_sdk.get_client, range(8)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
