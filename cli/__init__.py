"""The ``citewell`` command line: one module per subject, with lazy imports so that ``--help`` stays fast."""
