#!/usr/bin/env bash
# Tries what `make dist` made: dist-test.sh packages | same.
#
#   packages   installs, runs and removes both Debian packages in a guest with systemd
#   same       builds everything for x86-64 once more, from a clone in another folder, and compares
#              the sums
#
# Exit code: 0 all held, 1 something did not, 2 usage, 3 it cannot be tried here.
set -euo pipefail
cd "$(dirname "$0")/.."
dist=$(realpath -m "${DIST:-dist}")

packages() {
    . scripts/live/common.sh
    keep_in "${LIVE_KEEP:-}"
    local folder=$keep/deb code=0 debs=()
    for deb in "$dist"/*_amd64.deb; do debs+=(--add "$deb"); done
    guest "$folder" --arch x86_64 --cpus 2 --icount --systemd --scheduler kernel --timeout 30m \
        --package dpkg --package init-system-helpers --add scripts/live/deb.sh "${debs[@]}" \
        -- sh deb.sh || code=$?
    grep -h '^step' "$folder/log" || true
    grep -q '^steps failed: 0$' "$folder/log" ||
        fault "packages: the lab's exit code is $code: $(tail -n 30 "$folder/log")"
    all_held
}

same() {
    local work
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # its value now
    trap "rm -rf '$work'" EXIT
    git clone --quiet . "$work/elsewhere"
    mkdir "$work/elsewhere/target"
    ln -s "$PWD/target/tools" "$work/elsewhere/target/tools"
    DIST=$work/dist "$work/elsewhere/scripts/dist.sh" x86_64
    local mine
    mine=$(mktemp)
    grep -v 'arm64' "$dist/SHA256SUMS" >"$mine" || true
    diff "$mine" "$work/dist/SHA256SUMS" && echo "the same bytes in another folder"
}

case "${1:-}" in
    packages | same)
        [ -e "$dist/SHA256SUMS" ] || {
            printf '%s/SHA256SUMS is missing: run `make dist`\n' "$dist" >&2
            exit 3
        }
        "$1"
        ;;
    *)
        printf 'dist-test: expected packages or same\n' >&2
        exit 2
        ;;
esac
