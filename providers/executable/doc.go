// Package executable is a provider in a program of its own, which others write and Muster only starts: JSON objects, one a line, go over the
// standard input and output of a process that lives as long as the account is used. docs/providers/executable.md is the protocol.
//
// A call is sent once. Where the program ends before it has answered, or says what cannot be understood, the call ends with ETransient and it is unclear
// whether it had an effect; the caller checks, and asks again. Settings go over standard input alone, and what a program writes is never
// trusted: lines have a longest length, words of errors and of the log are cut, and values of secret settings are taken out of them.
package executable
