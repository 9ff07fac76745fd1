#!/usr/bin/env bash
# Shows what `--check off` costs: instructions per request of the device as it is, and of a copy of the sources in
# which no event is ever told. Needs valgrind. Takes some minutes.
set -euo pipefail
if [ $# -gt 0 ]; then
  echo "probe_cost: takes no arguments, and was given $*" >&2
  exit 2
fi
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "probe_cost: valgrind is not here" >&2; exit 2; }

copy=target/unobserved/source
mkdir -p "$copy"
rm -rf "${copy:?}/crates"
cp -r Cargo.toml Cargo.lock presets crates "$copy"/
sed -i 's/        if K::ACTIVE {/        if false {/' "$copy/crates/engine/src/probe.rs"
if cmp -s crates/engine/src/probe.rs "$copy/crates/engine/src/probe.rs"; then
  echo "probe_cost: the place where events are told has changed; mend this script" >&2
  exit 2
fi

build() { # folder of the sources, folder of the build
  (cd "$1" && CARGO_TARGET_DIR="$OLDPWD/$2" cargo build --release --quiet --locked -p ninescope --example one_job)
}
count() { # program, pattern, requests
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" "$3" 2>&1 | sed -n 's/.*Collected : //p'
}
build . target
build "$copy" target/unobserved/build
printf '%-10s %14s %14s\n' 'per request' 'as it is' 'no events'
for pattern in randread randrw; do
  figures=()
  for program in target/release/examples/one_job target/unobserved/build/release/examples/one_job; do
    few=$(count "$program" "$pattern" 20000)
    many=$(count "$program" "$pattern" 120000)
    figures+=("$(((many - few) / 1000))")
  done
  # Hundredths of an instruction per request.
  printf '%-10s %12s.%s %12s.%s\n' "$pattern" "$((figures[0] / 100))" "$(printf %02d $((figures[0] % 100)))" \
    "$((figures[1] / 100))" "$(printf %02d $((figures[1] % 100)))"
done
