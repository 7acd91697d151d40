#!/usr/bin/env bash
# Make .venv and install the project into it with pinned versions. Does nothing when nothing has changed.
#
#   infra/setup/install.sh PYTHON ENGINE     PYTHON: the interpreter to build on; ENGINE: cpu or gpu
set -euo pipefail
cd "$(dirname "$0")/../.."
source infra/setup/machine.sh

python="${1:?usage: install.sh PYTHON ENGINE}"
engine="${2:?usage: install.sh PYTHON ENGINE}"
uv_version=0.13.9
venv=.venv

if [ ! -f "infra/setup/constraints-$engine.txt" ]; then
  echo "setup: ENGINE=$engine is not known; give cpu or gpu" >&2
  exit 2
fi
version="$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])' 2>/dev/null)" || version=missing
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  echo "setup: $python is $version; Python 3.11 or newer is needed. Name one: make setup PYTHON=/path/to/python3.11" >&2
  exit 2
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  echo "setup: $python has no venv module; on Debian and Ubuntu: apt-get install python3-venv" >&2
  exit 2
fi

# What the environment was built from. The folder counts: an environment cannot be moved.
fingerprint="$({ pwd; echo "$version $engine $uv_version"; cat pyproject.toml "infra/setup/constraints-$engine.txt" \
  "infra/setup/excludes-$engine.txt" infra/setup/install.sh infra/setup/machine.sh; } | sha256sum | cut -d' ' -f1)"
stamp="$venv/askable-setup"
if [ "$(cat "$stamp" 2>/dev/null)" = "$fingerprint" ] && "$venv/bin/python" -c '' 2>/dev/null; then
  exit 0
fi

place="$venv/askable-place"
if [ -e "$venv" ] && [ ! -f "$place" ]; then
  echo "setup: $(pwd)/$venv was not made by this script; move it away or remove it, then try again" >&2
  exit 2
fi
if [ "$(cat "$place" 2>/dev/null)" != "$(pwd) $version $engine" ] || ! "$venv/bin/python" -m pip --version >/dev/null 2>&1
then
  echo "setup: making $venv with $("$python" --version)"
  rm -rf "$venv"
  mkdir "$venv"
  echo "$(pwd) $version $engine" >"$place"
  "$python" -m venv "$venv"
fi
rm -f "$stamp"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "uv==$uv_version"

from=()
[ "$engine" = gpu ] || mapfile -t from < <(torch_source "$version")
echo "setup: installing .[$engine,dev] (torch: ${from[*]:-package index})"
"$venv/bin/python" -m uv pip install --python "$venv/bin/python" --no-progress --compile-bytecode \
  --editable ".[$engine,dev]" --constraints "infra/setup/constraints-$engine.txt" \
  --excludes "infra/setup/excludes-$engine.txt" "${from[@]}"
echo "$fingerprint" >"$stamp"
echo "setup: done"
