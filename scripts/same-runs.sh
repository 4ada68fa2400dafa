#!/bin/sh
# `cargo xtask same-runs`, which says what it takes.
cd "$(dirname "$0")/.." && exec cargo run --locked --quiet --package xtask -- same-runs "$@"
