// Package cli is what all commands share: the context of a command line with its streams and global flags, the client
// with its settings and profiles, output as tables or JSON, prompts, errors with their exit codes, and the version. It
// knows no command. The packages of commands use it, and package main assembles them.
package cli
