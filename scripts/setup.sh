#!/bin/sh
# Checks that this machine can build wakeplace, and installs what is missing where it can.
#
#   scripts/setup.sh          a C compiler and cargo, what building takes
#   scripts/setup.sh lint     rustfmt and clippy besides
#   scripts/setup.sh bpf      clang 19, libelf and zlib besides, for the live scheduler
#   scripts/setup.sh lab      what building for the guests of the lab takes: static x86-64 and arm64
#   scripts/setup.sh clang    clang 19, which compiles the core for BPF and for browsers
#   scripts/setup.sh browser  a browser, which pages of results are opened in
#   scripts/setup.sh node     Node.js, which drives that browser
#   scripts/setup.sh python   Python with venv, for the module
#   scripts/setup.sh emulator what runs a single program that was built for arm64
#   scripts/setup.sh cross    a C compiler for arm64 hosts, with their C library
#   scripts/setup.sh kernel   what a kernel tree is built with, for `wakeplace kernel build`
#
# Says nothing and reaches no network where everything is there. Exit code 3: something is missing
# and cannot be installed from here; the message says what to do.
set -eu

min_rust=1.91
clang=clang-19

say() { printf 'setup: %s\n' "$*" >&2; }
fail() { say "$*"; exit 3; }
have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root, where that can be had without asking for a password.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif have sudo && sudo -n true 2>/dev/null; then
        sudo -n "$@"
    else
        return 1
    fi
}

# Where dpkg and apt keep the files whose locks say that they are at work.
dpkg_lock=${WAKEPLACE_DPKG_LOCK:-/var/lib/dpkg/lock-frontend}
lists_lock=${WAKEPLACE_LISTS_LOCK:-/var/lib/apt/lists/lock}
lock_timeout_s=600

# The process that holds a lock on a file, or nothing: the kernel lists locks by inode.
lock_holder() {
    inode=$(stat -c %i "$1" 2>/dev/null) || return 0
    awk -v end=":$inode" '
        substr($6, length($6) - length(end) + 1) == end && $4 == "WRITE" { print $5; exit }
    ' /proc/locks 2>/dev/null
}

# Waits for another installation to end. apt-get itself waits for dpkg's lock only, and with -q it
# does not say so.
wait_for_lock() {
    waited=0
    while holder=$(lock_holder "$1") && [ -n "$holder" ]; do
        if [ $waited = 0 ]; then
            say "waiting up to $lock_timeout_s s for process $holder" \
                "($(cat "/proc/$holder/comm" 2>/dev/null || echo "in another container"))," \
                "which holds $1"
        fi
        # Then apt-get has the last word: locks are found by inode, which need not be this file's.
        [ $waited -lt $lock_timeout_s ] || { say "$1 is still held"; return 0; }
        sleep 1
        waited=$((waited + 1))
    done
}

# Runs apt-get when nobody else does. The option covers whoever comes between the look and the call.
apt_get() {
    wait_for_lock "$lists_lock"
    wait_for_lock "$dpkg_lock"
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -o DPkg::Lock::Timeout=$lock_timeout_s "$@" >&2
}

# Installs Debian packages, with one more try: mirrors do fail now and again.
apt_install() {
    have apt-get || return 1
    say "installing $*"
    for try in 1 2; do
        if [ "$try" = 2 ] || [ -z "$(ls /var/lib/apt/lists/*_Packages* 2>/dev/null)" ]; then
            apt_get update || return 1
        fi
        apt_get install -y --no-install-recommends "$@" && return 0
    done
    return 1
}

# Whether cargo is there and new enough: 1.91 of "cargo 1.95.0 (…)".
cargo_is_new_enough() {
    have cargo || return 1
    version=$(cargo --version 2>/dev/null | cut -d' ' -f2)
    major=${version%%.*}
    minor=${version#*.}
    minor=${minor%%.*}
    case "$major.$minor" in
        *[!0-9.]* | . | .* | *.) return 1 ;;
    esac
    [ "$major" -gt "${min_rust%%.*}" ] ||
        { [ "$major" -eq "${min_rust%%.*}" ] && [ "$minor" -ge "${min_rust#*.}" ]; }
}

# rustup installs itself where no login shell of this session has looked yet.
if ! have cargo && [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
    fail "cargo is in ${CARGO_HOME:-$HOME/.cargo}/bin, which is not in PATH: add it and try again"
fi

if ! have cc; then
    apt_install build-essential || fail "no C compiler: install one that answers to \`cc\`" \
        "(Debian: apt-get install build-essential)"
fi

if ! cargo_is_new_enough; then
    # Debian 13 has rustup; where cargo came from a package, rustup's own takes its place.
    if have rustup || apt_install rustup; then
        say "installing the stable Rust toolchain with rustup"
        { rustup toolchain install stable --profile minimal -c rustfmt -c clippy &&
            rustup default stable; } >&2 || say "rustup could not install it"
        hash -r
    else
        apt_install cargo rustfmt rust-clippy || say "no package of cargo or rustup either"
    fi
    cargo_is_new_enough || fail "cargo $min_rust or later is needed, found:" \
        "$(cargo --version 2>/dev/null || echo none). Install it from https://rustup.rs and try again"
fi

# Whether the C compiler's linker finds a library file.
has_library() { [ "$(cc -print-file-name="$1")" != "$1" ]; }

# For crates/scx: clang for its kernel side, and what libbpf is built from and with.
set_up_clang() {
    have "$clang" || apt_install "$clang" || fail "no $clang, which compiles for BPF and browsers"
}
set_up_bpf() {
    set_up_clang
    have make || apt_install make || fail "no make, which builds libbpf"
    { has_library libelf.so && has_library libz.so; } || apt_install libelf-dev zlib1g-dev ||
        fail "no libelf or zlib to build with: install libelf-dev and zlib1g-dev"
}

# For cargo xtask programs. clang is the compiler for arm64, so only its libraries and linker are
# installed: gcc for arm64 would drive out gcc-multilib.
set_up_lab() {
    [ "$(uname -m)" = x86_64 ] || fail "guests are built on x86-64, this is $(uname -m)"
    set_up_bpf # clang is the compiler for arm64, too
    { has_library libelf.a && has_library libz.a; } || apt_install libelf-dev zlib1g-dev ||
        fail "no static libelf and zlib: install libelf-dev and zlib1g-dev"
    { [ -e /usr/aarch64-linux-gnu/lib/libc.a ] && have aarch64-linux-gnu-ld; } ||
        apt_install libc6-dev-arm64-cross binutils-aarch64-linux-gnu ||
        fail "no C library for arm64: install libc6-dev-arm64-cross and binutils-aarch64-linux-gnu"
    if ! ls /usr/lib/gcc-cross/aarch64-linux-gnu/*/libgcc.a >/dev/null 2>&1; then
        # Its name has gcc's version: the newest that this system has.
        libgcc=$(apt-cache search --names-only '^libgcc-[0-9]+-dev-arm64-cross$' |
            cut -d' ' -f1 | sort -V | tail -n 1)
        { [ -n "$libgcc" ] && apt_install "$libgcc"; } ||
            fail "no libgcc for arm64: install libgcc-N-dev-arm64-cross"
    fi
    for target in x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu; do
        [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ] && continue
        have rustup || fail "no Rust library for $target, and no rustup to install it"
        rustup target add "$target" >&2 || fail "rustup target add $target failed"
    done
}

for tool in "$@"; do
    case "$tool" in
        lint)
            if ! { cargo fmt --version && cargo clippy --version; } >/dev/null 2>&1; then
                if have rustup; then
                    rustup component add rustfmt clippy >&2 || fail "no rustfmt or clippy:" \
                        "rustup component add rustfmt clippy"
                else
                    apt_install rustfmt rust-clippy || fail "no rustfmt or clippy: install both"
                fi
            fi
            ;;
        bpf)
            set_up_bpf
            ;;
        lab)
            set_up_lab
            ;;
        clang)
            set_up_clang
            ;;
        node)
            have node || apt_install nodejs || fail "no Node.js: install nodejs"
            ;;
        browser)
            have chromium || have chromium-browser || have google-chrome || have chrome ||
                apt_install chromium || fail "no browser: install chromium"
            ;;
        python)
            python3 -c 'import ensurepip, venv' 2>/dev/null || apt_install python3 python3-venv ||
                fail "no Python with venv: install python3 and python3-venv"
            ;;
        emulator)
            have qemu-aarch64 || apt_install qemu-user || fail "no qemu-aarch64: install qemu-user"
            ;;
        cross)
            { have aarch64-linux-gnu-gcc && [ -e /usr/aarch64-linux-gnu/lib/libc.so.6 ]; } ||
                apt_install gcc-aarch64-linux-gnu libc6-dev-arm64-cross ||
                fail "no C compiler for arm64: install gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
            ;;
        kernel)
            for program in gcc make flex bison bc xz nm; do
                have "$program" && continue
                apt_install gcc make flex bison bc xz-utils binutils ||
                    fail "no $program, which a kernel tree is built with: install" \
                        "gcc make flex bison bc xz-utils binutils"
                break
            done
            ;;
        *)
            say "unknown: $tool (lint, bpf, clang, lab, browser, node, python, emulator, cross," \
                "kernel)"
            exit 2
            ;;
    esac
done
