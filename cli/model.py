"""citewell model add: from a model server to a judged answer in one command."""

import json
import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.command import Exit, Failed, awaited, opened, settings_for
from cli.console import OWN_SCREEN, print_json, progress_console
from cli.local_socket import Asked
from cli.model_servers import Listed, context_of, find_servers, list_models
from cli.nearest_names import did_you_mean
from cli.options import AsJson, WorkspaceName, Yes, writing
from graph.errors import ConfigurationError, DependencyFailed, InvalidRequest, ModelRefused

if TYPE_CHECKING:
    from cli.judge import JudgeState
    from tools.settings import ModelSettings, Settings

FILE = Path(".env")
MODELS, DEFAULT = "CITEWELL_MODELS", "CITEWELL_DEFAULT_MODEL"
HERE = re.compile(r"https?://(localhost|127\.[\d.]+|\[::1\])\b")
MOST_CONTEXT = 32_768  # tokens; with more, an answer costs more and is no better
PATIENCE = 300.0  # seconds, with a server on this machine: a few cores read a long prompt for minutes

model = typer.Typer(help="Add the model of an endpoint.", no_args_is_help=True)
Endpoint = Annotated[str | None, typer.Option(help="Its address; default: a server on this machine.")]
Served = Annotated[str | None, typer.Option("--model", help="The model, as the endpoint calls it.")]
KeyVariable = Annotated[str, typer.Option("--key-env", help="The variable that holds the endpoint's key.")]
FirstQuestion = Annotated[str, typer.Option("--ask", help="A first question, asked at the end.")]


@model.command()
@awaited
async def add(
    endpoint: Endpoint = None,
    served: Served = None,
    key_env: KeyVariable = "",
    ask: FirstQuestion = "",
    yes: Yes = False,
    workspace: WorkspaceName = None,
    as_json: AsJson = False,
) -> Failed | Exit:
    """Add a model to the file .env, as the one that answers, once it has answered a greeting.

    Finds Ollama, LM Studio, llama.cpp and vLLM on this machine. Tells what the model's exam as a judge costs, and takes
    it where you agree.
    """
    from pydantic import ValidationError

    from tools.settings import ModelSettings

    _refuse_overruled()
    settings = settings_for(workspace)
    key = os.environ.get(key_env, "").strip()
    if key_env and not (key and key.isascii() and key.isprintable() and "${" not in key):
        raise InvalidRequest(f"--key-env: {key_env} holds no key.", suggestion=f"Set {key_env}, and export it.")
    base_url, key, listed = await _endpoint(endpoint, key)
    chosen = served or _chosen("--model", dict.fromkeys(listed or (), ""))
    if listed and chosen not in listed:
        _say(f"{base_url} does not list {chosen}. {did_you_mean(chosen, listed)}".strip())
    name = re.sub(r"[^\w.:/-]+", "-", Path(chosen).stem if chosen.startswith("/") else chosen)[:100]
    fields: dict[str, Any] = {"name": name, "base_url": base_url, "model": chosen, **({"api_key": key} if key else {})}
    if HERE.match(base_url):
        fields["timeout_seconds"] = PATIENCE
    tried = await _greet(settings, ModelSettings(**fields))
    if context := await context_of(base_url, chosen, listed):
        fields["context_tokens"] = min(context, MOST_CONTEXT)
    try:
        added = ModelSettings(**fields)
    except ValidationError as error:
        found = f"{chosen} can't be used as it is served: {error.errors()[0]['msg']} (context of {context} tokens)."
        raise InvalidRequest(found, suggestion="Start its server with a context of 4,096 tokens or more.") from None
    with writing(FILE, str(FILE)):
        _write(fields, settings)
    _say(f"{FILE} has the model {name} now, which answers. A server that runs has to be started again.")

    models = [*(each for each in settings.models if each.name != name), added]
    settings = settings.model_copy(update={"models": models, "default_model": name})
    state = await _examine(settings, name, yes)
    ended, answered = await _ask(settings, ask, workspace, as_json) if ask else (Exit.OK, None)
    if as_json:
        told = {field: value for field, value in fields.items() if field != "api_key"}
        exam = state and state.document()
        print_json({"model": told, "file": str(FILE), "tried": tried, "exam": exam, "answer": answered})
    return ended


def _refuse_overruled() -> None:
    """Refuse to write what would have no effect. Raises ConfigurationError."""
    from dotenv import dotenv_values

    stronger = [name for name in os.environ if name.upper().startswith((MODELS, DEFAULT))]
    stronger += [name for name in dotenv_values(FILE) if name.upper().startswith(f"{MODELS}__")]
    if stronger:
        advice = f"Write it into {FILE} as {MODELS} and {DEFAULT}, and unset it."
        raise ConfigurationError(f"{', '.join(stronger)} would overrule what is added to {FILE}.", suggestion=advice)


async def _endpoint(named: str | None, key: str) -> tuple[str, str, Listed | None]:
    """Return the address of the endpoint that is named or chosen, its key, and what it lists."""
    from pydantic import TypeAdapter, ValidationError

    from tools.settings.section import BaseUrl

    if named is None:
        found = await find_servers()
        if not found and not sys.stdin.isatty():
            advice = "Start Ollama, LM Studio, llama.cpp or vLLM on its usual port, or name an address."
            raise InvalidRequest("--endpoint: no model server was found on this machine.", suggestion=advice)
        named = (
            _chosen("--endpoint", {at: ", ".join(each) for at, each in found.items()}) if found else _asked("Address")
        )
    try:
        base_url: str = TypeAdapter(BaseUrl).validate_python(named)
    except ValidationError:
        advice = "Write it as http://host:port."
        raise InvalidRequest(f"--endpoint: {named} is no web address.", suggestion=advice) from None
    try:
        return base_url, key, await list_models(base_url, key)
    except ModelRefused as error:
        if key or not sys.stdin.isatty():
            raise ModelRefused(error.message, suggestion="Name the variable that holds its key: --key-env.") from error
    key = _asked("Its key, which is not shown", hide_input=True)
    return base_url, key, await list_models(base_url, key)


def _chosen(option: str, offered: Mapping[str, str]) -> str:
    """Return the only one of what is offered with notes, or the one that a person picks. Raises InvalidRequest."""
    numbered = {str(number): each for number, each in enumerate(offered, start=1)}
    picked = "1" if len(offered) == 1 else ""
    if not picked and offered and sys.stdin.isatty():
        for number, each in numbered.items():
            _say(f"{number:>3}. {each}  {offered[each]}".rstrip())
        picked = _asked("Which", default="1")
    if picked not in (*numbered, *offered):
        advice = did_you_mean(picked, offered) or f"Name one with {option}."
        raise InvalidRequest(f"{option}: there are {', '.join(offered) or 'none'}.", suggestion=advice)
    return numbered.get(picked, picked)


async def _greet(settings: "Settings", added: "ModelSettings") -> dict[str, Any]:
    """Return what a model replies to a greeting, and the seconds that it took.

    Raises ModelUnavailable, and ConfigurationError for a name that an installed backend has.
    """
    from graph.ports import DraftText
    from graph.usage import Meter
    from tools.backends.backend_registry import configured_families

    alone = settings.model_copy(update={"models": [added], "default_model": added.name})
    writer = configured_families(alone)(added.name).writer
    began = time.monotonic()
    with progress_console().status(f"Greeting {added.model}"):
        drafts = writer.converse("Hello!", (), language="en", intent="small_talk", own_knowledge=False, meter=Meter())
        reply = "".join([draft.delta async for draft in drafts if isinstance(draft, DraftText)])
    seconds = round(time.monotonic() - began, 1)
    _say(f"{added.model} at {added.base_url} says in {seconds} s: “{' '.join(reply.split())}”")
    return {"reply": reply, "seconds": seconds}


def _write(fields: Mapping[str, Any], settings: "Settings") -> None:
    """Write a model into the file, which its owner alone may read; what else stands in it is kept, whatever happens."""
    from dotenv import dotenv_values, set_key

    written = dotenv_values(FILE, interpolate=False)
    as_written = {name.upper(): name for name in written}  # names of settings count in any case
    models_as, default_as = (as_written.get(name, name) for name in (MODELS, DEFAULT))
    stored = json.loads(written.get(models_as) or "null")
    if stored is None:  # those that the names of other stacks make, which count no more where ours is set
        stored = [
            {**each.model_dump(include={"name", "base_url", "model"}), "api_key": each.api_key.get_secret_value()}
            for each in settings.models
        ]
    models = [*(each for each in stored if each["name"] != fields["name"]), fields]
    FILE.touch()
    FILE.chmod(0o600)
    for name, value in ((models_as, json.dumps(models)), (default_as, str(fields["name"]))):
        set_key(FILE, name, value, follow_symlinks=True)  # in a copy, which then takes its place


async def _examine(settings: "Settings", name: str, yes: bool) -> "JudgeState | None":
    """Tell what the exam of the model's judge costs, and take it where that is agreed; None where it can't be taken."""
    from cli.judge import take_exam

    def agreed(cost: str) -> bool:
        _say(cost)
        return yes or (sys.stdin.isatty() and typer.confirm("Take it now?", default=True, err=True))

    state = None
    try:
        state = await take_exam(settings, name, (), agreed=agreed)
    except (DependencyFailed, ConfigurationError) as error:  # the model is there all the same, and may be asked
        _say(f"No exam: {error.message}")
    for code, result in (state.results if state else {}).items():
        _say(f"{code}: {'; '.join(result.faults) or 'passed'}.")
    if state is None or not any(result.passed for result in state.results.values()):
        _say(f"What it says in words of its own stays unverified until it passes: citewell judge exam --model {name}")
    return state


async def _ask(settings: "Settings", question: str, workspace: str | None, as_json: bool) -> tuple[Failed | Exit, Any]:
    """Ask a question; return how that ended, and the answer where it is for a program."""
    from cli.answering import answer

    documents: list[Any] = []
    asked = Asked(question, "", None, [], {"max_seconds": 2 * PATIENCE}, workspace, None, as_json)
    async with opened(settings) as citewell:
        ended = await answer(citewell, settings, asked, replace(OWN_SCREEN, print_json=documents.append))
    return ended, next(iter(documents), None)


def _asked(what: str, **how: Any) -> str:
    return str(typer.prompt(what, err=True, **how)).strip()


def _say(line: str) -> None:
    progress_console().print(line, soft_wrap=True)
