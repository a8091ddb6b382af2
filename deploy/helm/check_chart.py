"""Lint the chart, render it, hold every manifest to Kubernetes' schemas, and write the one with the default values.

python -m venv /tmp/chart && /tmp/chart/bin/pip install helm-python-sdk kubernetes-validate
/tmp/chart/bin/python deploy/helm/check_chart.py

Helm's own code does it, from that package: no cluster and no helm is needed. ``deploy/kubernetes/citewell.yaml`` is for
those who use no Helm; its first line holds a digest of the chart, by which the tests know when it is out of date.
"""

import hashlib
import sys
from pathlib import Path
from typing import Any

import helm_python
import kubernetes_validate
import yaml

HELM = Path(__file__).resolve().parent
CHART = HELM / "citewell"
RENDERED = HELM.parent / "kubernetes" / "citewell.yaml"
KUBERNETES = ("1.29", "1.33", "1.36")
NEEDED = {"database": {"existingSecret": "citewell-database"}}
EVERYTHING: dict[str, Any] = {
    **NEEDED,
    "settings": {"CITEWELL_AUTH__MODE": "jwt", "CITEWELL_RUNS__MAX_ACTIVE": 32},
    "secretSettings": [{"name": "CITEWELL_MODELS", "secret": "citewell-models", "key": "models"}],
    "env": [{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}],
    "imagePullSecrets": [{"name": "registry"}],
    "serviceAccountName": "citewell",
    "service": {"annotations": {"example.org/internal": "true"}},
    "podAnnotations": {"example.org/team": "search"},
    "nodeSelector": {"kubernetes.io/arch": "amd64"},
    "tolerations": [{"key": "dedicated", "operator": "Exists"}],
    "affinity": {"podAntiAffinity": {}},
    "metrics": {"podMonitor": {"enabled": True}},
    "networkPolicy": {"httpFrom": [{"podSelector": {"matchLabels": {"app": "proxy"}}}]},
}
LEAST: dict[str, Any] = {
    **NEEDED,
    "settings": {},
    "worker": {"replicas": 0},
    "migration": {"enabled": False},
    "metrics": {"enabled": False},
    "networkPolicy": {"enabled": False},
    "podDisruptionBudget": {"enabled": False},
}
REFUSED: list[dict[str, Any]] = [
    {**NEEDED, "replica": 3},
    {**NEEDED, "settings": {"CITEWELL_DATABASE_URL": "postgresql://..."}},
    {**NEEDED, "worker": {"processes": 0}},
]


def digest() -> str:
    """Return the digest of the chart's files, as the test of the rendered manifest computes it."""
    files = sorted(path for path in CHART.rglob("*") if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def rendered(values: dict[str, Any]) -> str:
    """Return all manifests of a release with these values, each as it would be applied."""
    with helm_python.Chart.load(CHART) as chart:
        chart.validate_schema(values)
        found = chart.render(values, name="citewell", namespace="citewell")
    return "---\n".join(
        text.strip() + "\n" for name, text in sorted(found.items()) if name.endswith(".yaml") and text.strip()
    )


def check(text: str) -> int:
    """Validate manifests and return how many there are; kinds that Kubernetes does not bring are left out."""
    manifests = [manifest for manifest in yaml.safe_load_all(text) if manifest]
    for manifest in manifests:
        for version in KUBERNETES:
            if manifest["kind"] != "PodMonitor":
                kubernetes_validate.validate(manifest, version, strict=True)
    return len(manifests)


def main() -> None:
    """Check everything, and write the default manifest."""
    findings = helm_python.lint(str(CHART), values=NEEDED, strict=True)
    sys.stdout.write(f"helm lint ({helm_python.helm_sdk_version()}): {findings}\n")
    for name, values in (("defaults", NEEDED), ("everything", EVERYTHING), ("least", LEAST)):
        sys.stdout.write(f"{name}: {check(rendered(values))} manifests valid for Kubernetes {', '.join(KUBERNETES)}\n")
    for values in REFUSED:
        try:
            rendered(values)
        except helm_python.HelmError as refused:
            sys.stdout.write(f"refused, as it should be: {str(refused).splitlines()[-1].strip()}\n")
        else:
            sys.exit(f"the schema of values lets through: {values}")
    RENDERED.parent.mkdir(exist_ok=True)
    RENDERED.write_text(f"# chart {digest()}\n{rendered(NEEDED)}", encoding="utf-8")


if __name__ == "__main__":
    main()
