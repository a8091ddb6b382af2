"""Reranker endpoints: Text Embeddings Inference, Cohere and Jina, and servers that take the same requests."""
