// Command chaos kills, freezes, cuts off and starves a running Muster while people create, cancel, pause, resume, roll back
// and delete clusters, and then counts what was lost: machines, operations, effects. All of it follows from a seed, which
// is printed and can be given again.
//
// What is tried is the real binary, with a real Redis. The world outside lives in this process, which Muster's death does
// not touch: a fake cloud reached over HTTP, whose machines are SSH servers that run what they are asked for in a directory
// of their own. Every script of every service adds a line to a file there, which is not harmless to do twice.
//
// It runs on Unix and needs redis-server; a full disk is tried where it may mount one. It ends with 1 where anything was
// lost, leaked or done twice, and leaves what it saw in a directory that it names.
package main
