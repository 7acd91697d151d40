#!/usr/bin/env bash
# Resolve pyproject.toml anew and write infra/setup/constraints-{cpu,gpu}.txt: every package pinned, no hashes, no
# index addresses. Resolved for Linux x86_64 and the lowest supported Python, whose choices later Pythons take too.
#
#   infra/setup/lock.sh            keep the pins that still fit, resolve the rest
#   infra/setup/lock.sh --upgrade  take the newest versions that pyproject.toml allows
set -euo pipefail
cd "$(dirname "$0")/../.."
source infra/setup/machine.sh

uv=(.venv/bin/python -m uv)
for engine in cpu gpu; do
  target="infra/setup/constraints-$engine.txt"
  work="$(mktemp)"
  [ ! -f "$target" ] || cp "$target" "$work"
  from=()
  [ "$engine" = gpu ] || mapfile -t from < <(torch_source cp311)
  "${uv[@]}" pip compile pyproject.toml --extra "$engine" --extra dev --quiet \
    --excludes "infra/setup/excludes-$engine.txt" "${from[@]}" \
    --python-version 3.11 --python-platform x86_64-manylinux_2_28 \
    --no-header --no-annotate --no-emit-index-url --output-file "$work" "$@"
  {
    echo "# Written by infra/setup/lock.sh (make lock): what \`.[$engine,dev]\` resolves to. Do not edit by hand."
    # The build of torch (its local version, +cpu) is the business of whoever asks for it.
    sed -E 's/^(torch==[0-9.]+)\+[a-z0-9.]+$/\1/' "$work"
  } >"$target"
  rm -f "$work"
done
