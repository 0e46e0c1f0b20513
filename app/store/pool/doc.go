// Package pool keeps pools of machines. It uses package operation, since a machine of a pool is created and deleted as a
// cluster is. Package ledger notes in its own transactions what happens to those machines.
package pool
