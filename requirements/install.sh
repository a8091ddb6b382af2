#!/usr/bin/env bash
# Makes .venv and installs one lock into it, then Citewell itself: install.sh runtime|dev
# PYTHON names the interpreter; otherwise it is the first on the PATH that is 3.11-3.13 and can make environments.
set -euo pipefail
cd "$(dirname "$0")/.."
lock="requirements/$1.txt"

say() { printf '%s\n' "$*" >&2; }

is_supported() {
  command -v "$1" >/dev/null && "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null
}

makes_environments() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

pick_python() {
  local candidate supported=""
  if [ -n "${PYTHON:-}" ]; then
    is_supported "$PYTHON" || { say "PYTHON=$PYTHON is not a Python 3.11, 3.12 or 3.13."; return 1; }
    supported=$PYTHON
  else
    for candidate in python3 python3.13 python3.12 python3.11 python; do
      is_supported "$candidate" || continue
      if makes_environments "$candidate"; then printf '%s' "$candidate"; return; fi
      supported=${supported:-$candidate}
    done
  fi
  if [ -z "$supported" ]; then
    say "Citewell needs Python 3.11, 3.12 or 3.13, and none is on the PATH."
    say "Install one (Debian and Ubuntu: apt-get install python3 python3-venv), or name it: make ${1:-demo} PYTHON=/path/to/python3"
    return 1
  fi
  if ! makes_environments "$supported" && ! command -v uv >/dev/null; then
    local version
    version=$("$supported" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    say "$supported cannot make virtual environments: its ensurepip module is missing."
    say "On Debian and Ubuntu it comes in a package of its own: apt-get install python$version-venv"
    say "Or choose another Python: make ${1:-demo} PYTHON=/path/to/python3"
    return 1
  fi
  printf '%s' "$supported"
}

make_environment() {
  local python
  python=$(pick_python)
  say "Making .venv with $("$python" --version)"
  if makes_environments "$python"; then
    "$python" -m venv .venv
  else
    uv venv --quiet --python "$python" .venv
  fi
}

# pip knows the registry that the machine is set up for; uv may not, so its failure is said and not fatal.
install() {
  if command -v uv >/dev/null; then
    uv pip install --quiet --python .venv/bin/python "$@" && return
    say "uv could not install these packages; trying pip."
  fi
  [ -x .venv/bin/pip ] || .venv/bin/python -m ensurepip >/dev/null
  .venv/bin/python -m pip install -qq --disable-pip-version-check --no-input --no-compile "$@"
  # pip would compile one file after another. What no Python of this version can read is never imported.
  .venv/bin/python -m compileall -qq -j 0 .venv/lib || true
}

if [ -e .venv ] && ! .venv/bin/python -c '' 2>/dev/null; then
  say "The Python that .venv was made with is gone; making it again."
  rm -rf .venv
fi
[ -x .venv/bin/python ] || make_environment
say "Installing $(grep -c '^[a-z0-9].*==' "$lock") packages from $lock (once; a minute or two)"
# The lock is complete, and requirements/overrides.in is not known to an installer that resolves again.
install --require-hashes --no-deps -r "$lock"
install --no-build-isolation --no-deps --editable .
