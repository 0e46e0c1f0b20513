package server

import (
	"time"

	"muster/app/humanize"
	"muster/app/lease"
	"muster/cmd/muster/cli"
	"muster/jobs/upkeep"

	"github.com/spf13/cobra"
)

// upkeepConfig is the server's automatic cleanup.
type upkeepConfig struct {
	LeaseGrace time.Duration // 0: a day; see app/operation
	EventsDays int           // 0: forever
	LogsDays   int           // after the operation has ended; 0: forever
}

const (
	defaultEventsDays = 90
	defaultLogsDays   = 30
	maxDays           = 36500
	Day               = 24 * time.Hour
)

func (u *upkeepConfig) declare(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&u.LeaseGrace, "lease-grace", lease.DefaultGrace,
		"how long a paused deletion may wait after the cluster's lease has expired, before it resumes automatically")
	cmd.Flags().IntVar(&u.EventsDays, "events-days", defaultEventsDays, "number of `days` to keep events of clusters; 0 is no limit")
	cmd.Flags().IntVar(&u.LogsDays, "logs-days", defaultLogsDays,
		"number of `days` to keep logs after their operation has ended; 0 is no limit")
}

func (u *upkeepConfig) check() error {
	if u.LeaseGrace < time.Minute {
		return cli.Usagef("--lease-grace must be at least 1m, not %s", humanize.DurationField(u.LeaseGrace))
	}
	for flag, days := range map[string]int{"--events-days": u.EventsDays, "--logs-days": u.LogsDays} {
		if days < 0 || days > maxDays {
			return cli.Usagef("%s must be from 0 to %d, not %d", flag, maxDays, days).Hint("0 is no limit.")
		}
	}
	return nil
}

// retention deletes old events and logs.
func (s *Server) retention() *upkeep.Retention {
	u := s.Upkeep
	return &upkeep.Retention{Store: s.Store, Events: time.Duration(u.EventsDays) * Day, Logs: time.Duration(u.LogsDays) * Day, Log: s.Log, Now: time.Now}
}
