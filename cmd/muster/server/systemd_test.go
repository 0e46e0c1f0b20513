package server

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The test is systemd: it hears that the process is ready, that it lives, and that it is being stopped, in this order, and that it lives until it is gone.
func TestTellSystemd(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "notify")
	heard, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer heard.Close()
	if err := heard.SetReadDeadline(time.Now().Add(5 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	next := func(want string) {
		t.Helper()
		for {
			b := make([]byte, 4096)
			n, err := heard.Read(b)
			if err != nil {
				t.Fatalf("%q was not said: %v", want, err)
			}
			if said := string(b[:n]); strings.Contains(said, want) {
				return
			} else if said != "WATCHDOG=1" {
				t.Fatalf("%q was said, want %q", said, want)
			}
		}
	}
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "30000")
	ctx, cancel := context.WithCancel(t.Context())
	done := tellSystemd(ctx, "serves", slog.New(slog.DiscardHandler))
	next("READY=1\nSTATUS=serves")
	next("WATCHDOG=1")
	cancel()
	next("STOPPING=1")
	next("WATCHDOG=1")
	done()

	t.Setenv("NOTIFY_SOCKET", "")
	tellSystemd(t.Context(), "serves", slog.New(slog.DiscardHandler))()
}
