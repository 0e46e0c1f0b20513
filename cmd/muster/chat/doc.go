// Package chat holds `muster slack`: how workspaces and people of a chat are linked with Muster.
//
// It uses cli, and asks a server over the REST API alone.
package chat
