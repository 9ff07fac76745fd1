#!/usr/bin/env bash
# Runs the tests of the one crate with unsafe code (the kernel) under whatever of miri, valgrind and the address
# sanitizer is here, and says what is not. `make unsafe` calls it.
set -euo pipefail
if [ $# -gt 0 ]; then
  echo "unsafe: takes no arguments, and was given $*" >&2
  exit 2
fi
cd "$(dirname "$0")/.."

host=$(rustc -vV | sed -n 's/^host: //p')
target_dir=${CARGO_TARGET_DIR:-target}/unsafe
missing=()
# Each of these tools gives memory in its own way, and touches all of it: what the system gives lazily is no matter of theirs.
not_theirs=(--skip memory_of_a_table_of_nothing_is_not_touched)

has_nightly() { cargo +nightly --version >/dev/null 2>&1; }

if has_nightly && cargo +nightly miri --version >/dev/null 2>&1; then
  echo "== miri"
  cargo +nightly miri test --target-dir "$target_dir/miri" -p ninescope-kernel --locked -- "${not_theirs[@]}"
else
  missing+=("miri (rustup +nightly component add miri)")
fi

if command -v valgrind >/dev/null; then
  echo "== valgrind"
  runner="CARGO_TARGET_$(echo "$host" | tr 'a-z-' 'A-Z_')_RUNNER"
  # Leaks are not looked for: the test harness itself leaves its threads behind.
  env "$runner=valgrind --quiet --error-exitcode=9" \
    cargo test --target-dir "$target_dir/valgrind" --target "$host" -p ninescope-kernel --locked --quiet --tests -- \
    "${not_theirs[@]}"
else
  missing+=("valgrind (apt-get install valgrind)")
fi

sanitizer="$(rustc +nightly --print sysroot 2>/dev/null || true)/lib/rustlib/$host/lib/librustc-nightly_rt.asan.a"
if has_nightly && [ -e "$sanitizer" ]; then
  echo "== address sanitizer"
  RUSTFLAGS=-Zsanitizer=address \
    cargo +nightly test --target-dir "$target_dir/asan" --target "$host" -p ninescope-kernel --locked --quiet --tests -- \
      "${not_theirs[@]}"
else
  missing+=("the address sanitizer (rustup toolchain install nightly)")
fi

for tool in "${missing[@]}"; do
  echo "not here: $tool"
done
if [ "${#missing[@]}" -eq 3 ]; then
  echo "nothing was checked"
fi
