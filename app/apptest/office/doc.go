// Package office opens the use cases of all domains on a store of a test's own, for tests that follow a cluster through them: Plain
// is empty, Bureau has accounts and a small catalog, and Farm carries out steps as a worker would.
package office
