#!/bin/sh
# pages.sh VERSION: writes man pages and shell completions to bin/pages, for archives and packages.
set -eu
cd "$(dirname "$0")/../.."
rm -rf bin/pages
mkdir -p bin/pages/completions
go build -ldflags "-s -w -X muster/cmd/muster/cli.Version=$1" -o bin/pages/muster ./cmd/muster
bin/pages/muster man bin/pages/man
bin/pages/muster completion bash >bin/pages/completions/muster.bash
bin/pages/muster completion zsh >bin/pages/completions/_muster
bin/pages/muster completion fish >bin/pages/completions/muster.fish
rm bin/pages/muster
