#!/usr/bin/env bash
# Builds the simulator as a module for browsers and prints its path: target/wasm/wasm.wasm.
#
# Rust's library for wasm32 is rustup's where that can be had, else Debian's: compiler and library
# are unpacked into target/wasm/debian by an apt that knows nothing of this machine's packages.
# WASM_LIBRARY=debian: that one in any case. WASM_PROFILE=dev: built quickly, into dev.wasm. Exit
# code 3: neither can be had here.
set -euo pipefail
cd "$(dirname "$0")/.."

target=wasm32-unknown-unknown
place=$PWD/target/wasm
# Most memory that a run may have, and what deep recursion may have of it, bytes.
memory_max=$((1 << 30))
stack=$((4 << 20))

say() { printf 'wasm: %s\n' "$*" >&2; }
has_library() { [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; }

# Debian's compiler, its library for wasm32, and what both are linked with.
packages=(rustc libstd-rust-1.97 libstd-rust-dev libstd-rust-dev-wasm32 libllvm22 libc6 libgcc-s1
    libstdc++6 libbsd0 libedit2 libffi8 liblzma5 libmd0 libtinfo6 libxml2-16 libz3-4 libzstd1
    zlib1g)
suite=forky

# apt with lists and archives of its own below $1.
private_apt() {
    local tree=$1
    shift
    apt-get -qq -o Dir::State="$tree/state" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$tree/cache" -o Dir::Etc::sourcelist="$tree/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null -o Dir::Etc::preferencesparts=/dev/null \
        -o APT::Architecture=amd64 -o APT::Sandbox::User= -o Acquire::Languages=none \
        -o Acquire::Retries=2 -o Debug::NoLocking=true "$@" >&2
}

# Unpacks Debian's compiler, once.
debian_rust() {
    local tree=$place/debian uri keys
    [ ! -e "$tree/complete" ] || return 0
    [ "$(uname -m)" = x86_64 ] && command -v apt-get >/dev/null || return 1
    say "fetching Debian's rustc and its library for $target (once)"
    rm -rf "$tree"
    mkdir -p "$tree"/{state/lists/partial,cache/archives/partial,files}
    uri=$(scripts/mirror.sh)
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    [ -e "$keys" ] || keys=/usr/share/keyrings/debian-archive-keyring.pgp
    printf 'deb [signed-by=%s] %s %s main\n' "$keys" "$uri" \
        $suite >"$tree/sources.list"
    private_apt "$tree" --error-on=any update || return 1
    (cd "$tree/cache" && private_apt "$tree" download "${packages[@]}") || return 1
    for package in "$tree"/cache/*.deb; do dpkg -x "$package" "$tree/files" || return 1; done
    rm -rf "$tree/cache" "$tree/state"
    cat >"$tree/rustc" <<'END'
#!/bin/sh
here=$(dirname "$(realpath "$0")")/files/usr
lib=$here/lib/x86_64-linux-gnu
exec "$lib/ld-linux-x86-64.so.2" --library-path "$lib" --argv0 rustc "$here/bin/rustc" \
    --sysroot "$here" "$@"
END
    chmod +x "$tree/rustc"
    "$tree/rustc" --version >&2 || return 1
    touch "$tree/complete"
}

scripts/setup.sh >&2
# The core is compiled for the module by clang; gcc has no such target.
scripts/setup.sh clang >&2

if [ "${WASM_LIBRARY:-}" != debian ] &&
    { has_library || rustup target add $target >&2; } 2>/dev/null; then
    linker=rust-lld
else
    debian_rust || {
        say "no library for $target: neither rustup nor Debian's packages can be had here"
        exit 3
    }
    # Not that of the packages: the host's own tool chain has one that is sure to run here.
    linker=$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | sed -n 's/^host: //p')/bin/rust-lld
    [ -x "$linker" ] || linker=$(command -v wasm-ld || command -v wasm-ld-19 || echo rust-lld)
    export RUSTC=$place/debian/rustc
fi
archiver=ar
for name in llvm-ar-19 llvm-ar; do
    ! command -v $name >/dev/null || { archiver=$name && break; }
done

flags=("-Clink-arg=--max-memory=$memory_max" "-Clink-arg=-zstack-size=$stack"
    "--remap-path-prefix=$PWD=." "--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo")
profile=${WASM_PROFILE:-wasm}
folder=$profile
[ "$profile" != dev ] || folder=debug
mkdir -p "$place"
# The module is compiled, whatever lints the rest.
env -u RUSTC_WORKSPACE_WRAPPER \
    CC_wasm32_unknown_unknown=clang-19 AR_wasm32_unknown_unknown="$archiver" \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker" \
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="${flags[*]}" \
    cargo build --locked --quiet --profile "$profile" --target $target \
    --target-dir "$place/build" --package wakeplace-wasm --lib >&2
cp "$place/build/$target/$folder/wakeplace_wasm.wasm" "$place/$profile.wasm"
printf '%s\n' "$place/$profile.wasm"
