"""The OpenAPI description as an HTML page without scripts: it loads nothing, and nobody acts by it as its visitor."""

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from api.document_page import ICON, STYLE

METHODS = ("get", "post", "put", "patch", "delete")
_REFERENCE = re.compile(r"#/components/schemas/([\w.-]+)")


def render_reference(description: dict[str, Any]) -> str:
    """Return the page of an OpenAPI description: its operations in order, then its schemas."""
    title = escape(description["info"]["title"])
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}: API</title>'
        f'<meta name="viewport" content="width=device-width">{ICON}<style>{STYLE}</style></head>\n<body><main>'
        f"<h1>{title}: API</h1><p>{escape(description['info']['description'])} "
        'For programs: <a href="openapi.json">openapi.json</a>.</p>\n'
        f"{''.join(_operations(description))}<h2>Schemas</h2>\n{''.join(_schemas(description))}</main></body></html>\n"
    )


def _operations(description: dict[str, Any]) -> Iterator[str]:
    for path, methods in description["paths"].items():
        for method in METHODS:
            if method in methods:
                told = dict(methods[method])
                summary, text = told.pop("summary", ""), told.pop("description", "")
                about = "".join(f"<p>{escape(each)}</p>" for each in text.split("\n\n"))
                named = f"<code>{method.upper()} {escape(path)}</code> {escape(summary)}"
                yield f"<details><summary>{named}</summary>{about}<pre>{_linked(told)}</pre></details>\n"


def _schemas(description: dict[str, Any]) -> Iterator[str]:
    for name, schema in sorted(description["components"]["schemas"].items()):
        # A browser opens what a link leads into.
        yield (
            f"<details><summary><code>{escape(name)}</code></summary>"
            f'<pre id="{escape(name)}">{_linked(schema)}</pre></details>\n'
        )


def _linked(part: Any) -> str:
    text = escape(json.dumps(part, indent=1, ensure_ascii=False), quote=False)
    return _REFERENCE.sub(r'<a href="#\1">\1</a>', text)
