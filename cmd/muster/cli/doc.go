// Package cli is what all commands of muster share: the context of one command line with its streams and global flags, the client of the
// server with its settings and profiles, output as tables or JSON, questions to people, errors with their exit codes, and the version.
//
// It knows no command. Packages of commands use it and build on it; package main assembles them.
package cli
