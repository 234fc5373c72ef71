#!/usr/bin/env bash
# Runs every benchmark program in BIN, after the facts without which its figures mean nothing.
#   tests/benchmark/run.sh BIN [option of Google Benchmark]...
set -euo pipefail
bin=$1
shift

echo "machine    $(sed -n 's/^model name\s*: //p;' /proc/cpuinfo | sort | uniq -c | sed 's/^ *//;s/ / x /')"
echo "memory     $(awk '/^MemTotal/ {printf "%.1f GiB", $2 / 1048576}' /proc/meminfo)"
echo "kernel     $(uname -sr)"
echo "governor   $(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null || echo "not told")"
echo "compiler   $(g++ --version | head -n 1)"
echo "commit     $(git describe --always --dirty 2>/dev/null || echo unknown)"
echo "load       $(cut -d ' ' -f 1-3 /proc/loadavg) before the first"

for program in "$bin"/*_benchmark; do
  echo
  "$program" "$@"
done
