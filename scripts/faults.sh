#!/bin/sh
# Files on a faulty disk (docs/guide/traces.md): each write, sync and rename of each command fails
# once.
#   scripts/faults.sh        one error per call, and a kill at each
#   scripts/faults.sh all    every error and a polite end at each call besides
# The test on a small tmpfs needs root and says so where it is skipped.
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in
'') ;;
all) export WAKEPLACE_FAULTS=all ;;
*)
	echo "faults: \`$1\`; expected nothing or all" >&2
	exit 2
	;;
esac
exec cargo test --locked -p wakeplace-cli --test all -- faults:: interrupt:: --nocapture
