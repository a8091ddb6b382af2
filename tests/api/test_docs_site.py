"""The first questions of a documentation site's owner: what the site defines is answered, what it is not about refused.

The site looks like its kind: definitions beside code, pages that use the words of everyday questions in passing, and
files that are no pages.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psycopg
import pytest
from pydantic import SecretStr

from api.app import create_app
from graph.entrypoint import open_citewell
from graph.evidence import Identity
from tests.api.serving import client_of
from tools.library.found_files import unread_files
from tools.library.ingestion import NewDocument
from tools.settings import Settings
from tools.storage.embedded import EmbeddedServer

PAGES = {
    "intro.md": """---
title: Introduction
sidebar_position: 1
---

# Introduction

This book teaches robots that walk, see and speak. Each chapter ends with exercises. Now it is time to get started.
""",
    "ros2/what-is-ros2.md": """# ROS 2

ROS 2 (Robot Operating System 2) is a set of libraries and tools for building robot applications. It is not an operating
system, in spite of its name.

## Main components

The main components of ROS 2 are nodes, topics, services, actions and parameters.

## History

The first ROS was made at a laboratory for research. ROS 2 replaced its master by discovery over DDS.
""",
    "ros2/launch.mdx": """import Tabs from '@theme/Tabs';

# Launch files

A launch file starts several nodes at once and passes them their parameters.

```python
def generate_launch_description():
    # This function is the entry point that the ros2 launch command looks for.
    return LaunchDescription([Node(package="demo", executable="talker")])
```

Run it with `ros2 launch demo talker.launch.py`.
""",
    "ros2/topics.md": """# Topics

A topic is a named channel over which nodes exchange messages. A publisher sends messages, and each subscriber of the
topic gets them.

| Quality of service | Default |
|---|---|
| Reliability | reliable |
| History depth | 10 |
""",
    "simulation/gazebo.md": """# Gazebo

Gazebo is a simulator that computes the physics of robots and of the world around them.

## Sensors

[Example: a detection of obstacles by LiDAR has to be validated across weather conditions such as rain and fog.] The
noise of a sensor is set in the file of its model.
""",
    "simulation/urdf.md": """# URDF

URDF is an XML format that describes the links and joints of a robot.
""",
    "safety.md": """# Safety

:::warning
Keep two metres away from a walking robot. The emergency stop is the red button on its back.
:::

The battery has to be charged at between 10 and 30 degrees.
""",
}
OTHER_FILES = {
    "ros2/_category_.json": json.dumps({"label": "ROS 2", "position": 2}).encode(),
    "img/robot.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><title>Robot</title><text>Robot</text></svg>",
    "img/robot.png": b"\x89PNG\r\n\x1a\n",
}


@pytest.fixture(scope="module")
async def site(
    postgres: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a deployment whose library is the folder of the site, as it is checked out."""
    async with await psycopg.AsyncConnection.connect(postgres.url(), autocommit=True) as connection:
        await connection.execute(f"CREATE DATABASE docs_site TEMPLATE {template}")
    url = SecretStr(postgres.url("docs_site"))
    settings = Settings(_env_file=None, database_url=url, data_dir=tmp_path_factory.mktemp("data"), pool_size=4)
    folder: Path = tmp_path_factory.mktemp("site") / "docs"
    for name, content in {**{name: text.encode() for name, text in PAGES.items()}, **OTHER_FILES}.items():
        folder.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        folder.joinpath(name).write_bytes(content)
    async with open_citewell(settings) as opened:
        files = unread_files([folder], Identity().workspace, NewDocument(source_type="file"))
        reports = [report async for report in opened.library.ingestor.ingest_many(Identity(), files)]
        assert {report.status for report in reports} == {"created"}
        async with client_of(create_app(settings, citewell=opened)) as client:
            yield client


async def asked(site: httpx.AsyncClient, query: str, session: str | None = None) -> dict[str, object]:
    reply = await site.post("/api/docs-chat/messages", json={"query": query, "session_id": session})
    assert reply.status_code == 200, reply.text
    return dict(reply.json())


async def test_pages_are_documents_and_files_of_the_site_alone_are_not(site: httpx.AsyncClient) -> None:
    listed = (await site.get("/api/documents", params={"limit": 200})).json()["documents"]
    assert {each["metadata"]["file_path"] for each in listed} == {f"docs/{name}" for name in PAGES}


@pytest.mark.parametrize(
    ("query", "page", "said"),
    [
        ("What is ROS2?", "docs/ros2/what-is-ros2.md", "set of libraries and tools"),
        ("What is ROS 2?", "docs/ros2/what-is-ros2.md", "set of libraries and tools"),
        ("What is a launch file?", "docs/ros2/launch.mdx", "starts several nodes"),
        ("What is Gazebo?", "docs/simulation/gazebo.md", "simulator"),
        ("What is a topic?", "docs/ros2/topics.md", "named channel"),
        ("What is URDF?", "docs/simulation/urdf.md", "XML format"),
    ],
)
async def test_what_the_site_defines_is_answered_from_its_page(
    site: httpx.AsyncClient, query: str, page: str, said: str
) -> None:
    reply = await asked(site, query)
    assert reply["outcome"] == "answered"
    assert said in str(reply["message"]["content"])  # type: ignore[index]
    assert reply["sources"][0]["file_path"] == page  # type: ignore[index]


async def test_its_follow_up_is_answered(site: httpx.AsyncClient) -> None:
    session = str((await asked(site, "What is ROS2?"))["session_id"])
    assert "nodes, topics" in str((await asked(site, "What are its main components?", session))["message"])


@pytest.mark.parametrize("query", ["What is the weather?", "What time is it?", "Who won the world cup in 2022?"])
async def test_what_it_is_not_about_is_refused(site: httpx.AsyncClient, query: str) -> None:
    reply = await asked(site, query)

    assert (reply["outcome"], reply["sources"]) == ("abstained", [])
