"""The chart and its rendered manifests: up to date, unprivileged, probed, and told apart from what they can't be."""

import hashlib
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tools.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "citewell"
RENDERED = ROOT / "deploy" / "kubernetes" / "citewell.yaml"
MANIFESTS = list(yaml.safe_load_all(RENDERED.read_text(encoding="utf-8")))
VALUES = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))


def kinds(*names: str) -> list[dict[str, Any]]:
    return [manifest for manifest in MANIFESTS if manifest["kind"] in names]


def containers() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Give the command, container and pod of each workload."""
    for manifest in kinds("Deployment", "Job"):
        pod = manifest["spec"]["template"]["spec"]
        for container in pod["containers"]:
            yield container["command"][1], container, pod


def test_the_rendered_manifests_are_those_of_the_chart() -> None:
    files = sorted(path for path in CHART.rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    first = RENDERED.read_text(encoding="utf-8").split("\n", 1)[0]
    assert first == f"# chart {digest}", "run deploy/helm/check_chart.py, which lints the chart and renders it anew"


def test_the_chart_is_of_this_release() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert chart["version"] == chart["appVersion"] == project["version"]


def test_the_default_values_keep_to_their_schema_and_a_slip_does_not() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(VALUES, schema)
    assert set(VALUES) | {"global"} == set(schema["properties"])
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**VALUES, "replica": 3}, schema)


def test_servers_workers_and_the_migration_run_what_they_should() -> None:
    assert sorted(name for name, _, _ in containers()) == ["migrate", "serve", "worker"]
    [migration] = kinds("Job")
    assert migration["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"


@pytest.mark.parametrize(("name", "container", "pod"), list(containers()), ids=["serve", "worker", "migrate"])
def test_each_runs_without_privileges_or_secrets_in_the_manifest(
    name: str, container: dict[str, Any], pod: dict[str, Any]
) -> None:
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    own = container["securityContext"]
    assert own == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert "memory" in container["resources"]["limits"]
    environment = {each["name"]: each for each in container["env"]}
    assert "secretKeyRef" in environment["CITEWELL_DATABASE_URL"]["valueFrom"]
    known = {f"CITEWELL_{field}".upper() for field in Settings.model_fields}
    for each in environment:
        assert each.partition("__")[0] in known, f"{name} sets {each}, which no setting is called"


def test_a_server_is_probed_and_given_time_to_end() -> None:
    [(container, pod)] = [(container, pod) for name, container, pod in containers() if name == "serve"]
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert container["startupProbe"]["httpGet"]["path"] == "/healthz"
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    drain = Settings(_env_file=None).runs.drain_seconds  # type: ignore[call-arg]
    waits = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > waits + 2 * drain


def test_the_service_publishes_servers_alone_and_no_metrics() -> None:
    [service] = kinds("Service")
    assert service["spec"]["selector"]["app.kubernetes.io/component"] == "server"
    assert [port["targetPort"] for port in service["spec"]["ports"]] == ["http"]
    [budget] = kinds("PodDisruptionBudget")
    assert budget["spec"]["selector"]["matchLabels"] == service["spec"]["selector"]


def test_metrics_which_ask_for_no_credentials_are_for_the_monitoring_alone() -> None:
    [policy] = kinds("NetworkPolicy")
    [service] = kinds("Service")
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= service["spec"]["selector"].items()
    assert policy["spec"]["policyTypes"] == ["Ingress"]
    allowed = {rule["ports"][0]["port"]: rule.get("from") for rule in policy["spec"]["ingress"]}
    assert allowed.keys() == {"http", "metrics"}
    assert allowed["http"] is None, "anybody: its requests are authenticated"
    assert allowed["metrics"] == VALUES["networkPolicy"]["metricsFrom"] != []
    for _, container, _ in containers():
        assert {port["name"] for port in container.get("ports", ())} <= allowed.keys()
