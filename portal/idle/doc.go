// Package idle shows how clusters are used, and lets people keep them when they are idle. It holds pages and REST operations, and uses packages
// page and site only.
package idle
