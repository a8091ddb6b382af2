"""The web search of ``tools/web``."""

from pydantic import SecretStr

from tools.settings.section import Key, Section, WebAddress


class WebSettings(Section):
    """The web search endpoint, which is off without a key, and what is stored of its results.

    Result pages are fetched only with ``fetch_pages``; otherwise only the search snippets are stored.
    """

    api_key: Key = SecretStr("")
    base_url: WebAddress = "https://google.serper.dev"
    fetch_pages: bool = False
