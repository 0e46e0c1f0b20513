// Package wire is what the server and the programs that call it over HTTP both have to know: which code a bare status stands for. It uses app only, so that either
// end can import it without the other.
package wire
