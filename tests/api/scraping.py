"""Metrics as Prometheus reads them, and how they changed between two scrapes."""

from collections import Counter

import httpx
from prometheus_client.parser import text_string_to_metric_families

Sample = tuple[str, frozenset[tuple[str, str]]]
Scrape = dict[Sample, float]


async def scrape(client: httpx.AsyncClient) -> Scrape:
    """Read /metrics; gives each sample by its name and labels."""
    response = await client.get("/metrics")
    assert response.status_code == 200, response.text
    return parsed(response.text)


def parsed(text: str) -> Scrape:
    """Give each sample of a scrape by its name and labels."""
    families = text_string_to_metric_families(text)
    return {(s.name, frozenset(s.labels.items())): s.value for family in families for s in family.samples}


def grown(before: Scrape, after: Scrape, name: str, *labels: str) -> Counter[tuple[str, ...]]:
    """Give by how much the samples of a name have grown, by the values of these labels."""
    found: Counter[tuple[str, ...]] = Counter()
    for (each, pairs), value in after.items():
        if each == name and (more := int(value - before.get((each, pairs), 0))):
            found[tuple(dict(pairs)[label] for label in labels)] += more
    return found
