#!/usr/bin/env bash
# Prints the address of the Debian archive that this machine's apt uses, else the public one.
set -euo pipefail

# shellcheck disable=SC2016 # apt expands it
found=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    grep -m 1 '/debian/\?$' || true)
printf '%s\n' "${found:-http://deb.debian.org/debian}"
