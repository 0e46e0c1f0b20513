//go:build !real && linux

package main

import "context"

// measureServers needs a PostgreSQL, which only builds with the tag real start.
func measureServers(_ context.Context, b *bench) error {
	b.leftOut("engine: several servers", "it needs -tags real")
	return nil
}
