#!/usr/bin/env bash
# Rewrites the two lock files from pyproject.toml; needs uv. Hashes are kept, index hosts are left out.
set -euo pipefail
cd "$(dirname "$0")/.."
compile() { uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate -q "$@"; }
compile --group build -o requirements/runtime.txt
compile --group build --group dev --extra ragas -c requirements/runtime.txt --override requirements/overrides.in -o requirements/dev.txt
