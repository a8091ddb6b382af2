"""Whether citations bear answers: questions asked again after something of what the model reads has been changed."""
