"""Language model backend: any OpenAI-compatible endpoint, through langchain-openai."""
