package demodata

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/health"
)

// worker is who carries out steps, without doing anything but to say so.
type worker struct {
	h  *Instance
	id app.WorkerID
	// fails says which steps fail, and why; nil: none.
	fails func(as *execution.Assignment) *app.Error
	// round is how long a step takes by the clock.
	round time.Duration
	n     int // machines so far
	holds []*execution.Assignment
}

// workerOf is the worker of a provisioner.
func workerOf(provisioner string) app.WorkerID {
	return app.WorkerID{Tenant: Tenant, Name: fleet.LocalPrefix + provisioner + ":" + Tenant}
}

// work carries out what can be carried out for so many rounds, or, where rounds is 0, until nothing is left.
func (w *worker) work(ctx context.Context, rounds int) error {
	if w.round == 0 {
		w.round = 20 * time.Second
	}
	for i := 0; rounds == 0 || i < rounds; i++ {
		list, err := w.h.Services.Execution.Coordinator.Claim(ctx, w.id, execution.MaxClaims)
		if err != nil {
			return fmt.Errorf("demodata: claim: %w", err)
		}
		if len(list)+len(w.holds) == 0 {
			return nil
		}
		w.h.Clock.move(w.round / 4)
		if err := w.say(ctx, list); err != nil {
			return err
		}
		if list, w.holds = append(w.holds, list...), nil; rounds > 0 && i == rounds-1 {
			w.holds = list // these stay running
			return nil
		}
		w.h.Clock.move(w.round * 3 / 4)
		for part := range slices.Chunk(list, execution.MaxClaims) {
			reports := make([]execution.Report, len(part))
			for j, as := range part {
				reports[j] = w.report(as)
			}
			if _, err := w.h.Services.Execution.Coordinator.Report(ctx, w.id, reports); err != nil {
				return fmt.Errorf("demodata: report: %w", err)
			}
		}
	}
	return nil
}

// say writes what steps print.
func (w *worker) say(ctx context.Context, list []*execution.Assignment) error {
	var lines []app.LogLine
	add := func(as *execution.Assignment, stream app.Stream, text string) {
		lines = append(lines, app.LogLine{At: w.h.Clock.Now(), Operation: as.Fence.Operation, Index: as.Fence.Index, Attempt: as.Fence.Attempt, Stream: stream, Text: text})
	}
	for _, as := range list {
		switch as.Action {
		case app.ActionCreate:
			add(as, family.StreamOut, fmt.Sprintf("requesting %s for %s with %s", as.Cluster.Provider, as.Node.Hardware, as.Node.Image))
		case app.ActionInstall:
			add(as, family.StreamOut, "Reading package lists...")
			add(as, family.StreamOut, "Building dependency tree...")
			add(as, family.StreamOut, "Setting up "+as.Service+" ...")
		case app.ActionConfigure:
			add(as, family.StreamOut, "wrote the configuration of "+as.Service)
		case app.ActionStart:
			add(as, family.StreamOut, as.Service+" listens on "+as.Node.Hostname)
		}
		if w.fails != nil {
			if e := w.fails(as); e != nil {
				add(as, family.StreamErr, e.Message)
			}
		}
	}
	for part := range slices.Chunk(lines, execution.MaxLogs) {
		if err := w.h.Services.Execution.Coordinator.Log(ctx, w.id, part); err != nil {
			return fmt.Errorf("demodata: log: %w", err)
		}
	}
	return nil
}

func (w *worker) report(as *execution.Assignment) execution.Report {
	r := execution.Report{Fence: as.Fence, Action: as.Action}
	if w.fails != nil {
		if r.Err = w.fails(as); r.Err != nil {
			return r
		}
	}
	switch as.Action {
	case app.ActionCreate:
		w.n++
		r.Machine = &family.Machine{ID: fmt.Sprintf("i-%08x", 0x5eed0000+w.n*7919), State: family.MachineRunning, Hostname: as.Node.Hostname, SSHUser: "root",
			Addresses: map[string]string{app.AddressAccess: fmt.Sprintf("203.0.113.%d", w.n%250+1), app.AddressBind: fmt.Sprintf("10.20.%d.%d", w.n/250, w.n%250+1)},
			OwnRoot:   true, Zone: as.Node.Zone, CreatedAt: w.h.Clock.Now()}
		r.Seen = []app.Seen{fleet.SeenMachine(*r.Machine, w.h.catalog.Hardware[as.Node.Hardware].Providers[as.Cluster.Provider].CostPerHour)}
	case app.ActionConfirm:
		r.Machine = &family.Machine{ID: as.Node.MachineID, State: family.MachineRunning, Addresses: as.Node.Addresses, OwnRoot: true, SSHUser: "root"}
		r.HostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHKjxFmBBxHLmTsBQ7WdLRHmZPdrKjBW8m5cP0QFYtD6"
	case app.ActionDelete:
		r.Seen = []app.Seen{{Kind: fleet.ResourceMachine, ID: as.Node.MachineID, Deleted: true}}
	case app.ActionBootstrap:
		r.Contract = &health.NodeReport{At: w.h.Clock.Now(), Checks: []app.NodeCheck{
			{Name: "root", OK: true, Level: health.NodeRequired, Found: "uid 0"},
			{Name: "time", OK: true, Level: health.NodeRequired, Found: "0.2 s behind"},
			{Name: "disk", OK: true, Level: health.NodeAdvised, Found: "38 GB free"},
			{Name: "packages", OK: true, Level: health.NodeRequired, Found: "apt"},
		}}
	}
	return r
}
