// Package doctor holds `muster doctor`: it checks the settings and the host of a server before it starts or while it
// runs. It uses the settings of server and opens what they name.
package doctor
