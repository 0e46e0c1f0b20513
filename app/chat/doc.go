// Package chat connects chat workspaces with tenants: channels, the people in them, their tokens, cards, and the
// messages that are still to be sent. What a message says is up to package bot. It uses app/cluster, app/identity and
// app/secret.
package chat
