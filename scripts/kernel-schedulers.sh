#!/usr/bin/env bash
# Builds the sched_ext schedulers of the kernel's own tools (scx_simple, scx_central, ...) for
# `--scheduler`. Their source is GPL-2.0-only and stays outside of the repository: it comes from
# Debian's package linux-source-7.3, is built by its own Makefile, and prints the folder of the
# programs at the end.
#
#   scripts/kernel-schedulers.sh             into target/kernel-schedulers/bin
#   scripts/kernel-schedulers.sh --check     and runs each: the same bytes twice, and interpreted
#                                            as compiled; scx_simple as a static program too
#   scripts/kernel-schedulers.sh --arm64     static programs for arm64, into
#                                            target/kernel-schedulers/arm64, for
#                                            scripts/schedulers-arm64.sh
#
# Needs what `wakeplace lab kernels` has fetched, a C compiler, make, libelf and zlib, clang 22 or
# 19 (BPF_CLANG names another). scx_qmap as clang 19 compiles it writes to a wild address.
# WAKEPLACE: the program for --check, else target/release/wakeplace.
# Exit code 3: something cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

series=7.3 kernel=7.3.4
out=$(realpath -m "${CARGO_TARGET_DIR:-target}")/kernel-schedulers
cache=${WAKEPLACE_LAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/wakeplace/lab}
case $(uname -m) in x86_64) arch=amd64 ;; aarch64) arch=arm64 ;; *) arch=none ;; esac
types=$cache/kernels/$arch/$kernel/vmlinux.btf

# Compiles the BPF programs.
clang=clang-19
! command -v clang-22 >/dev/null || clang=clang-22
clang=${BPF_CLANG:-$clang}

say() { printf 'kernel-schedulers: %s\n' "$*" >&2; }
fail() { say "$*"; exit 3; }

# fetch: what the build needs of the source, into $out/source.
fetch() {
    local package=linux-source-$series scratch=$out/fetch name
    rm -rf "$scratch" "$out/source"
    mkdir -p "$scratch" "$out/source"
    say "$package"
    (cd "$scratch" && APT_CONFIG=$cache/apt/$arch/apt.conf apt-get -qq download "$package") ||
        fail "$package cannot be fetched"
    local parts=()
    for name in tools/sched_ext tools/lib tools/bpf tools/build tools/include tools/scripts \
        tools/arch include/uapi kernel/bpf scripts arch/arm64/include/uapi; do
        parts+=("$package/$name")
    done
    dpkg-deb --fsys-tarfile "$scratch"/*.deb | tar -xO "./usr/src/$package.tar.xz" |
        tar -xJ -C "$out/source" --strip-components=1 "${parts[@]}"
    rm -rf "$scratch"
}

build() {
    local tools=$out/source/tools/sched_ext objects
    say "building with $clang, its output is in $out/log"
    make -C "$tools" -j "$(nproc)" CLANG="$clang" VMLINUX_BTF="$types" all \
        >"$out/log" 2>&1 || fail "it does not build: $(tail -n 3 "$out/log")"
    objects=$tools/build/obj
    "${CC:-gcc}" -static -o "$tools/build/bin/scx_simple_static" \
        "$objects/sched_ext/scx_simple.o" "$objects/libbpf/libbpf.a" -lelf -lz -lpthread \
        >>"$out/log" 2>&1 || say "no static scx_simple: $(tail -n 1 "$out/log")"
    rm -rf "$out/bin"
    cp -r "$tools/build/bin" "$out/bin"
    # The version that the programs to be checked depend on.
    "$clang" -dumpversion | cut -d. -f1 >"$out/clang"
}

# A compiler and its tools for arm64, by the names that the kernel's Makefiles call.
cross_tools() {
    local sysroot=$1 folder=$2 tool
    mkdir -p "$folder"
    for tool in ar ld strip objcopy nm; do
        ln -sf "$(command -v aarch64-linux-gnu-$tool)" "$folder/aarch64-linux-gnu-$tool"
    done
    cat >"$folder/aarch64-linux-gnu-gcc" <<CC
#!/bin/sh
case " \$* " in *" --shared "*) static= ;; *) static=-static ;; esac
exec clang-19 --target=aarch64-linux-gnu \$static -Wno-unused-command-line-argument \
    -L$sysroot/usr/lib/aarch64-linux-gnu "\$@" -isystem /usr/aarch64-linux-gnu/include \
    -isystem $sysroot/usr/include
CC
    chmod +x "$folder/aarch64-linux-gnu-gcc"
}

build_arm64() {
    local tools=$out/source/tools/sched_ext sysroot
    . scripts/arm64-cargo.sh
    cross_tools "$sysroot" "$out/cross"
    mkdir -p "$out/arm64-build"
    say "building for arm64 with $clang, its output is in $out/log-arm64"
    PATH=$out/cross:$PATH make -C "$tools" -j "$(nproc)" ARCH=arm64 \
        CROSS_COMPILE=aarch64-linux-gnu- CLANG_CROSS_FLAGS=--target=aarch64-linux-gnu \
        O="$out/arm64-build" CLANG="$clang" \
        BPFTOOL="$tools/build/sbin/bpftool" \
        VMLINUX_BTF="$cache/kernels/arm64/$kernel/vmlinux.btf" all >"$out/log-arm64" 2>&1 ||
        fail "it does not build: $(tail -n 3 "$out/log-arm64")"
    rm -rf "$out/arm64"
    cp -r "$out/arm64-build/build/bin" "$out/arm64"
}

# The line with the hash of what happened, or the last that was said.
outcome() {
    "$wakeplace" sim --quiet --platform hikey960 --workload periodic:n=12,duty=20% \
        --duration 300ms --kernel "$kernel" --scheduler "$@" --verify-determinism 2>&1 |
        awk '/^identical/ { found = $0 } { last = $0 } END { print found ? found : last }'
}

check() {
    local name compiled interpreted static= qmap=
    [ "$(cat "$out/clang" 2>/dev/null || echo 0)" -lt 22 ] || qmap=qmap
    wakeplace=${WAKEPLACE:-${CARGO_TARGET_DIR:-target}/release/wakeplace}
    # scx_userland gives up; docs/guide/schedulers.md says why.
    # shellcheck disable=SC2086 # a name or nothing
    for name in simple central flatcg sdt cpu0 pair $qmap simple_static; do
        [ -x "$out/bin/scx_$name" ] || continue
        compiled=$(outcome "$out/bin/scx_$name")
        interpreted=$(outcome "$out/bin/scx_$name" --interpret)
        printf '%-14s %s\n' "$name" "$compiled"
        case $compiled in identical:*) ;; *) say "scx_$name: $compiled"; exit 1 ;; esac
        [ "$compiled" = "$interpreted" ] || { say "interpreted: $interpreted"; exit 1; }
        [ "$name" != simple ] || static=$compiled
        [ "$name" != simple_static ] || [ "$compiled" = "$static" ] ||
            { say "static and dynamic differ"; exit 1; }
    done
}

[ -f "$cache/apt/$arch/apt.conf" ] && [ -f "$types" ] ||
    fail "the lab's cache has no kernel $kernel: run \`wakeplace lab kernels\`"
[ -x "$out/bin/scx_simple" ] || { fetch && build; }
if [ "${1:-}" = --arm64 ]; then
    # bpftool, which runs here, is of the build for this machine.
    [ -e "$out/source/arch/arm64" ] || { fetch && build; }
    [ -x "$out/arm64/scx_simple" ] || build_arm64
    printf '%s\n' "$out/arm64"
    exit
fi
[ "${1:-}" != --check ] || check
printf '%s\n' "$out/bin"
