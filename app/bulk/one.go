package bulk

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/policy"
	"muster/app/template"
)

// unchanged says that it's done already; "" where it isn't.
func (j job) unchanged() string {
	c := j.cluster
	doing := running(c) && c.Operation.Kind == j.ask.Action.kind()
	switch j.ask.Action {
	case Extend:
		if until := j.lease().Until; !until.IsZero() && c.Status != app.ClusterDeleted && !c.ExpiresAt.IsZero() && !c.ExpiresAt.Before(until) {
			return "The lease already ends " + app.Moment(c.ExpiresAt) + "."
		}
	case Sleep:
		if c.Status == app.ClusterAsleep {
			return "Already asleep."
		}
		if doing {
			return "Already going to sleep."
		}
	case Wake:
		if c.Status == app.ClusterActive && !running(c) {
			return "Already awake."
		}
		if doing {
			return "Already waking."
		}
	case Delete:
		if c.Status == app.ClusterDeleted {
			return "Already deleted."
		}
		if doing {
			return "Already being deleted."
		}
	}
	return ""
}

// lease is the request for one cluster.
func (j job) lease() template.LeaseRequest {
	r := template.LeaseRequest{By: j.ask.By, Until: j.ask.Until, Reason: j.ask.Reason}
	if !j.target.Until.IsZero() {
		r.By, r.Until = 0, j.target.Until
	}
	return r
}

// preview says what would be done to one cluster.
func (s *Service) preview(ctx context.Context, j job, r *Result) {
	c := j.cluster
	switch j.ask.Action {
	case Extend:
		s.previewExtend(ctx, j, r)
	case Sleep:
		s.previewPower(ctx, j, r, s.Sleeping.PreviewSleep, "Will go to sleep.")
	case Wake:
		s.previewPower(ctx, j, r, s.Sleeping.PreviewWake, "Will wake.")
	case Delete:
		r.Outcome, r.PerHour = Ready, -c.CostPerHour
		r.Message = fmt.Sprintf("%s and all data on them will be deleted.", humanize.Count(c.Size, "machine"))
		if r.Busy {
			r.Message += " The operation in progress is canceled first."
		}
	}
}

func (s *Service) previewExtend(ctx context.Context, j job, r *Result) {
	c := j.cluster
	if j.deleting() {
		r.refuse(app.Errorf(app.EConflict, "The cluster is being deleted."))
		return
	}
	until, err := s.Leases.PreviewExtend(ctx, j.actor, c.ID, j.lease())
	if err != nil {
		r.refuse(err)
		return
	}
	r.Outcome, r.Until = Ready, until
	base := c.ExpiresAt
	if now := s.Now(); base.Before(now) {
		base = now
	}
	if c.Status != app.ClusterAsleep && until.After(base) {
		r.Cost = c.CostPerHour * until.Sub(base).Hours()
	}
	r.Message = "Lease will end " + app.Moment(until) + " instead of " + app.Moment(c.ExpiresAt) + "."
	if c.ExpiresAt.IsZero() {
		r.Message = "Lease will end " + app.Moment(until) + "; now it never ends."
	}
}

// deleting reports whether the cluster is being deleted.
func (j job) deleting() bool {
	return running(j.cluster) && j.cluster.Operation.Kind == app.OperationDelete
}

func (s *Service) previewPower(ctx context.Context, j job, r *Result, preview func(context.Context, app.Actor, string) (cluster.UpdatePreview, error),
	will string) {
	if j.request != nil {
		r.Outcome, r.Request, r.Message = Unchanged, j.request.ID, fmt.Sprintf("Already requested: request %d is open.", j.request.ID)
		return
	}
	p, err := preview(ctx, j.actor, j.cluster.ID)
	switch {
	case err != nil:
		r.refuse(err)
		return
	case p.NoChanges:
		r.Outcome, r.Message = Unchanged, "Nothing to do."
		return
	case p.Decision != nil && p.Decision.Outcome == policy.OutcomeRefuse:
		r.refuse(&app.Error{Code: app.EForbidden, Reason: "policy", Message: p.Decision.Reason})
		return
	}
	r.Outcome, r.Message, r.PlanHash = Ready, will, p.PlanHash
	r.PerHour = p.After.CostPerHour - p.Before.CostPerHour
	switch {
	case p.Decision != nil && p.Decision.Outcome == policy.OutcomeApprove:
		r.Outcome, r.Message = Approval, "Needs approval. A request will be made."
	case p.Window != nil && p.Window.Waits:
		r.Outcome, r.Message = Approval, "Will wait for the next maintenance window."
	}
}

// run does it to one cluster.
func (s *Service) run(ctx context.Context, j job, r *Result) {
	switch j.ask.Action {
	case Extend:
		o, err := s.Leases.ExtendLease(ctx, j.actor, j.cluster.ID, j.lease())
		if err != nil {
			r.refuse(err)
			return
		}
		r.Outcome, r.Until, r.Message = Done, o.Until, "Lease ends "+app.Moment(o.Until)+"."
	case Sleep:
		s.runPower(ctx, j, r, s.Sleeping.SleepCluster, "Going to sleep.")
	case Wake:
		s.runPower(ctx, j, r, s.Sleeping.WakeCluster, "Waking.")
	case Delete:
		if _, err := s.Deletes.DeleteCluster(ctx, j.actor, j.cluster.ID); err != nil {
			r.refuse(err)
			return
		}
		r.Outcome, r.Message = Done, "Being deleted."
	}
}

func (s *Service) runPower(ctx context.Context, j job, r *Result, do func(context.Context, app.Actor, string, string) (cluster.UpdateAnswer, error),
	doing string) {
	if j.request != nil {
		r.Outcome, r.Request, r.Message = Requested, j.request.ID, fmt.Sprintf("Request %d is open.", j.request.ID)
		return
	}
	answer, err := do(ctx, j.actor, j.cluster.ID, j.target.PlanHash)
	switch {
	case err != nil:
		r.refuse(err)
	case answer.Request != nil && answer.Request.Status.Open():
		r.Outcome, r.Request, r.Message = Requested, answer.Request.ID, fmt.Sprintf("Request %d was made.", answer.Request.ID)
	case answer.Operation == 0:
		r.Outcome, r.Message = Unchanged, "Nothing to do."
	default:
		r.Outcome, r.Message = Done, doing
	}
}
