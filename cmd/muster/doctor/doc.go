// Package doctor holds `muster doctor`: it checks what a server on this host would run with, before it starts or beside it.
//
// It uses the settings of server, and opens what they name.
package doctor
