#!/usr/bin/env bash
# Builds the wheel for Python into dist/ and tests it beside the program: `make python`.
#
#   scripts/python.sh          for this machine
#   scripts/python.sh arm64    for 64-bit Arm, tested under emulation (qemu-user, Debian's Python)
#
# Wheels run with glibc 2.17 and later (manylinux2014): zig links them, which has the symbols of
# that version.
#
# PYTHON=python3.12: another interpreter. PYTEST='-k sweep': arguments of pytest.
# PYTHON_PROFILE=dev: built quickly with this machine's own linker and glibc, for work on it.
# WAKEPLACE=FILE: the program to compare with, of the same commit; else it is built.
#
# Exit code 3: something cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
profile=${PYTHON_PROFILE:-release}
machine=${1:-}
target=${CARGO_TARGET_DIR:-target}
room=$target/python
baseline=manylinux2014
# Every package with its sum; scripts/python/README.md says how to take newer ones.
pinned=(--require-hashes --only-binary=:all: --requirement)

scripts/setup.sh python
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
    printf 'PYTHON=%s: expected Python 3.11 or later\n' "$python" >&2
    exit 3
}
[ -x "$room/bin/pip" ] || "$python" -m venv --clear "$room"
pip() { "$room/bin/pip" --quiet --disable-pip-version-check "$@"; }
pip install "${pinned[@]}" scripts/python/all.txt || exit 3

"$room/bin/python" -m mypy --strict --ignore-missing-imports --cache-dir "$target/mypy" \
    crates/python/python/wakeplace

# wheel NAME ARGUMENT...: builds it; its name ends in NAME.
wheel() {
    local name=$1
    shift
    rm -f dist/wakeplace-*"$name".whl
    # zig is among the tools, and maturin looks for it in PATH.
    PATH=$(realpath "$room/bin"):$PATH "$room/bin/maturin" build --locked --quiet \
        --profile "$profile" --out dist --interpreter "$room/bin/python" \
        --manifest-path crates/python/Cargo.toml "$@" >&2 # it says on stdout that it uses zig
    ls dist/wakeplace-*"$name".whl
}

# The program that the module is compared with, a path from the root.
program() {
    local folder=$profile
    if [ -z "${WAKEPLACE:-}" ]; then
        cargo build --locked --quiet --profile "$profile" --package wakeplace-cli
        [ "$profile" != dev ] || folder=debug
        WAKEPLACE=$target/$folder/wakeplace
    fi
    realpath "$WAKEPLACE"
}

of_this_machine() {
    local built how=(--target "$(uname -m)-unknown-linux-gnu" --zig --compatibility "$baseline")
    [ "$profile" != dev ] || how=(--compatibility linux)
    built=$(wheel "_$(uname -m)" "${how[@]}")
    pip install --force-reinstall --no-deps "$built"
    # shellcheck disable=SC2086  # several words
    # What hangs says where after five minutes.
    WAKEPLACE=$(program) "$room/bin/python" -m pytest -o faulthandler_timeout=300 \
        crates/python/tests ${PYTEST:-}
    printf '%s\n' "$built"
}

# What needs a second process of the interpreter, or a package with programs of its own, is left to
# the other machine: executors, Dask, notebooks. So is how soon Ctrl-C is heard.
of_arm64() {
    local built root=$target/python-arm64/root site=$target/python-arm64/site platforms=() version
    scripts/setup.sh emulator
    [ -d "$(rustc --print sysroot)/lib/rustlib/aarch64-unknown-linux-gnu/lib" ] ||
        rustup target add aarch64-unknown-linux-gnu >&2 || exit 3
    built=$(wheel _aarch64 --target aarch64-unknown-linux-gnu --zig --compatibility "$baseline")
    # Debian 12's.
    [ -x "$root/usr/bin/python3.11" ] ||
        scripts/arm64-packages.sh "$root" python3.11-minimal libpython3.11-minimal \
            libpython3.11-stdlib libc6 libgcc-s1 libstdc++6 libexpat1 zlib1g libssl3 libffi8 \
            libbz2-1.0 liblzma5 libsqlite3-0 libuuid1 libcrypt1 libdb5.3 libncursesw6 libtinfo6 \
            libreadline8
    for version in 2_17 2_24 2_26 2_27 2_28; do
        platforms+=(--platform "manylinux_${version}_aarch64")
    done
    platforms+=(--platform manylinux2014_aarch64)
    for_arm64() { pip install --target "$site" --only-binary=:all: --python-version 3.11 "$@"; }
    [ -d "$site/pyarrow" ] || for_arm64 "${platforms[@]}" "${pinned[@]}" scripts/python/arm64.txt
    for_arm64 "${platforms[@]}" --upgrade --no-deps "$built"
    # shellcheck disable=SC2086  # several words
    WAKEPLACE=$(program) PYTHONPATH=$(realpath "$site") PYTHONDONTWRITEBYTECODE=1 \
        qemu-aarch64 -L "$root" "$root/usr/bin/python3.11" -m pytest -p no:cacheprovider \
        crates/python/tests/test_results.py -k 'not ctrl_c' ${PYTEST:-}
    printf '%s\n' "$built"
}

case $machine in
    "") of_this_machine ;;
    arm64) of_arm64 ;;
    *)
        printf 'python: unknown machine: %s (arm64, or none for this one)\n' "$machine" >&2
        exit 2
        ;;
esac
