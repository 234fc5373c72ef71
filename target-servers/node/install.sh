#!/usr/bin/env bash
# Lays a Node target into build/node/NAME: its sources, this folder's host.js, and its pinned packages, whose install
# scripts are not run. Quick and silent when all of that is there already.
#
#   target-servers/node/install.sh NAME...
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

main() {
  (($#)) || fail "name a target: ws-node, graphql-node"
  local program
  for program in node npm; do
    command -v "$program" >/dev/null || fail "$program is missing; run deploy/setup.sh test"
  done
  mkdir -p build/node
  # One at a time: tests that run beside each other may both ask.
  exec 9>build/node/.lock
  flock 9
  local name
  for name in "$@"; do
    install_target "$name"
  done
}

install_target() {
  local from=target-servers/$1 to=build/node/$1 want
  [[ -f $from/package-lock.json ]] || fail "target-servers/ has no Node target '$1'"
  want=$( (cat "$from/package.json" "$from/package-lock.json" && node --version) | sha256sum)
  mkdir -p "$to"
  if [[ ! -f $to/stamp || $(<"$to/stamp") != "$want" ]]; then
    rm -rf "$to" && mkdir -p "$to"
    cp "$from/package.json" "$from/package-lock.json" "$to"
    npm ci --prefix "$to" --ignore-scripts --no-audit --no-fund >>build/setup.log 2>&1 ||
      fail "npm could not install $from (all of it: build/setup.log)"
    printf '%s\n' "$want" >"$to/stamp"
  fi
  # By what they say: a checkout gives older sources a newer time. Moved, for those that start meanwhile.
  local source
  for source in "$from"/*.js target-servers/node/host.js; do
    cmp -s "$source" "$to/${source##*/}" || { cp "$source" "$to/.new" && mv "$to/.new" "$to/${source##*/}"; }
  done
}

fail() {
  echo "node: $1" >&2
  exit 1
}

main "$@"
