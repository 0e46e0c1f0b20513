// Package wire has what a server and the programs that call it over HTTP both need: the messages between server,
// workers and provisioners, and which error code a bare HTTP status means. It uses app and app/execution, so that
// either end can import it without the other. Servers and workers of different versions talk to each other: names of
// fields never change, and fields that are added may be missing.
package wire
