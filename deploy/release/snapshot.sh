#!/bin/sh
# snapshot.sh: a release in bin/release, unsigned and unpublished. Images are built if a Docker Engine and buildx are available.
set -eu
cd "$(dirname "$0")/../.."
skip=sign # needs the identity of the build system
if docker buildx version >/dev/null 2>&1 && docker info >/dev/null 2>&1; then
  # Nothing is pulled: the program runs on an empty image.
  export MUSTER_IMAGE_BASE=scratch
else
  echo "No Docker Engine with buildx: building no images." >&2
  skip=$skip,docker
fi
# GoReleaser reads the repository's address from git, which a copy without a remote doesn't know.
if [ -z "$(git remote)" ]; then
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0="https://github.com/${GITHUB_REPOSITORY:-example/muster}"
fi
goreleaser check # also fails for options that are deprecated
exec goreleaser release --snapshot --clean --skip="$skip"
