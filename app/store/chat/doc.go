// Package chat keeps chat workspaces, channels, linked people, cards, and messages that are still to be sent. It uses
// package identity for accounts.
package chat
