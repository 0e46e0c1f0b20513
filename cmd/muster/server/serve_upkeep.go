package server

import (
	"time"

	"muster/app/operation"
	"muster/cmd/muster/cli"
	"muster/jobs/upkeep"

	"github.com/spf13/cobra"
)

// upkeepConfig says what the server does by itself after a time.
type upkeepConfig struct {
	LeaseGrace time.Duration // 0: a day; see app/operation
	EventsDays int           // 0: forever
	LogsDays   int           // after the operation has ended; 0: forever
}

const (
	defaultEventsDays = 90
	defaultLogsDays   = 30
	mostDays          = 36500
	Day               = 24 * time.Hour
)

func (u *upkeepConfig) declare(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&u.LeaseGrace, "lease-grace", operation.DefaultLeaseGrace,
		"for how `long` a deletion may stay paused after the cluster's lease has ended, before it goes on by itself")
	cmd.Flags().IntVar(&u.EventsDays, "events-days", defaultEventsDays, "for how many `days` the events of clusters are kept; 0: for ever")
	cmd.Flags().IntVar(&u.LogsDays, "logs-days", defaultLogsDays,
		"for how many `days` logs are kept after their operation has ended; 0: for ever")
}

func (u *upkeepConfig) check() error {
	if u.LeaseGrace < time.Minute {
		return cli.Usagef("--lease-grace must be a minute at least, not %s", u.LeaseGrace)
	}
	for flag, days := range map[string]int{"--events-days": u.EventsDays, "--logs-days": u.LogsDays} {
		if days < 0 || days > mostDays {
			return cli.Usagef("%s must be from 0 to %d, not %d", flag, mostDays, days).Hint("0 keeps them for ever.")
		}
	}
	return nil
}

// retention forgets what has been kept for long enough.
func (s *Server) retention() *upkeep.Retention {
	u := s.Upkeep
	return &upkeep.Retention{Store: s.Store, Events: time.Duration(u.EventsDays) * Day, Logs: time.Duration(u.LogsDays) * Day, Log: s.Log, Now: time.Now}
}
