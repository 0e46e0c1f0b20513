// Command muster is all of Muster in one binary: the server, and the client and offline tools for people and build
// systems.
//
// This package holds the tree of commands, their short names and the manual. The commands have a package per noun
// below it, on top of cli, which all of them share. Flags, environment and signals are read in these packages and
// passed on as values; nothing else reads them. The client commands use the REST API only; solve, plan and catalog work
// on catalog files and need no server. Package server connects all the parts of a server.
//
// Exit codes are a promise: 0 success, 1 failure, 2 usage error, 3 no layout exists.
package main
