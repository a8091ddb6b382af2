"""Claims made wrong, or worded otherwise, by rule, so that a checker of claims can be measured.

The lists of cues here were written apart from those of ``tools.claims``: a list that both shared would prove
nothing.
"""
