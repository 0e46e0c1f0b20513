// Command muster is the whole of Muster in one binary: the server that runs clusters, and the client and the offline
// tools for people and build systems.
//
// This package holds the tree of commands, their short names and the manual; the commands themselves are in a package per noun below
// it, on top of cli, which all of them share. Flags, environment and signals are read here and there, and passed on as plain values;
// nothing else reads them. The client commands speak the REST API and nothing more; solve, plan and catalog work on catalog files
// alone and need no server. Package server wires the server from all the others.
//
// Exit codes are a promise: 0 done, 1 failed, 2 wrong usage, 3 no layout exists.
package main
