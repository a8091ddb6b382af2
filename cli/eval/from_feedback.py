"""citewell eval from-feedback: make questions of what readers said of answers."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.command import awaited, opened_database, settings_for
from cli.console import print_json, progress_console
from cli.options import AsJson, WorkspaceName


@awaited
async def from_feedback(
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            help="The file of questions, questions*.jsonl in a folder that `eval run own --path` reads.",
            show_default=False,
        ),
    ],
    user: Annotated[
        str | None,
        typer.Option(
            help="Only this user's feedback, with what this user may read. Without it everybody's, with documents that "
            "everyone in the workspace may read.",
            show_default=False,
        ),
    ] = None,
    whole_library: Annotated[
        bool, typer.Option("--whole-library", help="Write all documents, not only those that were quoted.")
    ] = False,
    workspace: WorkspaceName = None,
    as_json: AsJson = False,
) -> None:
    """Make questions of answers that readers called good; poor ones go to a file beside it, for review."""
    from evals.feedback_questions import FeedbackReader, QuestionFolder

    folder = QuestionFolder(out)
    settings = settings_for(workspace, user)
    async with opened_database(settings) as storage:
        groups = tuple(settings.groups)
        reader = FeedbackReader(storage.database, storage.workspaces, settings.workspace, user, groups)
        written = await reader.add_to(folder, whole_library=whole_library)
    if as_json:
        print_json({**asdict(written), "file": str(out), "review_file": str(folder.review_file)})
        return
    console = progress_console()
    said = f"{written.questions} new questions in {out}, {written.documents} new documents beside it."
    console.print(said, soft_wrap=True, markup=False)
    if written.review:
        said = f"For review in {folder.review_file}: {written.review}. Write their evidence, and move them to {out}."
        console.print(said, soft_wrap=True, markup=False)
