"""A run's results through ragas 0.4.3: its data set format, and its metrics with and without a judging model.

ragas is an extra (``citewell[ragas]``). Nothing here imports it before it is needed; the export needs none of it.
"""
