// Retest runs `go test` for the gate: retest [flags of go test] packages. A test that fails is run again alone, twice; where it passes both
// times, the run passes and prints it as FLAKY with its first output. So a red gate means a broken change, and no flaky test goes unseen.
// More than three failed tests, a package that does not build and one that crashes are never tried again.
//
// gotestsum's --rerun-fails is close, but takes one pass for enough.
package main
