"""The family of ports that a language model stands behind: any OpenAI-compatible endpoint, through langchain-openai."""
