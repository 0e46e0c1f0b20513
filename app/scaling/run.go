package scaling

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/template"
)

const (
	seenAtOnce = 200              // clusters that one run sees to
	besides    = 32               // of them at the same time: one whose Prometheus is slow keeps no other waiting
	queryTime  = 20 * time.Second // for all queries of a cluster; the rest of stepTime is for the resize
	claimFor   = 3 * time.Minute  // a server that was killed is given up after
	stepTime   = time.Minute      // longer than queries and a submission take, and much shorter than a claim
	retryBusy  = 30 * time.Second
	maxNote    = 500
)

// RunScaling sees to all clusters of which something is due, of all tenants, and tells how many resizes began. Several servers may call it at the
// same time: each cluster is claimed, and a resize names the number of nodes that it ends with, so that none happens twice.
func (a *Service) RunScaling(ctx context.Context) (begun int, err error) {
	due, err := a.Store.DueScaling(ctx, a.Now(), seenAtOnce)
	if err != nil {
		return 0, err
	}
	var (
		errs []error
		mu   sync.Mutex
		all  sync.WaitGroup
		room = make(chan struct{}, besides)
	)
	for _, d := range due {
		room <- struct{}{}
		all.Go(func() {
			defer func() { <-room }()
			did, err := a.see(ctx, d)
			mu.Lock()
			defer mu.Unlock()
			if did {
				begun++
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("scaling of %s: %w", d.Cluster.ID, err))
			}
		})
	}
	all.Wait()
	return begun, errors.Join(errs...)
}

func (a *Service) see(ctx context.Context, d Due) (began bool, err error) {
	now := a.Now()
	if is, err := a.Store.ClaimScaling(ctx, Claim{Due: d, Now: now, Until: now.Add(claimFor)}); err != nil || !is {
		return false, err
	}
	d.Version++
	limited, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	r := &round{Due: d, now: now, policy: d.Rules.Effective(), Move: Move{Due: d, After: d.State, Now: now}}
	r.After = d.State
	if r.policy.None() {
		_, err = a.Store.MoveScaling(ctx, r.Move)
		return false, err
	}
	r.settle()
	if d.Cluster.Status == app.ClusterActive && !r.After.Paused() {
		a.measure(limited, r)
	}
	r.After = r.After.Scheduled(r.policy, now)
	began = a.decide(limited, r)
	r.next()
	_, err = a.Store.MoveScaling(ctx, r.Move)
	return began, err
}

// round is one look at a cluster.
type round struct {
	Due
	Move
	now    time.Time
	policy *template.ScalingPolicy
}

func (r *round) note(e Entry) {
	e.At, e.Note = r.now, humanize.CutText(e.Note, maxNote)
	r.Entries = append(r.Entries, e)
}

// settle notes how the operation ended that was begun, also where a server was killed before it could write that it had begun it.
func (r *round) settle() {
	s, o := &r.After, r.Latest
	if o.ID > s.Operation {
		if s.To != r.Due.Cluster.Size {
			s.To = r.Due.Cluster.Size
		}
		s.Operation, s.Awaited, s.ChangedAt = o.ID, true, o.At
		s.Wanted, s.WantedAt = 0, time.Time{}
		r.note(Entry{From: s.From, To: s.To, Outcome: Started, Operation: o.ID})
	}
	if !s.Awaited || o.ID != s.Operation || !o.Status.Ended() {
		return
	}
	e := Entry{From: s.From, To: s.To, Operation: o.ID, Outcome: Done}
	if o.Status != app.OperationSucceeded {
		e.Outcome, e.Note = Failed, o.Error
		r.note(e)
		r.failed(o.Error)
		return
	}
	r.note(e)
	s.Awaited, s.ChangedAt, s.Failures = false, r.now, 0
}

// failed counts a failure, and pulls the brake after a few.
func (r *round) failed(why string) {
	r.After = r.After.Failed(r.policy, r.now, why)
	if !r.After.Paused() {
		return
	}
	c, times := r.Due.Cluster, humanize.Count(r.After.Failures, "failure")
	r.note(Entry{From: c.Size, To: c.Size, Outcome: Brake, Note: "Scaling is paused after " + times + " in a row."})
	r.Notice = app.Notice{At: r.now, Tenant: c.Tenant, Kind: app.NoticeCluster, Cluster: c.ID, Users: []string{c.Owner}, About: app.ClusterSubject(c.ID),
		Title: fmt.Sprintf("Scaling of %s is paused after %s.", c.Name, times),
		Text:  strings.TrimSpace(why + " Fix the cause, and then resume scaling on the cluster's scaling page.")}
}

// measure adds what nodes have said, and asks Prometheus where it's time.
func (a *Service) measure(ctx context.Context, r *round) {
	s := &r.After
	if m := r.Measured; m != nil && m.At.After(s.LastAt()) {
		*s = s.With(*m)
	}
	if !r.policy.Queries() || s.QueryAt.After(r.now) {
		return
	}
	s.QueryAt = r.now.Add(r.policy.EveryOr1m())
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	p := Point{At: r.now, Nodes: r.Due.Cluster.Size, Values: map[string]Value{}}
	for _, m := range r.policy.Metrics {
		if m.URL == "" {
			continue
		}
		var v Value
		if a.Prometheus == nil {
			v.Wrong = "this server doesn't ask Prometheus"
		} else if n, err := a.Prometheus.Query(ctx, m.URL, m.Query); err != nil {
			v.Wrong = humanize.CutText(app.AsError(err).ForPeople(), MaxWrongText)
		} else {
			v.Number = n
		}
		p.Values[m.Name] = v
	}
	*s = s.With(p)
}

// decide does what is to be done now.
func (a *Service) decide(ctx context.Context, r *round) (began bool) {
	s, c := &r.After, r.Due.Cluster
	if s.Wanted > 0 && (s.Wanted == c.Size && c.Status == app.ClusterActive) {
		s.Wanted, s.WantedAt = 0, time.Time{}
	}
	if s.Wanted > 0 && r.now.Sub(s.WantedAt) > scheduleGrace {
		r.note(Entry{Rule: "schedule", From: c.Size, To: s.Wanted, Outcome: Missed, Note: "It could not be done within an hour of " + app.Moment(s.WantedAt) + "."})
		s.Wanted, s.WantedAt = 0, time.Time{}
	}
	if s.Awaited || s.Paused() || r.Request > 0 {
		return false
	}
	d := s.Decide(r.policy, c.Size, r.now)
	e := Entry{Rule: d.Rule, Value: d.Value, From: c.Size, To: d.To, Outcome: d.Outcome, Note: d.Note}
	switch {
	case d.To == c.Size:
		if d.Outcome != "" {
			r.note(e)
		}
		return false
	case c.Status != app.ClusterActive:
		if s.Wanted > 0 {
			e.Outcome, e.Note = Busy, "The cluster is "+c.StatusWord(nil)+"."
			r.note(e)
		}
		return false
	case r.policy.DryRun:
		e.Outcome = DryRun
		a.preview(ctx, &e, c)
		r.note(e)
		s.ChangedAt, s.Wanted, s.WantedAt = r.now, 0, time.Time{}
		return false
	}
	return a.resize(ctx, r, e)
}

func resizeTo(from, to int) cluster.Update {
	m := cluster.Update{Kind: app.OperationResize, Size: to}
	if to > from {
		m.OnFailure = app.FailureRollBack
	}
	return m
}

// preview says what a dry run would have met.
func (a *Service) preview(ctx context.Context, e *Entry, c app.Cluster) {
	p, err := a.Updates.PreviewUpdate(ctx, app.System(c.Tenant, app.ScalingUser), c.ID, resizeTo(e.From, e.To))
	switch {
	case err != nil:
		e.Note = app.AsError(err).Advised()
	case p.Decision != nil && p.Decision.Outcome != "":
		e.Note = "Policies say: " + string(p.Decision.Outcome) + "."
	}
	if p.Window != nil && p.Window.Waits {
		e.Note = p.Window.Text
	}
	if cost := p.After.CostPerHour - p.Before.CostPerHour; err == nil && cost != 0 {
		e.Note = strings.TrimSpace(e.Note + fmt.Sprintf(" The cluster would cost %s.", humanize.PerHour(p.After.CostPerHour, p.After.Currency)))
	}
}

// resize submits a change of size, as its owner would.
func (a *Service) resize(ctx context.Context, r *round, e Entry) (began bool) {
	s, c := &r.After, r.Due.Cluster
	answer, err := cluster.UpdateAnswer{}, a.mayResize(ctx, c)
	if err == nil {
		answer, err = a.Updates.Update(ctx, app.System(c.Tenant, app.ScalingUser), c.ID, resizeTo(c.Size, e.To))
	}
	s.From, s.To = c.Size, e.To
	switch x := app.AsError(err); {
	case err == nil && answer.Request != nil:
		e.Request, e.Outcome, e.Note = answer.Request.ID, Approval, "The change requires approval."
		if answer.Request.Status == cluster.RequestScheduled {
			e.Outcome, e.Note = Window, "The change waits for a maintenance window."
		}
		s.ChangedAt, s.Wanted, s.WantedAt = r.now, 0, time.Time{}
		r.note(e)
	case err == nil:
		s.ChangedAt, s.Wanted, s.WantedAt = r.now, 0, time.Time{}
		if answer.Operation > 0 {
			s.Operation, s.Awaited, e.Operation, e.Outcome = answer.Operation, true, answer.Operation, Started
			r.note(e)
			return true
		}
	case x.Code == app.EConflict, x.Code == app.ETransient, x.Code == app.ETimeout, x.Code == app.ECancelled, x.Code == app.ERateLimit:
		e.Outcome, e.Note = Busy, x.Advised()
		r.note(e)
	default:
		e.Outcome, e.Note = Failed, x.Advised()
		switch {
		case x.Code == app.EQuota:
			e.Outcome = Quota
		case x.Code == app.EForbidden:
			e.Outcome = Refused
		case x.Code == app.EInternal:
			e.Note = "An internal error occurred. See the server's log."
		}
		r.note(e)
		r.failed(e.Note)
	}
	return false
}

// mayResize refuses where the owner could not do it: someone who is disabled, gone or may only look. Groups have no role of their own.
func (a *Service) mayResize(ctx context.Context, c app.Cluster) error {
	if c.Owner == "" || c.OwnerGroup != "" || strings.Contains(c.Owner, "@") {
		return nil
	}
	u, err := a.Store.User(ctx, c.Tenant, c.Owner)
	var why string
	switch {
	case app.CodeOf(err) == app.ENotFound:
		why = "The account of the owner, %s, was deleted."
	case err != nil:
		return err
	case u.Disabled():
		why = "The account of the owner, %s, is disabled."
	case app.PermissionTable[app.OperationResize.UseCase()].Of(u.Role) == app.No:
		why = "The owner, %s, can't resize clusters."
	default:
		return nil
	}
	return &app.Error{Code: app.EForbidden, Message: fmt.Sprintf(why, c.Owner), Hint: "Transfer the cluster to someone else."}
}

// next says when to look again: not before something is measured, unless something is to be asked, awaited or scheduled.
func (r *round) next() {
	s := &r.After
	sooner := func(t time.Time) {
		if !t.IsZero() && (r.Next.IsZero() || t.Before(r.Next)) {
			r.Next = t
		}
	}
	every := min(r.policy.EveryOr1m(), retryBusy)
	sooner(Next(r.policy, r.now))
	switch {
	case s.Awaited, r.Request > 0, len(r.Entries) > 0 && r.Entries[len(r.Entries)-1].Request > 0:
		sooner(r.now.Add(every))
	case s.Paused():
		return
	case s.Wanted > 0, s.Failures > 0:
		sooner(r.now.Add(every))
	}
	if size := r.Due.Cluster.Size; size < r.policy.Min || size > r.policy.Max {
		sooner(r.now.Add(every))
	}
	if r.policy.Queries() {
		if s.QueryAt.After(r.now) {
			sooner(s.QueryAt)
		} else {
			sooner(r.now.Add(r.policy.EveryOr1m())) // the cluster wasn't active
		}
	}
}
