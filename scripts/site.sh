#!/usr/bin/env bash
# Makes the site, one folder that any static host can serve and that can be opened from a disk:
#
#   scripts/site.sh [FOLDER]        FOLDER: target/site
#
# Documents become a book (mdBook); the playground stands beside it; links are checked.
# SITE_PLAYGROUND=PAGE: this page instead of building one. Exit code 3: something cannot be had
# here.
set -euo pipefail
cd "$(dirname "$0")/.."

site=$(realpath -m "${1:-target/site}")
book=target/book
playground=${SITE_PLAYGROUND:-}
[ -n "$playground" ] || playground=$(scripts/playground.sh)
# Without its server, which would double its build.
mdbook=$(scripts/tool.sh mdbook 0.5.4 --no-default-features --features search)

# Only a site of ours is replaced.
if [ -e "$site" ] && [ ! -e "$site/playground/index.html" ] && [ -n "$(ls -A "$site")" ]; then
    printf 'site: %s has other files: name an empty or a new folder\n' "$site" >&2
    exit 2
fi
rm -rf "$book" "$site"
mkdir -p "$book/src" "$(dirname "$site")"
cargo run --locked --quiet --package xtask -- site "$book/src" >/dev/null
cp site/book.toml "$book/"
cp docs/images/report.png "$book/src/"
"$mdbook" build "$book" >&2
mv "$book/book" "$site"
mkdir -p "$site/playground"
cp "$playground" "$site/playground/index.html"
cargo run --locked --quiet --package xtask -- site --links "$site"
printf '%s\n' "$site/index.html"
