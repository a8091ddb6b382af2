"""ragas 0.4.3 for a run's results: its data set format, and its metrics with and without a judging model.

ragas is an extra (``citewell[ragas]``) and imported only when it is needed; the export works without it.
"""
