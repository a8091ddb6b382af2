"""Rules that make claims false or reword them, to measure a claim checker.

Their lists of cues were written independently of those of ``tools.claims``: a shared list would prove nothing.
"""
