// Package chat serves chat workspaces and their channels.
// It uses app/cluster, app/identity and app/secret.
package chat
