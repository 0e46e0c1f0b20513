package jobs

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/health"
	"muster/app/idle"
	"muster/app/observe"
	"muster/app/scaling"
	"muster/jobs/coordinator"
	"muster/jobs/internal/loop"
	"muster/jobs/redact"
)

const (
	roundsAtOnce = 2  // check batches of a worker at the same time
	checksAtOnce = 32 // nodes that a worker looks at, at the same time
	roundPause   = 200 * time.Millisecond
	loginTimeout = 20 * time.Second // until a node that does not let us in counts as not reached
)

// rounds carries out batches of health checks until the worker takes no more steps. They hold no slots: steps run as if there were
// none. One wait is open at a time.
func (w *Worker) rounds(keeper execution.CheckBatchSource) {
	var all sync.WaitGroup
	defer all.Wait()
	looks, free := make(chan struct{}, checksAtOnce), make(chan struct{}, roundsAtOnce)
	for failures := 0; ; {
		select {
		case free <- struct{}{}:
		case <-w.watch.Done():
			return
		}
		r, err := keeper.AwaitCheckBatch(w.watch, w.id())
		if w.watch.Err() != nil {
			return
		}
		if r != nil {
			failures = 0
			all.Go(func() {
				defer func() { <-free }()
				w.round(keeper, r, looks)
			})
			continue
		}
		<-free
		if loop.Pause(w.watch, w.untilNextRound(err, &failures)) != nil {
			return
		}
	}
}

// untilNextRound is how long to wait before a check batch is asked for again, after none came.
func (w *Worker) untilNextRound(err error, failures *int) time.Duration {
	switch code := app.CodeOf(err); {
	case err == nil:
		*failures = 0
		return roundPause
	case code == app.ETransient || code == app.ERateLimit || code == app.EInternal || code == app.ETimeout:
		*failures++
		if *failures == 1 {
			w.Log.Warn("could not fetch health checks", "error", err)
		}
		return max(loop.BackOff(time.Second, *failures), min(app.AsError(err).RetryAfter, loop.LongestWait))
	}
	return coordinator.CancelSignalRetry // an older server, or a registration that has ended
}

// round carries out one check batch and reports what it found.
func (w *Worker) round(keeper execution.CheckBatchSource, r *execution.CheckBatch, looks chan struct{}) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(w.watch, r.Within*8/10) // the rest is for the report
	report := w.checkAll(ctx, r, looks)
	cancel()
	if w.watch.Err() != nil {
		return // what was cut off because we stop is no finding; the check batch is due again when it is given up
	}
	for try := 1; ; try++ {
		once, cancel := context.WithTimeout(w.watch, coordinator.CallTime)
		err := keeper.ReportCheckBatch(once, w.id(), report)
		cancel()
		switch code := app.CodeOf(err); {
		case err == nil:
			w.Meter.Add(observe.MetricHealthBatches, 1)
			w.Log.Debug("health checks", "cluster", r.Cluster, "nodes", len(r.Nodes), "findings", len(report.Findings),
				"took", time.Since(began).Round(time.Millisecond))
			return
		case code == app.EStale || w.watch.Err() != nil:
			return
		case (code == app.ETransient || code == app.ETimeout) && time.Since(began) < r.Within && loop.Pause(w.watch, loop.BackOff(time.Second, try)) == nil:
			continue
		}
		w.Log.Warn("could not report health checks", "cluster", r.Cluster, "error", err)
		return
	}
}

// checkAll looks at the nodes of a check batch, a few at a time.
func (w *Worker) checkAll(ctx context.Context, r *execution.CheckBatch, looks chan struct{}) execution.CheckBatchReport {
	report := execution.CheckBatchReport{Cluster: r.Cluster, Round: r.Round, UseMeasured: r.Idle != nil, NumbersMeasured: len(r.Numbers) > 0}
	hide := redact.New(r.Secrets)
	var mu sync.Mutex
	var all sync.WaitGroup
	for i, n := range r.Nodes {
		select {
		case looks <- struct{}{}:
		case <-ctx.Done():
			mu.Lock()
			for _, left := range r.Nodes[i:] {
				report.Left = append(report.Left, left.Node.Name)
				report.Numbers = append(report.Numbers, withSilent(left, r.Numbers, nil)...)
			}
			mu.Unlock()
			all.Wait()
			return report
		}
		all.Go(func() {
			defer func() { <-looks }()
			var f health.NodeFinding
			var use idle.NodeFinding
			var said []scaling.NodeNumber
			var leaves *app.Interruption
			var looked bool
			if err := loop.Safely(func() error { f, use, said, leaves, looked = w.checkNodeHealth(ctx, r, n, hide); return nil }); err != nil {
				w.Log.Error("could not check a node", "cluster", r.Cluster, "node", n.Node.Name, "error", err)
			}
			mu.Lock()
			defer mu.Unlock()
			report.Numbers = append(report.Numbers, withSilent(n, r.Numbers, said)...)
			if leaves != nil {
				report.Interrupted = append(report.Interrupted, *leaves)
			}
			if looked && len(use.Reasons) > 0 {
				report.InUse = append(report.InUse, use)
			}
			switch {
			case !looked:
				report.Left = append(report.Left, n.Node.Name)
			case f.Unreachable != "" || len(f.Wrong) > 0:
				report.Findings = append(report.Findings, f)
			}
		})
	}
	all.Wait()
	slices.SortFunc(report.Findings, func(a, b health.NodeFinding) int { return app.NodeNumber(a.Node) - app.NodeNumber(b.Node) })
	slices.SortFunc(report.InUse, func(a, b idle.NodeFinding) int { return app.NodeNumber(a.Node) - app.NodeNumber(b.Node) })
	return report
}

// withSilent adds to what a node has said of metrics that it has said nothing of the others: what isn't known never shrinks a cluster.
func withSilent(n execution.CheckBatchNode, asked []scaling.Number, said []scaling.NodeNumber) []scaling.NodeNumber {
	for _, q := range numbersOf(asked, n.Node.Services) {
		if !slices.ContainsFunc(said, func(s scaling.NodeNumber) bool { return s.Name == q.Name }) {
			said = append(said, scaling.NodeNumber{Node: n.Node.Name, Name: q.Name, Wrong: "didn't answer"})
		}
	}
	return said
}

// checkNodeHealth gets in and carries out the node's checks in one command. looked is false where the check batch's time was over.
func (w *Worker) checkNodeHealth(ctx context.Context, r *execution.CheckBatch, n execution.CheckBatchNode,
	hide *redact.Redactor) (f health.NodeFinding, use idle.NodeFinding, said []scaling.NodeNumber, leaves *app.Interruption, looked bool) {
	f = health.NodeFinding{Node: n.Node.Name, Wrong: map[string]string{}}
	var checks []nodeCheck
	for _, c := range n.Checks {
		if c.Check == nil {
			f.Wrong[c.Service] = c.Wrong
			continue
		}
		checks = append(checks, nodeCheck{c.Service, c.Check})
	}
	in, cancel := context.WithTimeout(ctx, loginTimeout)
	sh, release, err := w.Shells.Get(in, w.guarded(target(n.Node, r.SSHKey), r.Guarded))
	cancel()
	if err == nil {
		var found map[string]string
		var probe *useProbe
		if notice := noticeOf(n); r.Idle != nil || len(r.Numbers) > 0 || notice != nil {
			probe = &useProbe{conditions: r.Idle, services: n.Node.Services, node: n.Node.Name, numbers: numbersOf(r.Numbers, n.Node.Services), notice: notice}
			defer func() { leaves = notice.interruption(n.Node) }()
		}
		found, err = lookAlso(ctx, sh, family.NodeContext{Tenant: r.Tenant, Cluster: r.Cluster, Node: n.Node.Name, Hostname: n.Node.Hostname},
			n.Node.Address(app.AddressBind), checks, probe)
		if probe != nil && err == nil {
			said = probe.said
		}
		if r.Idle != nil && err == nil {
			use = idle.NodeFinding{Node: n.Node.Name, Reasons: probe.reading.Reasons(*r.Idle)}
		}
		release(app.CodeOf(err) != app.ETransient)
		maps.DeleteFunc(found, func(_, wrong string) bool { return wrong == "" })
		maps.Copy(f.Wrong, found)
	}
	if err != nil {
		if ctx.Err() != nil {
			return f, use, nil, nil, false
		}
		return health.NodeFinding{Node: n.Node.Name, Unreachable: hide.Hide(app.AsError(err).ForPeople(), 0)}, use, nil, nil, true
	}
	for s, wrong := range f.Wrong {
		f.Wrong[s] = hide.Hide(wrong, 0)
	}
	for i, reason := range use.Reasons {
		use.Reasons[i] = hide.Hide(reason, 0)
	}
	for i, n := range said {
		said[i].Wrong = hide.Hide(n.Wrong, 0)
	}
	return f, use, said, leaves, true
}
