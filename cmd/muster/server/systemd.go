package server

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tellSystemd says to systemd, where that started the process with Type=notify, that it is ready and what it does, and goes on to say that it lives as often as
// WatchdogSec wants it. When ctx ends it says that the process is being stopped. Without systemd it does nothing. Call the function that it returns
// before the process ends.
func tellSystemd(ctx context.Context, status string, log *slog.Logger) (done func()) {
	there, err := daemon.SdNotify(false, daemon.SdNotifyReady+"\nSTATUS="+status)
	if err != nil {
		log.Warn("systemd was not told that the process is ready", "error", err)
	}
	if !there {
		return func() {}
	}
	every, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		log.Warn("what systemd says of its watchdog is not understood", "error", err)
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
			case <-leaving: // what is under way may take as long as TimeoutStopSec lets it, so it goes on living
				leaving = nil
				_, _ = daemon.SdNotify(false, daemon.SdNotifyStopping+"\nSTATUS=being stopped")
			case <-ended:
				return
			}
		}
	})
	return func() { close(ended); all.Wait() }
}
