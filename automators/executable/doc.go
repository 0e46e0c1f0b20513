// Package executable is an automator in a program of its own, which others write and Muster only starts: JSON objects, one a line, go over the
// standard input and output
// of a process. docs/automators/executable.md is the protocol.
//
// The program never reaches a node by itself, and never sees a key: it asks Muster to run commands there and to put files there, for as long as it
// carries out an
// action. A process does one thing at a time; one that has done with it well is used again. Configuration and fields, which may hold secrets, go over standard
// input alone, and what the program writes is never trusted: lines have a longest length, names and texts are checked and cut, and a program that
// does not keep to
// the protocol is ended.
package executable
