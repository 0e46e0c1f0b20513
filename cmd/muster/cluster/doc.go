// Package cluster holds the commands on clusters: create, show, update, delete, access and all else below `muster cluster`, with
// `muster queue`, `muster questions` and `muster top`. It waits for operations and draws their progress, also for other commands.
//
// It uses cli, and asks a server over the REST API alone.
package cluster
