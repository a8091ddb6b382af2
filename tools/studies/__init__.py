"""Comparisons of documents, and cards to learn them by: many questions asked at once, each checked as an answer is."""
