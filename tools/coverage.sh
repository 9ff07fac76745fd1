#!/usr/bin/env bash
# Line coverage of the Rust tests, by crate and by file, as text in out/coverage. `make coverage` calls it.
#
# The profile's format goes with the compiler's LLVM: the tools of the toolchain are taken (rustup component add
# llvm-tools), or the system's of the same major version (apt-get install llvm-22 for LLVM 22).
set -euo pipefail
if [ $# -gt 0 ]; then
  echo "coverage: takes no arguments, and was given $*" >&2
  exit 2
fi
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
major=$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
out=out/coverage
target_dir=${CARGO_TARGET_DIR:-target}/coverage

# The path of a tool that reads this compiler's profiles.
tool() {
  local own
  own="$(rustc --print sysroot)/lib/rustlib/$host/bin/$1"
  for candidate in "$own" "$1-$major" "$1"; do
    if command -v "$candidate" >/dev/null && "$candidate" --version 2>/dev/null | grep -q "version $major\."; then
      echo "$candidate"
      return
    fi
  done
  if [ "$1" = llvm-profdata ]; then
    # Some versions do not say which they are.
    command -v "$own" || command -v "$1-$major" || true
  fi
}

profdata=$(tool llvm-profdata)
cov=$(tool llvm-cov)
if [ -z "$profdata" ] || [ -z "$cov" ]; then
  echo "no coverage: llvm-profdata and llvm-cov of LLVM $major are needed (rustup component add llvm-tools, or" \
    "apt-get install llvm-$major)"
  exit 0
fi

rm -rf "$out"
mkdir -p "$out"
profiles=$(mktemp -d)
trap 'rm -rf "$profiles"' EXIT
export CARGO_TARGET_DIR=$target_dir RUSTFLAGS="-C instrument-coverage" LLVM_PROFILE_FILE="$profiles/%p-%8m.profraw"

echo "== building and running the tests with counters"
cargo test --workspace --locked --quiet --tests >"$out/tests.txt" 2>&1 || { tail -40 "$out/tests.txt"; exit 1; }
mapfile -t programs < <(cargo test --workspace --locked --tests --no-run 2>&1 | sed -n 's/^ *Executable .*(\(.*\))$/\1/p')
objects=()
for program in "${programs[@]}"; do
  objects+=(--object "$program")
done

"$profdata" merge --sparse "$profiles"/*.profraw --output "$profiles/all.profdata"
"$cov" export --summary-only --format=text --instr-profile "$profiles/all.profdata" "${objects[@]}" 2>"$out/warnings.txt" \
  >"$profiles/summary.json"
python3 tools/coverage_table.py "$profiles/summary.json" "$out"
