"""HTML pages: a run's report, and the comparison of two runs.

A page is one file without external scripts, styles, fonts or images. Its texts come from data sets, documents and
models, so all of them go through ``html_markup.element``, which escapes them.
"""
