"""The library as LangChain sees it, for asynchronous and for synchronous code."""
