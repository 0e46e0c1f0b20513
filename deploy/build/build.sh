#!/bin/sh
# build.sh FILE [FLAG...]: compiles ./cmd/muster to FILE and shows its progress, since the first build takes minutes. Flags are go build's.
# GO names another go command.
set -eu
cd "$(dirname "$0")/../.."
go=${GO:-go}
need=$(sed -n 's/^go \([0-9]*\.[0-9]*\).*/\1/p' go.mod)
if ! command -v "$go" >/dev/null 2>&1; then
  echo "Muster needs Go $need or newer, but the \"$go\" command doesn't exist. Install it from https://go.dev/dl/, or set GO to its path." >&2
  exit 1
fi
have=$(GOTOOLCHAIN=local "$go" env GOVERSION 2>/dev/null | sed -n 's/^go\([0-9]*\.[0-9]*\).*/\1/p')
if [ -n "$have" ] && [ "${have%%.*}" -eq "${need%%.*}" ] && [ "${have#*.}" -lt "${need#*.}" ] && [ "$("$go" env GOTOOLCHAIN 2>/dev/null)" = local ]; then
  echo "Muster needs Go $need or newer, but $go is $have. Install a newer one from https://go.dev/dl/, or run \"$go env -w GOTOOLCHAIN=auto\" to let Go download it." >&2
  exit 1
fi
out=$1
shift
mkdir -p "$(dirname "$out")"
# What isn't compiled yet. This also downloads missing modules, which Go reports itself.
total=$("$go" list -deps -f '{{if .Stale}}{{.ImportPath}}{{end}}' "$@" ./cmd/muster | grep -c . || true)
if [ "$total" -lt 25 ]; then
  exec "$go" build -o "$out" "$@" ./cmd/muster
fi
# With enough memory, compilers collect no garbage below a limit, which saves a fifth of their time, and their many small files aren't written to a disk.
available=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo 2>/dev/null || true)
each=$((${available:-0} / ($(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 8) + 1))) # MiB
if [ -z "${GOGC:-}" ] && [ "$each" -ge 2000 ]; then
  [ "$each" -le 4000 ] || each=4000
  export GOGC=off GOMEMLIMIT="${each}MiB"
fi
scratch=
if [ -z "${GOTMPDIR:-}${TMPDIR:-}" ] && [ "${available:-0}" -ge 8000 ] && [ -w /dev/shm ] && [ "$(df -Pm /dev/shm | awk 'NR == 2 {print $4}')" -ge 2000 ]; then
  scratch=$(mktemp -d -p /dev/shm)
  export GOTMPDIR="$scratch"
fi
wait='half a minute'
[ "$total" -lt 150 ] || wait='a minute or two'
[ "$total" -lt 450 ] || wait='2 to 3 minutes with two cores; the next time takes seconds'
echo "Compiling $total packages, about $wait." >&2
# go build -v prints each package to stderr as it starts. Its other output is shown unchanged.
trap 'rm -rf "$out.failed" ${scratch:+"$scratch"}' EXIT
{ "$go" build -v -o "$out" "$@" ./cmd/muster 2>&1 || touch "$out.failed"; } | {
  done=0 tty='' end=''
  if [ -t 2 ]; then tty=1; fi
  while IFS= read -r line; do
    case $line in
      *" "* | "" | "#"*)
        printf '%s%s\n' "$end" "$line" >&2
        end=''
        continue
        ;;
    esac
    done=$((done + 1))
    if [ -n "$tty" ]; then
      printf '\r  %d of %d  %-60.60s' "$done" "$total" "$line" >&2
      end='
'
    elif [ $((done % 100)) -eq 0 ]; then
      echo "  $done of $total" >&2
    fi
  done
  if [ -n "$tty" ]; then printf '\r%-80s\r' '' >&2; fi
}
[ ! -e "$out.failed" ]
