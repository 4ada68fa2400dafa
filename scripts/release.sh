#!/usr/bin/env bash
# Makes this tree a release: `make release`. Version and date go into CHANGELOG.md and CITATION.cff,
# in a commit with the tag vVERSION. Pushes nothing.
#
#   scripts/release.sh              today
#   scripts/release.sh --dry-run    checks all that it would check, and says what it would do
#
# Exit code: 0 done, 1 the tree is not ready, 2 usage.
set -euo pipefail
cd "$(dirname "$0")/.."

dry=''
case "${1:-}" in
    '') ;;
    --dry-run) dry=1 ;;
    *)
        printf 'release: unknown: %s (--dry-run)\n' "$1" >&2
        exit 2
        ;;
esac

faults=0
fault() {
    printf 'release: %s\n' "$*" >&2
    faults=$((faults + 1))
}

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
today=$(date -u +%F)
[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] ||
    fault "Cargo.toml: '$version' is no version MAJOR.MINOR.PATCH"

# All crates have the workspace's version, and name each other by it.
while IFS= read -r line; do
    fault "Cargo.toml: $line is not of $version"
done < <(grep '^wakeplace-.*version' Cargo.toml | grep -v "version = \"$version\"" || true)
for manifest in crates/*/Cargo.toml; do
    grep -q '^version.workspace = true' "$manifest" || fault "$manifest: has a version of its own"
done
grep -q "^version: $version\$" CITATION.cff || fault "CITATION.cff: version is not $version"
grep -q '^## \[Unreleased\]$' CHANGELOG.md || fault 'CHANGELOG.md: no heading "## [Unreleased]"'
awk '/^## \[Unreleased\]/ { in_it = 1; next } /^## / { in_it = 0 } in_it && /^- / { n++ }
    END { exit !n }' CHANGELOG.md || fault 'CHANGELOG.md: nothing below "## [Unreleased]"'
if git rev-parse -q --verify "refs/tags/v$version" >/dev/null; then
    fault "the tag v$version is there already: set the next version in Cargo.toml"
fi
[ -n "$dry" ] || [ -z "$(git status --porcelain)" ] ||
    fault 'the tree has changes: commit them first'
[ "$faults" = 0 ] || exit 1

if [ -n "$dry" ]; then
    printf 'would write "## [%s] - %s" into CHANGELOG.md and the date into CITATION.cff\n' \
        "$version" "$today"
    printf 'would commit, and tag v%s\n' "$version"
    exit 0
fi
sed -i "s/^## \[Unreleased\]\$/## [Unreleased]\n\n## [$version] - $today/" CHANGELOG.md
sed -i "/^date-released: /d; s/^version: .*/&\ndate-released: $today/" CITATION.cff
git commit --quiet --message "wakeplace $version" CHANGELOG.md CITATION.cff
git tag --annotate "v$version" --message "wakeplace $version"
printf 'tagged v%s\n' "$version"
