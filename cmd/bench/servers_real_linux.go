//go:build real && linux

package main

import (
	"context"
	"fmt"

	"muster/app/apptest"
)

// measureServers has one, two and three servers with a share of a processor each, on one PostgreSQL and one Redis, do the same work.
func measureServers(ctx context.Context, b *bench) error {
	p, err := apptest.StartPostgres()
	if err != nil {
		return err
	}
	defer func() { _ = p.Close() }()
	var alone float64
	for n := 1; n <= 3; n++ {
		name := fmt.Sprintf("servers%d", n)
		if err := p.Make(name, ""); err != nil {
			return err
		}
		s, err := fewServers(ctx, p.URL(name), n, b.shared, b.each)
		if err != nil {
			return err
		}
		if n == 1 {
			alone = s["rate"]
		}
		limit, of := 0.0, ""
		if n == 3 && b.limits {
			limit = 0.5
		}
		if n > 1 {
			of = fmt.Sprintf("one server: %s", digits(alone))
		}
		b.value(fmt.Sprintf("%d servers with a quarter of a processor each on PostgreSQL: steps", n), s["rate"], "/s", 0, of)
		b.value("  CPU of a step in the servers", s["cpu"], "us", 0, "and "+digits(s["postgres"])+" us in PostgreSQL, of what didn't start or end meanwhile")
		if n > 1 {
			b.value("  time beside one server", alone/s["rate"], "x", limit, "")
		}
	}
	return nil
}
