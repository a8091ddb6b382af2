"""Probe whether citations bear answers: questions are asked again after something the model reads has been changed."""
