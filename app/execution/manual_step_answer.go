package execution

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/template"
)

// sameAnswer reports whether one answer counts for both.
func (q ManualStep) sameAnswer(other ManualStep) bool {
	return q.Person.Once && q.Operation == other.Operation && q.Service == other.Service && q.Action == other.Action
}

// look fills in what the question is for someone who looks.
func (q *ManualStep) look(actor app.Actor) {
	q.Mine, q.Waits = q.State == ManualStepOpen && q.mayAnswer(actor) == nil, q.whoInWords()
}

// mayAnswer reports whether the actor may answer the question; EForbidden says whom it waits for.
func (q ManualStep) mayAnswer(a app.Actor) error {
	if err := a.Authorize("AnswerStep"); err != nil {
		return err
	}
	if q.forbids(a.User) || q.forbids(a.Name()) {
		return &app.Error{Code: app.EForbidden, Reason: "requester", Message: "You made this request, so someone else must answer.",
			Hint: "Waiting for " + q.whoInWords() + "."}
	}
	at := a.Home == ""
	switch {
	case a.Role == app.RoleAdmin || a.Role == app.RoleSuperadmin:
		return nil
	case at && q.Person.Owners() && q.Access >= app.AccessCoOwner:
		return nil
	case at && slices.ContainsFunc(q.Person.Groups(), func(g string) bool { return slices.Contains(a.Groups, g) }):
		return nil
	}
	return &app.Error{Code: app.EForbidden, Reason: "not_asked", Message: "You can't answer this question.", Hint: "Waiting for " + q.whoInWords() + "."}
}

// ManualStepQuery narrows the questions that someone looks at.
type ManualStepQuery struct {
	Cluster string // its id or name; "" is all of the tenant
	Mine    bool   // only those that the actor may answer
	Limit   int    // 0: as many as one answer lists; of those that are asked for, the oldest
}

// ManualSteps returns what people are asked at the moment, oldest first, at most 500. Where one answer counts for several nodes, they are
// one question.
func (a *ManualSteps) ManualSteps(ctx context.Context, actor app.Actor, q ManualStepQuery) ([]ManualStep, error) {
	if err := actor.Authorize("ManualSteps"); err != nil {
		return nil, err
	}
	reader, err := a.Clusters.ReaderOf(ctx, actor)
	if err != nil {
		return nil, err
	}
	f := ManualStepFilter{Limit: template.ManualStepsAtOnce, Reader: reader}
	if q.Cluster != "" {
		c, err := a.Clusters.AuthorizedCluster(ctx, actor, "ManualSteps", q.Cluster)
		if err != nil {
			return nil, err
		}
		f.Cluster = c.ID
	}
	most := template.MostManualSteps
	if q.Limit > 0 {
		most = min(most, q.Limit)
	}
	list := []ManualStep{}
	for looked := 0; looked < template.MostManualSteps && len(list) < most; looked += template.ManualStepsAtOnce {
		all, err := a.Store.ManualSteps(ctx, actor.Tenant, f)
		if err != nil {
			return nil, err
		}
		for _, one := range all {
			f.After = one.Number
			one.look(actor)
			if q.Mine && !one.Mine {
				continue
			}
			if i := slices.IndexFunc(list, one.sameAnswer); i >= 0 {
				list[i].MoreNodes++
				continue
			}
			if len(list) < most {
				list = append(list, one)
			}
		}
		if len(all) < template.ManualStepsAtOnce {
			break
		}
	}
	return list, nil
}

// AnswerStep answers a question about a cluster: the step continues, with values, or fails for good, with a reason. The answer names the
// attempt that was shown. EConflict, reason "answered", says who was faster; "not_asked" that no one is asked any more. EForbidden
// says whom it waits for. EInvalid names the field values.NAME that is wrong.
func (a *ManualSteps) AnswerStep(ctx context.Context, actor app.Actor, cluster string, s StepAnswer) (ManualStep, error) {
	c, err := a.Clusters.AuthorizedCluster(ctx, actor, "AnswerStep", cluster)
	if err != nil {
		return ManualStep{}, err
	}
	if err := c.CheckLock(actor); err != nil {
		return ManualStep{}, err
	}
	if err := s.check(); err != nil {
		return ManualStep{}, err
	}
	q, err := a.Store.ManualStep(ctx, actor.Tenant, s.Operation, s.Index)
	if err == nil && q.Cluster != c.ID {
		err = &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Step %d of operation %d of cluster %q isn't waiting for an answer.", s.Index, s.Operation, c.Name)}
	}
	if err != nil {
		return ManualStep{}, err
	}
	q.Access = c.Access
	if err := q.mayAnswer(actor); err != nil {
		return ManualStep{}, err
	}
	n := NewAnswer{Tenant: actor.Tenant, Operation: s.Operation, Index: s.Index, Attempt: s.Attempt, Refuse: s.Refuse, Who: actor, Now: a.Now()}
	if s.Refuse == "" && q.State == ManualStepOpen { // else it is too late, whatever was typed
		if n.Values, err = q.Person.Settle(s.Values); err != nil {
			return ManualStep{}, err
		}
	}
	if q, err = a.Store.AnswerManualStep(ctx, n); err != nil {
		return ManualStep{}, err
	}
	q.Access = c.Access
	q.look(actor)
	return q, nil
}
