// Command muster is the whole of Muster in one binary: the server that runs clusters, and the client and the offline
// tools for people and build systems.
//
// This package only introduces the others to each other. It reads flags, environment and signals, and passes them on as
// plain values; nothing else reads them. The client commands speak the REST API and nothing more; solve, plan and
// catalog work on catalog files alone and need no server.
//
// Exit codes are a promise: 0 done, 1 failed, 2 wrong usage, 3 no layout exists.
package main
