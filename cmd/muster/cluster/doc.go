// Package cluster holds `muster cluster`, `muster queue`, `muster manual-steps` and `muster top`. It also waits for
// operations and shows their progress, for other commands too. It uses cli and the REST API only.
package cluster
