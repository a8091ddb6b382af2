"""The ``citewell`` command line: one module per command, with lazy imports so that ``--help`` stays fast."""
