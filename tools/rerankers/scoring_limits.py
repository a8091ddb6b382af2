"""What a question may cost, whichever reranker scores its candidates."""

SECONDS = 5.0  # for all candidates, retries included: without their scores the question is answered too
LONGEST_QUERY = 4000  # characters
LONGEST_TEXT = 8000
