// Package generic understands JSON in Muster's own words, for every build system that can run a script: docs/build-systems.md tells its
// fields, and deploy/ci-examples/muster-build.sh sends it.
package generic
