"""What processes that are forked to die share: the program as it stands once it has answered.

A graph that is compiled for the first time takes a second in which nothing is tested.
"""

from graph import builder
from tests import once  # noqa: F401 - for what it does
from tests.postgres import dying_mover, dying_worker  # noqa: F401 - imported once for those that are forked
from tests.postgres.dying import SCENARIOS, ports

for scenario in SCENARIOS:
    builder.build(ports(scenario)).compile()
