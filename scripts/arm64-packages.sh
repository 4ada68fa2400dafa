#!/usr/bin/env bash
# Debian's packages for arm64, unpacked below a folder: libraries to link with, programs to emulate.
# The host's own apt and dpkg know nothing of them, and it needs no root.
#
#   scripts/arm64-packages.sh FOLDER PACKAGE...
#
# Exit code 3: they cannot be had.
set -euo pipefail

root=$1
shift
# One suite for all hosts: its libelf needs no zstd and no newer glibc than a host's cross packages.
suite=bookworm
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fail() {
    printf 'arm64-packages: %s\n' "$*" >&2
    exit 3
}

# apt for arm64 with all its files under $root/apt.
arm64_apt() {
    local tool=$1
    shift
    "$tool" -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
        -o Dir::State="$root/apt/state" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$root/apt/cache" -o Dir::Etc="$root/apt" \
        -o APT::Sandbox::User="$(id -un)" "$@"
}

command -v apt-get >/dev/null || fail "no apt-get to fetch $* for arm64 with"
[ -e "$keyring" ] || fail "$keyring is missing: install debian-archive-keyring"
uri=$("$(dirname "$0")/mirror.sh")
printf 'arm64-packages: fetching %s for arm64 from %s\n' "$*" "$uri" >&2
rm -rf "$root"
mkdir -p "$root"/apt/state/lists/partial "$root"/apt/cache/archives/partial \
    "$root"/apt/sources.list.d "$root"/apt/preferences.d
root=$(realpath "$root")
printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$uri" "$suite" >"$root/apt/sources.list"
arm64_apt apt-get update || fail "apt-get update failed for arm64"
(cd "$root/apt" && arm64_apt apt-get download "$@") || fail "$* for arm64 cannot be downloaded"
for package in "$root"/apt/*.deb; do
    dpkg-deb -x "$package" "$root"
done
rm -rf "$root/apt"
