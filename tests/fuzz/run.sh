#!/usr/bin/env bash
# Gives each libFuzzer program in BIN some SECONDS, from the seeds in the repository and what earlier runs found.
#   tests/fuzz/run.sh BIN SECONDS [NAME]...     default: all
# A finding is left as build/fuzz/crash-<hash>; replay it with: BIN/NAME build/fuzz/crash-<hash>
set -euo pipefail
bin=$1
seconds=$2
shift 2
programs=("$bin"/*_fuzz)
(($# == 0)) || programs=("${@/#/$bin/}")

for program in "${programs[@]}"; do
  name=${program##*/}
  found=build/fuzz/corpus/${name%_fuzz}
  seeds=tests/fuzz/corpus/${name%_fuzz}
  mkdir -p "$found"
  folders=("$found")
  [[ ! -d $seeds ]] || folders+=("$seeds")
  echo "$name: $seconds s"
  "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix=build/fuzz/ "${folders[@]}" 2>&1 | grep -vE '^#[0-9]+\s+(REDUCE|NEW|pulse|RELOAD)' ||
    [[ ${PIPESTATUS[0]} == 0 ]]
done
