"""Probes of whether answers depend on their citations, by asking again after a change of what the model reads."""
