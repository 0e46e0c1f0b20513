// Package conformance is the suite that every member of the providers family passes: what it checks is what family.Provider promises. It asks of who runs it no
// more than T does, so that it runs in a test (see providers/providertest) as well as in a program, where Prove runs it against an account as it is.
package conformance
