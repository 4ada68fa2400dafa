#!/usr/bin/env bash
# Gives what `scx_wakeplace status --format prometheus` prints to Prometheus's own parser (promtool,
# out of Debian's package, unpacked below target/tools). Exit code 3: it cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh bpf
room=target/tools/prometheus
if [ ! -x "$room/usr/bin/promtool" ]; then
    command -v apt-get >/dev/null || {
        printf '**** SKIPPED: no apt-get to fetch promtool with\n' >&2
        exit 3
    }
    rm -rf "$room"
    mkdir -p "$room"
    (cd "$room" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download prometheus &&
        dpkg-deb -x prometheus_*.deb . && rm prometheus_*.deb) || {
        printf '**** SKIPPED: the package prometheus cannot be fetched here\n' >&2
        exit 3
    }
fi
text=$(mktemp)
trap 'rm -f "$text"' EXIT
WAKEPLACE_METRICS_OUT=$text cargo test --locked --quiet --package wakeplace-scx \
    --bin scx_wakeplace the_older_format
[ -s "$text" ] || { printf 'metrics-test: the test wrote no text\n' >&2; exit 1; }
# It ends with 3 where it only dislikes a name, which is no skipped test.
"$room/usr/bin/promtool" check metrics <"$text" || exit 1
printf 'promtool takes all %s samples\n' "$(grep -vc '^#' "$text")"
