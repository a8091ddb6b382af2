"""citewell reindex: embed the library anew with the configured model."""

from cli.command import Exit, opened_database, opened_embedder, run, settings_for
from cli.console import print_json, progress_console
from cli.options import AsJson


def reindex(as_json: AsJson = False) -> None:
    """Embed the library anew.

    Uses the configured embedding model; search goes on meanwhile.
    """
    run(_reindex(as_json), as_json=as_json)


async def _reindex(as_json: bool) -> Exit:
    from rich.progress import Progress

    from tools.embeddings.reindexing import reindex as embed_anew

    settings = settings_for()
    console = progress_console()
    async with opened_database(settings) as storage, opened_embedder(settings) as embedder:
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("Embedding", total=None)
            done = await embed_anew(storage.database, embedder, lambda n, of: bar.update(task, completed=n, total=of))
    if as_json:
        print_json(done)
    else:
        print(f"Embedded {done.segments} segments by {done.model}, {done.dimension} dimensions.")
    return Exit.OK
