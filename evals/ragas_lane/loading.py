"""Import ragas with its telemetry off and its own deprecation warnings unheard."""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from graph.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Ragas:
    """What is used of ragas, untyped: importing it takes seconds, checking its types takes more."""

    version: str
    collections: Any
    metrics: Any
    single_turn_sample: Callable[..., Any]
    llm_factory: Callable[..., Any]


@cache
def load_ragas() -> Ragas:
    """Import ragas. Raises ConfigurationError where the extra is not installed."""
    os.environ["RAGAS_DO_NOT_TRACK"] = "true"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            import ragas
            import ragas.metrics.collections
            from ragas import _analytics
            from ragas.llms import llm_factory
    except ImportError as error:
        raise ConfigurationError(
            f"ragas cannot be imported: {error}.",
            suggestion="Install the extra with `pip install 'citewell[ragas]'`, or `make test`, whose lock holds it.",
        ) from error
    # ragas reads the variable at its first event and remembers it: this settles it, whatever the environment becomes.
    _analytics.do_not_track.cache_clear()
    _analytics.do_not_track()
    # Untracked events still ask for a user id, which would be written below the home folder; a device holds no folder.
    _analytics.user_data_dir = lambda **_: os.devnull
    return Ragas(ragas.__version__, ragas.metrics.collections, ragas.metrics, ragas.SingleTurnSample, llm_factory)


def deprecated_metric(name: str) -> Any:
    """Give a class of ``ragas.metrics`` whose deprecation names a successor in ``collections`` that is not there."""
    found = load_ragas()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", f"Importing {name} from 'ragas.metrics'", DeprecationWarning)
        return getattr(found.metrics, name)
