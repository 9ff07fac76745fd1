#!/usr/bin/env bash
# Checks licences, sources and duplicates of every dependency, those of the fuzzers too. `make deny` calls it.
# Advisories are not checked here: their database is on the network, and a run must not depend on that.
set -euo pipefail
if [ $# -gt 0 ]; then
  echo "deny: takes no arguments, and was given $*" >&2
  exit 2
fi
cd "$(dirname "$0")/.."

if ! command -v cargo-deny >/dev/null; then
  echo "licences, sources and duplicates not checked: cargo-deny is not here (cargo install cargo-deny --locked)"
  exit 0
fi
for manifest in Cargo.toml fuzz/Cargo.toml; do
  echo "$manifest"
  cargo deny --locked --manifest-path "$manifest" --config deny.toml check bans licenses sources
done
