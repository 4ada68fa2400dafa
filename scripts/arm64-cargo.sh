# shellcheck shell=bash
# Sourced from the repository's root: cargo links static programs for arm64 that load BPF objects
# (`--target aarch64-unknown-linux-gnu`). `sysroot` is where libelf.a, libz.a and their headers for
# arm64 are, fetched where they are not there. Exit code 3: they cannot be had. What
# `scripts/setup.sh lab` installs must be there.
sysroot=$(realpath -m "${CARGO_TARGET_DIR:-target}")/lab/sysroot-arm64
if ! [ -e "$sysroot/usr/lib/aarch64-linux-gnu/libelf.a" ] ||
    ! [ -e "$sysroot/usr/lib/aarch64-linux-gnu/libz.a" ]; then
    scripts/arm64-packages.sh "$sysroot" libelf-dev zlib1g-dev || exit
    [ -e "$sysroot/usr/lib/aarch64-linux-gnu/libelf.a" ] || {
        echo 'arm64-cargo: libelf-dev for arm64 has no libelf.a' >&2
        exit 3
    }
fi
export LIBBPF_SYS_LIBRARY_PATH_aarch64_unknown_linux_gnu=$sysroot/usr/lib/aarch64-linux-gnu
export CC_aarch64_unknown_linux_gnu=clang-19
CFLAGS_aarch64_unknown_linux_gnu="--target=aarch64-linux-gnu -I$sysroot/usr/include ${CFLAGS:-}"
export CFLAGS_aarch64_unknown_linux_gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=clang-19
export RUSTFLAGS="-C target-feature=+crt-static -C link-arg=--target=aarch64-linux-gnu"
