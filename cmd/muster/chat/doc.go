// Package chat holds `muster slack`: linking the workspaces and people of a chat with Muster. It uses cli and the REST
// API only.
package chat
