#!/bin/sh
# A program that only cargo's registry has, at one version: scripts/tool.sh NAME VERSION
# [ARGUMENT...] prints its path below target/tools and compiles it where it is not there; arguments
# go to `cargo install`. With --arm64 before them: a static program for arm64, not optimized across
# crates. Exit code 3: it cannot be had here.
set -eu
cd "$(dirname "$0")/.."
arm64=
if [ "$1" = --arm64 ]; then
    arm64=-arm64
    shift
fi
name=$1 version=$2
shift 2
root=target/tools/$name-$version$arm64
# Schedulers of the registry compile their BPF programs with it.
export BPF_CLANG="${BPF_CLANG:-clang-19}"
if [ ! -x "$root/bin/$name" ]; then
    if [ -n "$arm64" ]; then
        . scripts/arm64-cargo.sh
        # Built sooner, and once what several of them share: how fast they are does not matter in an
        # emulated machine.
        export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
        export CARGO_TARGET_DIR="$PWD/target/tools/arm64-build"
        set -- "$@" --target aarch64-unknown-linux-gnu
    fi
    cargo install "$name" --version "$version" --locked --quiet --root "$root" "$@" >&2 || {
        printf 'tool: %s %s cannot be installed here\n' "$name" "$version" >&2
        exit 3
    }
fi
printf '%s\n' "$PWD/$root/bin/$name"
