#!/usr/bin/env bash
# Builds the binding again, guided by what runs of it do most: `make guided`. Compiles everything twice, some minutes.
# Results do not change, which the digests of the runs before and after show. Needs llvm-profdata, which rustup has.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then
  echo "guided: takes no arguments, and was given $*" >&2
  exit 2
fi
if [ ! -x .venv/bin/maturin ]; then
  echo "guided: .venv/bin/maturin is missing (make guided sets it up)" >&2
  exit 2
fi
host=$(rustc -vV | sed -n 's/^host: //p')
profdata=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
if [ ! -x "$profdata" ]; then
  echo "guided: llvm-profdata is missing (rustup component add llvm-tools)" >&2
  exit 2
fi
folder=$PWD/target/guided
rm -rf "$folder/raw" && mkdir -p "$folder"

build() { # flags of the compiler
  PATH="$PWD/.venv/bin:$PATH" VIRTUAL_ENV="$PWD/.venv" PIP_QUIET=1 CARGO_TARGET_DIR="$folder" RUSTFLAGS="$1" \
    .venv/bin/maturin develop --release --locked --quiet
}
# What is done most, of every kind of drive; the digests of all of it.
runs() {
  local run=".venv/bin/ninescope run --json"
  $run examples/traces/pgbench.csv.zst --drive examples/drives/demo.toml --prefill steady-uniform
  for job in '--rw randread --iodepth 32' '--rw randrw --rwmixread 70 --iodepth 16' '--rw write --bs 64k --iodepth 8'; do
    $run $job --size 1g --requests 200000 --prefill full
  done
  for drive in hybrid-wo multi-scm ssr-dynamic hybrid-ecc; do
    $run --rw randrw --rwmixread 50 --iodepth 16 --size 256m --requests 50000 --drive "$drive"
  done
}
digests() { grep -o '"digest": "[0-9a-f]*"'; }

echo "building with counters"
build "-Cprofile-generate=$folder/raw"
counted=$(LLVM_PROFILE_FILE="$folder/raw/%p-%m.profraw" runs | digests)
"$profdata" merge -o "$folder/ninescope.profdata" "$folder/raw"
echo "building by what was counted"
build "-Cprofile-use=$folder/ninescope.profdata"
if [ "$(runs | digests)" != "$counted" ]; then
  echo "guided: the digests are not those of the build with counters" >&2
  exit 1
fi
touch .venv/stamps/native
