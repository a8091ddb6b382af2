"""The ``citewell`` command: one file a command, light to import, so that help costs no more than Python itself."""
