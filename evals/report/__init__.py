"""HTML pages: a run's report, and the comparison of two runs.

A page is one file without scripts, styles, fonts or images from elsewhere. Data sets, documents and models have a
say in what is shown, so every text goes through ``html_markup.element``, which escapes it.
"""
