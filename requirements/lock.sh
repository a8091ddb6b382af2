#!/usr/bin/env bash
# Rewrites the lock files, two from pyproject.toml and those of `make contract` and `make test-engines`; needs uv. Hashes are kept, index hosts
# are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
compile() { uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -q "$@"; }
compile pyproject.toml --group build -o requirements/runtime.txt
compile pyproject.toml --group build --group dev --extra ragas -c requirements/runtime.txt --override requirements/overrides.in -o requirements/dev.txt
compile requirements/contract.in -o requirements/contract.txt
compile requirements/engines.in -c requirements/dev.txt -o requirements/engines.txt
