#!/usr/bin/env bash
# Builds all that can be given away into dist/: `make dist`.
#
#   wakeplace-VERSION-ARCH-linux.tar.gz         both programs, static and stripped; manual and
#                                               completions
#   wakeplace-VERSION-ARCH-linux-debug.tar.gz   what a debugger reads of them
#   wakeplace_…_ARCH.deb, scx-wakeplace_…_ARCH.deb
#   crates/*.crate                              sources, as cargo packages them
#   *.cdx.json                                  what each program is made of (CycloneDX)
#   SHA256SUMS
#
#   scripts/dist.sh                    for x86-64 and arm64
#   scripts/dist.sh x86_64             one of them
#   DIST=FOLDER                        elsewhere than dist/
#
# Same sources and tools give the same bytes in any folder: paths are cut off, times are the
# commit's. The wheel for Python is `make python`. Exit code 3: something cannot be had here.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/dist/pack.sh

for arch in "$@"; do
    case $arch in
        x86_64 | arm64) ;;
        *)
            printf 'dist: unknown machine: %s (x86_64, arm64)\n' "$arch" >&2
            exit 2
            ;;
    esac
done
archs=("${@:-x86_64}")
[ $# -gt 0 ] || archs+=(arm64)

dist=$(realpath -m "${DIST:-dist}")
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
export LC_ALL=C TZ=UTC

scripts/setup.sh lab
deb=$(scripts/tool.sh cargo-deb 3.8.0)
cyclonedx=$(scripts/tool.sh cargo-cyclonedx 0.5.9)

rm -rf "$target/dist-files"
mkdir -p "$dist" "$target/dist-files"
rm -f "$dist"/wakeplace-*.tar.gz "$dist"/{wakeplace,scx-wakeplace}_*.deb \
    "$dist"/{wakeplace,scx_wakeplace}-*.cdx.json "$dist/SHA256SUMS"

# The machine's own programs write the manual and the completions for both.
scripts/lab-binaries.sh --dist x86_64
share "$target/lab/dist-x86_64" "$target/dist-files/share"
for arch in "${archs[@]}"; do
    [ "$arch" = x86_64 ] || scripts/lab-binaries.sh --dist "$arch"
    split_debug "$arch"
    archives "$arch"
    packages "$arch"
done
bill_of_materials
sources
(cd "$dist" && sha256sum ./*.tar.gz ./*.deb ./*.cdx.json crates/*.crate >SHA256SUMS)
ls -l "$dist"
