"""citewell ask: ask one question and stream the answer to the terminal.

A server that runs on the same library answers, if there is one: it has loaded all that a process of its own would.
"""

from typing import Annotated

import typer

from cli.command import Exit, Failed, awaited, opened, settings_for
from cli.console import OWN_SCREEN
from cli.local_socket import Asked
from cli.options import AsJson, MinScore, Spaces, TopK, UserName, WorkspaceName, as_id
from cli.running_server import ask_running_server
from graph.errors import InvalidRequest
from graph.evidence import AnswerFrom, SearchMode, WebMode

Session = Annotated[str | None, typer.Option(help="Continue this session; default: a new one.", show_default=False)]
Pages = Annotated[list[str] | None, typer.Option("--page", help="Read this document whole; may be repeated.")]
OnlyPages = Annotated[bool, typer.Option("--only-pages", help="Answer from these pages alone.")]
Search = Annotated[SearchMode, typer.Option(help="Search the library when the question needs it, always, or never.")]
Web = Annotated[
    WebMode, typer.Option(help="Search the web never, when the library has nothing, together with it, or first.")
]
SelectedText = Annotated[
    str, typer.Option("--selected-text", help="A passage that the question is about.", show_default=False)
]
Model = Annotated[str, typer.Option(help="A model that `citewell doctor` lists; default: the configured one.")]
Thinking = Annotated[bool, typer.Option("--thinking", help="Use the model's thinking variant.")]
ModelCalls = Annotated[int, typer.Option(min=0, max=8, help="Most model calls that the run may make.")]
Seconds = Annotated[float, typer.Option("--max-seconds", min=0.1, max=600, help="Most seconds that the run may take.")]
From = Annotated[
    AnswerFrom | None,
    typer.Option(
        "--answer-from",
        help="Answer from the library, from the model where the library has nothing, or from the model alone.",
        show_default="the setting, or library",
    ),
]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say on stderr where a running server answers.")]
Tokens = Annotated[int | None, typer.Option(min=1, help="Most model tokens that the run may use.", show_default=False)]

LONGEST_QUESTION, LONGEST_PASSAGE = 10_000, 1000  # characters, as over the API


@awaited
async def ask(
    question: Annotated[str, typer.Argument(help="The question, in any language.", show_default=False)],
    session: Session = None,
    page: Pages = None,
    only_pages: OnlyPages = False,
    selected_text: SelectedText = "",
    search: Search = "auto",
    web: Web = "off",
    space: Spaces = None,
    top_k: TopK = 10,
    min_score: MinScore = 0.3,
    model: Model = "",
    thinking: Thinking = False,
    answer_from: From = None,
    max_model_calls: ModelCalls = 8,
    max_tokens: Tokens = None,
    max_seconds: Seconds = 120.0,
    workspace: WorkspaceName = None,
    user: UserName = None,
    as_json: AsJson = False,
    verbose: Verbose = False,
) -> Failed | Exit:
    """Ask a question.

    Prints the steps on stderr, the answer and its citations on stdout. Exits with 7 if the library does not hold the
    answer.
    """
    options: dict[str, object] = {
        "search": search,
        "web": web,
        "only_selected_pages": only_pages,
        "spaces": space or [],
        "top_k": top_k,
        "min_score": min_score,
        "model": model,
        "thinking": thinking,
        "max_model_calls": max_model_calls,
        "max_tokens": max_tokens,
        "max_seconds": max_seconds,
    }
    if answer_from is not None:
        options["answer_from"] = answer_from
    if not question.strip():
        raise InvalidRequest("question: it is empty.", suggestion="Write a question.")
    if len(question) > LONGEST_QUESTION:
        raise InvalidRequest(f"question: at most {LONGEST_QUESTION:,} characters.", suggestion="Ask a shorter one.")
    if len(selected_text) > LONGEST_PASSAGE:
        raise InvalidRequest(f"selected-text: at most {LONGEST_PASSAGE:,} characters.", suggestion="Select less text.")
    session = session and as_id(session, "session")
    pages = [as_id(each, "document") for each in page or ()]
    asked = Asked(question, selected_text, session, pages, options, workspace, user, as_json)
    answered = await ask_running_server(asked, verbose=verbose)
    if answered is not None:
        return answered
    from cli.answering import answer  # brings in the graph, which a running server has loaded already

    settings = settings_for(asked.workspace, asked.user)
    async with opened(settings) as citewell:
        return await answer(citewell, settings, asked, OWN_SCREEN)
