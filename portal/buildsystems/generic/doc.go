// Package generic reads JSON in a form of Muster's own, for every build system that can run a script:
// docs/build-systems.md describes its fields, and deploy/ci-examples/muster-build.sh sends it.
package generic
