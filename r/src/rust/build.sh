# Builds the static library beside the Makevars. Called in the folder of the Makevars.
#
# ORTHOPT_PROFILE      a profile of cargo (release)
# ORTHOPT_CARGO_FLAGS  further options of `cargo build`
# ORTHOPT_MANIFEST     another Cargo.toml of this crate (rust/Cargo.toml)
# CARGO_TARGET_DIR     where cargo builds (rust/target)
# CARGO                another cargo
set -eu
PATH="$PATH:${HOME:-}/.cargo/bin"
cargo="${CARGO:-cargo}"
if ! command -v "$cargo" >/dev/null; then
  echo "orthopt needs cargo and rustc >= 1.89: install Rust and try again" >&2
  exit 1
fi
profile="${ORTHOPT_PROFILE:-release}"
target="${CARGO_TARGET_DIR:-$PWD/rust/target}"
# a released package has the crates that it needs in it
if [ -f rust/vendor.tar.xz ]; then
  tar -xJf rust/vendor.tar.xz -C rust
  set -- --offline --config 'source.crates-io.replace-with="vendor"' --config "source.vendor.directory=\"$PWD/rust/vendor\""
fi
# shellcheck disable=SC2086 # several options
"$cargo" build "$@" --lib --features r --profile "$profile" --manifest-path "${ORTHOPT_MANIFEST:-rust/Cargo.toml}" \
  --target-dir "$target" ${ORTHOPT_CARGO_FLAGS:-}
folder="$profile"
[ "$profile" = dev ] && folder=debug
cp "$target/$folder/liborthopt_r.a" .
