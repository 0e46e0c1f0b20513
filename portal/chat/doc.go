// Package chat holds the pages and REST operations that connect chat workspaces to a tenant. It uses packages page and site only.
package chat
