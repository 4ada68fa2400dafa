#!/bin/sh
# A program that only cargo's registry has, at one version: scripts/tool.sh NAME VERSION
# [ARGUMENT...] prints its path below target/tools and compiles it where it is not there; arguments
# go to `cargo install`. Exit code 3: it cannot be had here.
set -eu
cd "$(dirname "$0")/.."
name=$1 version=$2
shift 2
root=target/tools/$name-$version
# Schedulers of the registry compile their BPF programs with it.
export BPF_CLANG="${BPF_CLANG:-clang-19}"
if [ ! -x "$root/bin/$name" ]; then
    cargo install "$name" --version "$version" --locked --quiet --root "$root" "$@" >&2 || {
        printf 'tool: %s %s cannot be installed here\n' "$name" "$version" >&2
        exit 3
    }
fi
printf '%s\n' "$PWD/$root/bin/$name"
