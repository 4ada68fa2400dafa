#!/usr/bin/env bash
# Builds what runs inside the lab's guests, as static programs, into target/lab/{x86_64,arm64}/:
#
#   wakeplace-guest    load and stress
#   scx_wakeplace      the live scheduler
#
#   wakeplace          with --simulator, for arm64: what cargo xtask same-bytes compares
#
#   scripts/lab-binaries.sh                 both machines
#   scripts/lab-binaries.sh x86_64          one of them
#   scripts/lab-binaries.sh --simulator     both, and the simulator
#   scripts/lab-binaries.sh --dist arm64    what scripts/dist.sh packs: simulator and live
#                                           scheduler, with symbols, into target/lab/dist-arm64
#   scripts/lab-binaries.sh --tested        both as the tests have built them, not optimized: those
#                                           for x86-64 are the very files in target/debug, and need
#                                           shared libraries in the guest (scripts/live/common.sh)
#
# Needs no root where scripts/setup.sh lab finds everything. Exit code 3: something cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

out=$(realpath -m "${CARGO_TARGET_DIR:-target}")

say() { printf 'lab-binaries: %s\n' "$*" >&2; }

# Builds packages' programs for a target, all at once so that they share their libraries, and puts
# them in place.
build() {
    local arch=$1 target=$2 name programs=()
    shift 2
    say "$* for $arch"
    local packages=()
    for name in "$@"; do
        case $name in
            scx_wakeplace) packages+=(--package wakeplace-scx) ;;
            wakeplace) packages+=(--package wakeplace-cli) ;;
            *) packages+=(--package "$name") ;;
        esac
        programs+=(--bin "$name")
    done
    if [ -n "$tested" ]; then
        # All packages, although few are built: so build scripts and macros have the features with
        # which the tests have built them, and are not built once more.
        cargo build --locked --quiet --workspace "${programs[@]}" --target "$target"
        install_programs "$arch" "$target/debug" "$@"
    else
        cargo build --locked --quiet --profile "$profile" "${packages[@]}" "${programs[@]}" \
            --target "$target"
        install_programs "$arch" "$target/$profile" "$@"
    fi
}

# install_programs ARCH FOLDER PROGRAM...: from a folder of cargo's to where the lab looks for them,
# without what only a debugger reads. Each is renamed in one step: a guest that starts meanwhile
# gets the old or the new one.
install_programs() {
    local arch=$1 from=$out/$2 name strip=strip
    [ "$arch" != arm64 ] || strip=aarch64-linux-gnu-strip
    shift 2
    if [ -n "$dist" ]; then
        mkdir -p "$out/lab/dist-$arch"
        for name in "$@"; do cp "$from/$name" "$out/lab/dist-$arch/"; done
        return
    fi
    mkdir -p "$out/lab/$arch"
    for name in "$@"; do
        [ -e "$from/$name" ] || {
            say "$from/$name is missing: build the tests first"
            exit 1
        }
        "$strip" -o "$out/lab/$arch/.$name" "$from/$name"
        mv "$out/lab/$arch/.$name" "$out/lab/$arch/$name"
    done
}

build_x86_64() {
    if [ -n "$tested" ]; then
        install_programs x86_64 debug "$@"
        return
    fi
    LIBBPF_SYS_LIBRARY_PATH_x86_64_unknown_linux_gnu=$(dirname "$(cc -print-file-name=libelf.a)")
    export LIBBPF_SYS_LIBRARY_PATH_x86_64_unknown_linux_gnu
    export RUSTFLAGS="-C target-feature=+crt-static $cut"
    build x86_64 x86_64-unknown-linux-gnu "$@"
}

build_arm64() {
    . scripts/arm64-cargo.sh
    export RUSTFLAGS="$RUSTFLAGS $cut"
    build arm64 aarch64-unknown-linux-gnu "$@"
}

simulator='' tested='' dist='' cut='' profile=release
case "${1:-}" in
    --simulator)
        simulator=wakeplace
        shift
        ;;
    --dist)
        dist=1 profile=dist
        shift
        ;;
    --tested)
        tested=1
        shift
        ;;
esac
for arch in "${@:-}"; do
    case "$arch" in
        "" | x86_64 | arm64) ;;
        *)
            say "unknown machine: $arch (x86_64, arm64)"
            exit 2
            ;;
    esac
done

if [ -n "$simulator" ] && [ $# -gt 0 ] && [[ " $* " != *" arm64 "* ]]; then
    say "the simulator is built for arm64 only: leave the machine out, or name arm64"
    exit 2
fi
scripts/setup.sh lab
if [ -n "$dist" ]; then
    # Where it was built is not in the program.
    cut="--remap-path-prefix=$PWD=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
    export CFLAGS="-ffile-prefix-map=$PWD=. -ffile-prefix-map=${CARGO_HOME:-$HOME/.cargo}=cargo"
else
    # Symbols are of no use in a guest and five sixths of the file. Programs there wait for each
    # other far more than they compute: linking across crates would only cost time.
    export CARGO_PROFILE_RELEASE_STRIP=symbols CARGO_PROFILE_RELEASE_DEBUG=0 \
        CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
fi
for arch in ${*:-x86_64 arm64}; do
    programs=(wakeplace-guest scx_wakeplace)
    [ -z "$dist" ] || programs=(wakeplace wakeplace-bpf-load scx_wakeplace)
    [ "$arch" != arm64 ] || programs+=(${simulator:+"$simulator"})
    (build_"$arch" "${programs[@]}")
done
