// Package harness opens the use cases of all domains on a store of a test's own, for tests that follow a cluster through them: Bare
// is empty, Harness has accounts and a small catalog, and WithWorker carries out steps as a worker would.
package harness
