"""citewell eval: run data sets through the real graph, compare runs, and export or judge them."""

import typer

from cli.eval.compare import compare
from cli.eval.export import export
from cli.eval.from_feedback import from_feedback
from cli.eval.gate import gate
from cli.eval.prose import prose
from cli.eval.ragas import ragas
from cli.eval.run import report, retrieval, run_set

evaluate = typer.Typer(help="Measure Citewell on a data set.", no_args_is_help=True)
evaluate.command("run")(run_set)
evaluate.command()(report)
evaluate.command()(compare)
evaluate.command()(export)
evaluate.command("from-feedback")(from_feedback)
evaluate.command()(gate)
evaluate.command()(retrieval)
evaluate.command()(prose)
evaluate.command()(ragas)
