#!/usr/bin/env bash
# Fuzzes every target for a share of SECONDS (the first argument), guided by coverage, and prints what was run.
# Without a nightly toolchain or cargo-fuzz it runs the same checks on more mutations than `make test` does, or with
# `--or-skip` as the second argument, says so and does nothing. `make fuzz` calls it.
set -euo pipefail
cd "$(dirname "$0")/.."

budget=${1:-}
case "$budget" in
'' | *[!0-9]*)
  echo "fuzz: how many seconds? it was given '$budget'" >&2
  exit 2
  ;;
esac
targets=(trace archive drive job profile request snapshot)

missing=""
cargo +nightly --version >/dev/null 2>&1 || missing="a nightly toolchain (rustup toolchain install nightly)"
cargo fuzz --version >/dev/null 2>&1 || missing="${missing:+$missing and }cargo-fuzz (cargo install cargo-fuzz --locked)"
if [ -n "$missing" ] && [ "${2:-}" = --or-skip ]; then
  echo "fuzzers skipped: not here: $missing; the tests of ninescope-fuzzing ran the same checks"
  exit 0
fi
if [ -n "$missing" ]; then
  echo "no coverage-guided fuzzing: not here: $missing; trying mutations without guidance"
  # Some 300 of each target in a second.
  NINESCOPE_FUZZ_CASES=$((budget * 300)) cargo test -p ninescope-fuzzing --locked
  exit
fi

echo "building the fuzzers"
# No sanitizer: the only unsafe code is the kernel's, which `make unsafe` looks at.
cargo +nightly fuzz build --sanitizer none >/dev/null
share=$((budget / ${#targets[@]}))
failed=0
for target in "${targets[@]}"; do
  found=out/fuzzing/corpus/$target
  mkdir -p "$found"
  seeds=("fuzz/corpus/$target")
  [ -d "fuzz/regressions/$target" ] && seeds+=("fuzz/regressions/$target")
  log=out/fuzzing/$target.log
  # A check holds small drives only: what takes half a minute or 2 GiB does not end.
  if cargo +nightly fuzz run --sanitizer none "$target" "$found" "${seeds[@]}" -- \
    -max_total_time=$((share > 0 ? share : 1)) -max_len=4096 -timeout=30 -rss_limit_mb=2048 -print_final_stats=1 \
    >"$log" 2>&1; then
    covered=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    printf '%-8s %5s s %9s executions %6s edges\n' "$target" "$share" "$runs" "$covered"
  else
    tail -40 "$log"
    echo "$target failed; the log is $log, the input in fuzz/artifacts/$target"
    failed=1
  fi
done
exit $failed
