#!/usr/bin/env bash
# Write the hashed locks from pyproject.toml: one file for Python 3.11 to 3.13 on Linux, macOS and Windows each.
set -euo pipefail
cd "$(dirname "$0")/.."
options=(--universal --generate-hashes --python-version 3.11 --no-emit-index-url --no-emit-find-links --no-annotate --no-header --quiet)
uv pip compile "${options[@]}" "$@" pyproject.toml --output-file requirements/run.txt
uv pip compile "${options[@]}" "$@" pyproject.toml --group dev --constraints requirements/run.txt --output-file requirements/dev.txt
uv pip compile "${options[@]}" "$@" --group build --constraints requirements/dev.txt --output-file requirements/build.txt
