#!/usr/bin/env bash
# Installs what this checkout needs on Debian 12, and says nothing when nothing is missing.
#
#   deploy/setup.sh [build] [test] [lint] [fuzz] [peers]     default: all but peers
#
#   build   compiler, CMake and the libraries: `make build`, `make demo`
#   test    Prometheus, tools for the network, the Python tests' environment in build/venv, Node targets in build/node
#   lint    clang-format, clang-tidy, shellcheck
#   fuzz    clang with libFuzzer
#   peers   load generators that `make bench-peers` measures beside Onrush
#
# Safe to repeat. Needs root only when a Debian package is missing, and then asks sudo for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# libcurl, civetweb, c-ares and abseil come as dependencies of the -dev packages that name them.
build_packages=(
  g++ make cmake ninja-build ccache pkg-config python3 ca-certificates
  libgrpc++-dev protobuf-compiler protobuf-compiler-grpc libprotobuf-dev
  libboost-dev libspdlog-dev libfmt-dev prometheus-cpp-dev libyaml-cpp-dev libcli11-dev nlohmann-json3-dev
  libsimdjson-dev libre2-dev libssl-dev zlib1g-dev libgtest-dev libgmock-dev libbenchmark-dev
)
# iproute2 lays the networks of several hosts, and its ss tells what listens.
test_packages=(python3-venv prometheus iproute2 procps git)
lint_packages=(clang clang-format clang-tidy shellcheck git)
# llvm has the symbolizer that makes a finding readable.
fuzz_packages=(clang libclang-rt-14-dev llvm)
# Locust and Artillery come from PyPI and npm: tests/benchmark/peers.sh.
peers_packages=(tsung python3-venv)

venv=build/venv
requirements=tests/requirements.txt

main() {
  local groups=("$@") packages=() group
  (($#)) || groups=(build test lint fuzz)
  for group in "${groups[@]}"; do
    case $group in
      build) packages+=("${build_packages[@]}") ;;
      test) packages+=("${test_packages[@]}") ;;
      lint) packages+=("${lint_packages[@]}") ;;
      fuzz) packages+=("${fuzz_packages[@]}") ;;
      peers) packages+=("${peers_packages[@]}") ;;
      *) fail "unknown group '$group'; there are: build, test, lint, fuzz, peers" 2 ;;
    esac
  done
  # A Node that came otherwise, with its npm, is as good as Debian's.
  if [[ " ${groups[*]} " == *" test "* ]] && ! { command -v node && command -v npm; } >/dev/null; then
    packages+=(nodejs npm)
  fi
  install_packages "${packages[@]}"
  if [[ " ${groups[*]} " == *" test "* ]]; then
    install_python
    target-servers/node/install.sh ws-node graphql-node
  fi
}

install_packages() {
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  mapfile -t missing < <(printf '%s\n' "${missing[@]}" | sort -u)

  local as_root=()
  if ((EUID)); then
    command -v sudo >/dev/null || fail "as root, run: apt-get install --no-install-recommends ${missing[*]}"
    as_root=(sudo)
  fi
  command -v apt-get >/dev/null || fail "this is no Debian; install by your own means: ${missing[*]}"
  echo "setup: installing ${missing[*]}"
  # An unreachable source that we do not need must not stop us; what is really missing fails in the next line.
  logged "${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 -qq update || true
  with_services_held_back "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -o DPkg::Lock::Timeout=300 -qq -y install --no-install-recommends "${missing[@]}" ||
    fail_with_log "apt-get could not install them"
}

is_installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Debian starts a service as soon as its package is installed. The tests start their own Prometheus, so nothing
# may be left running, nor start at the next boot, only because somebody ran `make test`.
with_services_held_back() {
  local policy=/usr/sbin/policy-rc.d held_back="" had_prometheus="" status=0
  local as_root=()
  [[ $1 == sudo ]] && as_root=(sudo)
  is_installed prometheus && had_prometheus=yes
  if [[ ! -e $policy ]]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
    held_back=yes
    # The names are wanted as they are now: both are local to this function.
    # shellcheck disable=SC2064
    trap "${as_root[*]} rm -f $policy" EXIT
  fi
  logged "$@" || status=$?
  if [[ -z $had_prometheus ]] && is_installed prometheus && command -v systemctl >/dev/null; then
    logged "${as_root[@]}" systemctl disable prometheus || true
  fi
  if [[ -n $held_back ]]; then
    "${as_root[@]}" rm -f "$policy"
    trap - EXIT
  fi
  return "$status"
}

# The environment is as good as the lines it was made from: its stamp holds their hash and the interpreter's version.
install_python() {
  local want
  want=$( (cat "$requirements" && /usr/bin/python3 --version) | sha256sum)
  [[ -f $venv/stamp && $(<"$venv/stamp") == "$want" ]] && return 0
  echo "setup: making $venv from $requirements"
  rm -rf "$venv"
  mkdir -p build
  logged /usr/bin/python3 -m venv "$venv" || fail_with_log "python3 -m venv failed"
  logged "$venv/bin/pip" install --disable-pip-version-check --require-hashes --only-binary :all: \
    -r "$requirements" || fail_with_log "pip could not install $requirements"
  printf '%s\n' "$want" >"$venv/stamp"
}

logged() {
  mkdir -p build
  "$@" >>build/setup.log 2>&1
}

fail() {
  echo "setup: $1" >&2
  exit "${2:-1}"
}

fail_with_log() {
  tail -n 20 build/setup.log >&2
  fail "$1 (all of it: build/setup.log)"
}

main "$@"
