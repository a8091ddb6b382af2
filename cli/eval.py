"""citewell eval: measure Citewell on a data set."""

import typer

evaluate = typer.Typer(help="Measure Citewell on a data set.", no_args_is_help=True)
