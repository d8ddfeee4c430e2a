#!/usr/bin/env bash
# Make the virtual environment from the hashed lock, with uv when it is there and with plain venv and pip when not.
# Says in one line what to install when something is missing, and installs it itself when root on Debian.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=${1:-.venv}

usable() { # a Python of 3.11 or newer that can make virtual environments with pip in them
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    local name
    for name in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        if command -v "$name" >/dev/null 2>&1 && usable "$name"; then command -v "$name"; return 0; fi
    done
    return 1
}

install_line() {
    if command -v apt-get >/dev/null 2>&1; then echo "apt-get install -y python3 python3-venv"
    elif command -v brew >/dev/null 2>&1; then echo "brew install python@3.13"
    elif command -v dnf >/dev/null 2>&1; then echo "dnf install -y python3.12"
    elif command -v pacman >/dev/null 2>&1; then echo "pacman -S --noconfirm python"
    elif command -v apk >/dev/null 2>&1; then echo "apk add python3 py3-pip"
    else echo "install Python 3.11 or newer with its venv module"; fi
}

if ! python=$(find_python); then
    line=$(install_line)
    if [ "$(id -u)" = 0 ] && [ "${line%% *}" = apt-get ]; then
        echo "Postroom needs Python 3.11+ with venv; running: $line"
        apt-get update -qq && $line
        python=$(find_python) || { echo "The system's Python is older than 3.11; install Python 3.11 or newer." >&2; exit 1; }
    else
        echo "Postroom needs Python 3.11 or newer with venv. Install it with:" >&2
        [ "$(id -u)" = 0 ] || [ "${line%% *}" = brew ] || [ "${line%% *}" = install ] || line="sudo $line"
        echo "    $line" >&2
        exit 1
    fi
fi

echo "Setting up $venv with $("$python" --version)"
# Wheels only, as no compiler is promised; dkimpy alone is published as source (pure Python) and is built by the locked setuptools.
hashed=(--quiet --require-hashes --only-binary :all:)
locked=("${hashed[@]}" --no-build-isolation --no-binary dkimpy)
if command -v uv >/dev/null 2>&1; then
    [ -x "$venv/bin/python" ] || uv venv --quiet --python "$python" "$venv"
    export VIRTUAL_ENV="$PWD/$venv"
    uv pip install "${hashed[@]}" -r requirements/build.txt
    uv pip sync --compile-bytecode "${locked[@]}" requirements/dev.txt
    uv pip install --quiet --no-deps --no-build-isolation --editable .
else
    "$venv/bin/python" -c 'import pip' 2>/dev/null || "$python" -m venv --clear "$venv"
    pip=("$venv/bin/python" -m pip install --disable-pip-version-check)
    "${pip[@]}" "${hashed[@]}" -r requirements/build.txt
    "${pip[@]}" "${locked[@]}" -r requirements/dev.txt
    "${pip[@]}" --quiet --no-deps --no-build-isolation --editable .
fi
# An editable install compiles nothing, and where bytecode is not written on the way every start would compile it all.
"$venv/bin/python" -m compileall -q agents bridge config mailstore
