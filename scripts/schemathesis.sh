#!/bin/sh
# Lets schemathesis (PyPI) call everything that the description describes, in all its phases, on a stack of its own.
#   scripts/schemathesis.sh [arguments of `st run`, for example --max-examples 200]
# Needs `st` on the PATH or in SCHEMATHESIS. Fails on any server error and on any answer that is not as described.
set -eu
cd "$(dirname "$0")/.."
st=${SCHEMATHESIS:-st}
folder=$(mktemp -d)
token=schemathesis-token-of-a-stack-that-nobody-else-has

# Far more requests a second than a person makes: the limit has tests of its own.
SECONDWIND_TOKEN=$token SECONDWIND_DATA_DIR=$folder/data SECONDWIND_RATE_LIMIT=100000 \
  node --import tsx src/cli/main.ts dev --no-demo --port 0 --json >"$folder/ready" 2>"$folder/log" &
stack=$!
finish() {
  kill "$stack" 2>/dev/null || true
  wait "$stack" 2>/dev/null || true
  rm -rf "$folder"
}
trap finish EXIT INT TERM

until url=$(sed -n 's/.*"event":"ready","url":"\([^"]*\)".*/\1/p' "$folder/ready") && [ -n "$url" ]; do
  kill -0 "$stack" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
  sleep 1
done

settings=$(pwd)/scripts/schemathesis.toml
# It keeps a folder of its own where it stands.
cd "$folder"
"$st" --config-file "$settings" run "$url/openapi.json" \
  --header "Authorization: Bearer $token" \
  --phases examples,coverage,fuzzing,stateful \
  --checks all \
  --request-timeout 45 \
  --workers 2 \
  --continue-on-failure \
  --generation-database none \
  --no-color \
  "$@"
