"""The openai client alone: ``python -m bench.bare_openai URL`` reads streams of 200 chunks and prints its CPU time."""

import asyncio
import json
import sys
import time

from openai import AsyncOpenAI

WARM_UP = 5
REQUESTS = 30


async def main(base_url: str) -> None:
    """Read thirty streams one after another."""
    async with AsyncOpenAI(base_url=base_url, api_key="none") as client:
        for _ in range(WARM_UP):
            await _read(client)
        began = time.process_time()
        for _ in range(REQUESTS):
            await _read(client)
        cpu = (time.process_time() - began) / REQUESTS
    print(json.dumps({"cpu": cpu * 1000}), flush=True)


async def _read(client: AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="instant", messages=[{"role": "user", "content": "Tell."}], stream=True
    )
    async for _ in stream:
        pass


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
