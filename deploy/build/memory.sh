#!/bin/sh
# memory.sh prints a GOGC for compiling and testing: 400 where 8 GB of memory are available, since compilers that collect garbage less often
# take a fifth less CPU, and what is set already otherwise.
if [ -n "${GOGC:-}" ]; then
  echo "$GOGC"
elif [ "$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo 2>/dev/null || echo 0)" -ge 8000 ] 2>/dev/null; then
  echo 400
fi
