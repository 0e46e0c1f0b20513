// Package receipt keeps what was requested and seen at providers: intents of machines, resources with their prices, and
// proofs that everything is gone. It uses package cluster. Packages ledger, operation and execution write here in their
// own transactions.
package receipt
