#!/bin/sh
# A program that only cargo's registry has, at one version: scripts/tool.sh NAME VERSION prints its
# path below target/tools and compiles it where it is not there. Exit code 3: it cannot be had here.
set -eu
cd "$(dirname "$0")/.."
root=target/tools/$1-$2
if [ ! -x "$root/bin/$1" ]; then
    cargo install "$1" --version "$2" --locked --quiet --root "$root" >&2 || {
        printf 'tool: %s %s cannot be installed here\n' "$1" "$2" >&2
        exit 3
    }
fi
printf '%s\n' "$PWD/$root/bin/$1"
