#!/bin/sh
# memory.sh prints a GOGC for builds and tests: 400 if 8 GB of memory are available, since compilers that collect garbage less often
# use a fifth less CPU, and the current setting otherwise.
if [ -n "${GOGC:-}" ]; then
  echo "$GOGC"
elif [ "$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo 2>/dev/null || echo 0)" -ge 8000 ] 2>/dev/null; then
  echo 400
fi
