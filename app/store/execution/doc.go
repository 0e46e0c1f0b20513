// Package execution keeps the steps of operations as workers carry them out: claims, finishes, sweeps, dispatches, manual
// steps, what nodes reported, and what waits. It uses package ledger for what a finished step changes.
package execution
