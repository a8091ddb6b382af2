"""Judges: models that say whether entries bear out a claim, and the exam that decides whether their word counts."""
