package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tellSystemd notifies systemd (Type=notify) that the process is ready, with its status, and then pings its watchdog. When ctx ends, it reports
// that the process is stopping. Without systemd it does nothing. Call the returned function before the process ends.
func tellSystemd(ctx context.Context, status string, log *slog.Logger) (done func()) {
	there, err := daemon.SdNotify(false, daemon.SdNotifyReady+"\nSTATUS="+status)
	if err != nil {
		log.Warn("can't notify systemd that the process is ready", "error", err)
	}
	if !there {
		return func() {}
	}
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("can't read systemd's watchdog settings", "error", err)
	}
	var beat <-chan time.Time
	stop := func() {}
	if every > 0 && err == nil {
		t := time.NewTicker(every / 3)
		beat, stop = t.C, t.Stop
	}
	ended := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer stop()
		leaving := ctx.Done()
		for {
			select {
			case <-beat:
				_, _ = daemon.SdNotify(false, daemon.SdNotifyWatchdog)
			case <-leaving: // shutdown may take as long as TimeoutStopSec, so keep pinging
				leaving = nil
				_, _ = daemon.SdNotify(false, daemon.SdNotifyStopping+"\nSTATUS=stopping")
			case <-ended:
				return
			}
		}
	})
	return func() { close(ended); all.Wait() }
}
