"""Whether chat frontends that can't be installed beside Citewell show its answers and citations.

Run it by the Python of an environment that has the client, with the address of a service that has no other documents:

    python -m venv /tmp/client && /tmp/client/bin/pip install gradio
    /tmp/client/bin/python research/chat_clients.py gradio --url http://127.0.0.1:8400

It prints one JSON object, and fails where a client does not show the answer with its marks.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

MODEL = "extractive"
DOCUMENT_ID = "7a9e0f3c-5a55-4b0e-9b0c-0d3f1f6d2d01"
DOCUMENT = {
    "title": "Staff handbook",
    "url": "https://wiki.example/handbook",
    "text": "# Leave\n\nEvery employee gets 25 days of annual leave a year. Unused leave lapses in March.\n\n"
    "# Notice\n\nThe notice period is three months. During probation the notice period is one month.\n",
}
NOTICE, PROBATION = "What is the notice period?", "And during probation?"
SAID = "During probation the notice period is one month.[1]"  # the end of both answers

Shown = dict[str, Any]  # "answers" to one question or both, and what else the client shows of them


def use_gradio(url: str) -> Shown:
    """Ask on the page that ``gradio.load_chat`` makes, through gradio's own client, which can't send a follow-up."""
    import gradio
    from gradio_client import Client

    page = gradio.load_chat(f"{url}/v1", model=MODEL, token="none", api_name="chat")
    _, address, _ = page.launch(prevent_thread_lock=True, quiet=True)
    try:
        client = Client(address, verbose=False)
        answer = client.predict({"text": NOTICE, "files": []}, api_name="/chat")
    finally:
        page.close()
    return {"answers": [answer]}


def use_llm(url: str) -> Shown:
    """Chat with the command ``llm``, whose log also has the annotations."""
    with tempfile.TemporaryDirectory() as folder:
        models = f"- model_id: citewell\n  model_name: {MODEL}\n  api_base: {url}/v1\n"
        Path(folder, "extra-openai-models.yaml").write_text(models, encoding="utf-8")
        environment = {**os.environ, "LLM_USER_PATH": folder, "OPENAI_API_KEY": "none"}

        def run(*arguments: str) -> str:
            command = [str(Path(sys.executable).with_name("llm")), *arguments]
            return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()

        answers = [run("-m", "citewell", NOTICE), run("-m", "citewell", "-c", PROBATION)]
        run("-m", "citewell", "--no-stream", NOTICE)
        logged = run("logs", "--json")
    return {"answers": answers, "annotations_in_log_of_whole_answer": logged.count('"type": "url_citation"')}


CLIENTS: dict[str, Callable[[str], Shown]] = {"gradio": use_gradio, "llm": use_llm}


def main() -> None:
    """Store a document, chat about it by one client and print what that shows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("--url", required=True)
    given = parser.parse_args()
    url = given.url.rstrip("/")
    headers = {"Content-Type": "application/json"}
    body = json.dumps(DOCUMENT).encode()
    request = urllib.request.Request(f"{url}/api/documents/{DOCUMENT_ID}", body, headers, method="PUT")
    urllib.request.urlopen(request).close()
    shown = CLIENTS[given.client](url)
    assert all(answer.endswith(SAID) for answer in shown["answers"]), shown
    assert shown["answers"][1:] in ([], [SAID]), shown  # understood as a follow-up
    today = datetime.now(UTC).date().isoformat()
    print(json.dumps({"client": given.client, "version": version(given.client), "date": today, **shown}))


if __name__ == "__main__":
    main()
