"""Tasks of asyncio: run a few at a time, cancel them, and finish what a cancel must not interrupt."""
