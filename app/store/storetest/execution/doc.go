// Package execution has the cases of every store about steps and those who carry them out: claims, fences, facts, questions, reports and
// waiting, with random runs that are compared with the ledger's rules. It uses kit.
package execution
