#!/usr/bin/env bash
# Builds the wheel for Python into dist/ and tests it beside the program: `make python`.
#
# PYTHON=python3.12: another interpreter. PYTEST='-k sweep': arguments of pytest.
# PYTHON_PROFILE=dev: built quickly, for work on it.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-python3}
profile=${PYTHON_PROFILE:-release}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
    printf 'PYTHON=%s: expected Python 3.11 or later\n' "$python" >&2
    exit 3
}
target=${CARGO_TARGET_DIR:-target}
room=$target/python
[ -x "$room/bin/python" ] || "$python" -m venv "$room"
"$room/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.16,<2' \
    'pytest>=8' 'pyarrow>=14' 'pandas>=2.2' 'polars>=1.3' 'distributed>=2024.1' \
    'altair>=5' 'optuna>=4'

rm -f dist/wakeplace-*.whl
"$room/bin/maturin" build --locked --quiet --profile "$profile" --out dist \
    --interpreter "$room/bin/python" --manifest-path crates/python/Cargo.toml
cargo build --locked --quiet --profile "$profile" --package wakeplace-cli
"$room/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps \
    dist/wakeplace-*.whl

folder=$profile
[ "$profile" != dev ] || folder=debug
# shellcheck disable=SC2086  # several words
WAKEPLACE=$(realpath "$target/$folder/wakeplace") \
    "$room/bin/python" -m pytest crates/python/tests ${PYTEST:-}
ls dist/wakeplace-*.whl
