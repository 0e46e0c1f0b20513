package main

import (
	"time"

	"github.com/spf13/cobra"

	"muster/app"
)

// upkeepConfig says what the server does by itself after a time.
type upkeepConfig struct {
	LeaseGrace time.Duration // 0: a day; see app.Deps
}

func (u *upkeepConfig) declare(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&u.LeaseGrace, "lease-grace", app.DefaultLeaseGrace,
		"for how `long` a deletion may stay paused after the cluster's lease has ended, before it goes on by itself")
}

func (u *upkeepConfig) check() error {
	if u.LeaseGrace < time.Minute {
		return usagef("--lease-grace must be a minute at least, not %s", u.LeaseGrace)
	}
	return nil
}
