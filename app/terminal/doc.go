// Package terminal opens terminals on nodes for people in browsers: who may, what is recorded, how a terminal outlives a lost connection, and when
// it ends. A terminal is an SSH session between this server and the node, signed in with a certificate that is valid for minutes. Where the node has
// tmux, the session also outlives the server: another connection, also of another server, continues it.
package terminal
