//go:build unix

package sandbox

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"muster/app/family"
)

// interruptFile, in a machine's directory, says at what time (RFC 3339) the machine is interrupted, as a cloud interrupts spot machines. People write it to try
// that out.
const interruptFile = "interrupt"

// interrupted returns a machine with what is announced of it. Once that time has come, the machine stops as by a power cut.
func (p *Provider) interrupted(ctx context.Context, r *record, m family.Machine) family.Machine {
	at, ok := p.interruption(r.ID)
	switch {
	case !ok || !r.Ready || r.Asleep || m.State == family.MachineStopped:
		return m
	case time.Now().Before(at):
		m.LeavesAt = at
		return m
	}
	r, unlock, err := p.hold(ctx, r.ID)
	if err == nil {
		defer unlock()
		if alive, _ := p.kinds[r.Mode].alive(r); alive {
			err = p.kinds[r.Mode].rest(ctx, r)
		}
	}
	if err != nil {
		p.log.Warn("can't interrupt a sandbox machine", "machine", m.ID, "error", err)
		return m
	}
	return p.view(r)
}

// interruption reads when a machine is interrupted.
func (p *Provider) interruption(id string) (at time.Time, ok bool) {
	f, err := os.Open(p.files.file(id, interruptFile))
	if err != nil {
		return at, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 100))
	if err == nil {
		at, err = time.Parse(time.RFC3339, strings.TrimSpace(string(b)))
	}
	if err != nil {
		p.log.Warn("the file interrupt of a sandbox machine has no time such as 2026-01-02T15:04:05Z", "machine", id, "error", err)
	}
	return at, err == nil
}
