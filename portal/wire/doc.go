// Package wire is what the server and the programs that call it over HTTP both have to know: what workers and provisioners and the server write to each other, and which
// code a bare status stands for. It uses app only, so that either end can import it without the other. Servers and workers of different versions talk to each other: the
// names of fields stay, and what is added may be missing.
package wire
