// Package ledgertest has Book, a ledger in memory: what random tests compare the rules with, and stores with the rules.
package ledgertest
