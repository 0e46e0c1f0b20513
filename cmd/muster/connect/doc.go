// Package connect has the commands that reach nodes through the server: forwarded ports, a proxy, copied files.
package connect
