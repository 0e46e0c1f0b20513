package portal

import (
	"context"
	"fmt"
	"slices"

	"muster/app"
	"muster/app/cluster"
	"muster/app/execution"
	appoperation "muster/app/operation"
	"muster/app/plan"
	"muster/app/template"
)

// current returns the latest operation of a cluster, if it allows the act.
func (f *fake) current(a app.Actor, id string, act app.Act) (*cluster.View, *app.Operation, error) {
	if _, err := f.view(id); err != nil {
		return nil, nil, err
	}
	if a.Role == app.RoleViewer {
		return nil, nil, app.Errorf(app.EForbidden, "You may look, but not change anything.")
	}
	c := f.find(id)
	op := &c.Operations[0]
	if !slices.Contains(op.Acts(true), act) {
		return nil, nil, &app.Error{Code: app.EConflict, Message: fmt.Sprintf("Creation is %s.", op.Status), Hint: "See what it allows."}
	}
	return c, op, nil
}

func (f *fake) CancelOperation(_ context.Context, a app.Actor, id string, _ int64, rollBack bool) (cluster.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, op, err := f.current(a, id, app.ActCancel)
	if err != nil {
		return cluster.View{}, err
	}
	op.Status, op.Message = app.OperationCancelling, "Cancelled by "+a.User+"."
	if rollBack {
		op.OnFailure = app.FailureRollBack
	}
	for i := range f.steps[op.ID] {
		if s := &f.steps[op.ID][i]; !s.State.Ended() && s.State != app.StepRunning {
			s.State = app.StepDropped
		}
	}
	f.tell(c.ID, app.Event{Kind: app.EventOperation, Operation: op.ID, Status: string(op.Status)})
	return f.view(id)
}

// letGo ends what runs of a cancelled operation.
func (f *fake) letGo(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.find(id)
	op := &c.Operations[0]
	for i := range f.steps[op.ID] {
		if s := &f.steps[op.ID][i]; s.State == app.StepRunning {
			s.State = app.StepDropped
		}
	}
	op.Status, op.EndedAt = app.OperationCancelled, f.now()
	c.Status, c.Message = app.ClusterFailed, op.Message
	f.tell(id, app.Event{Kind: app.EventCluster, Status: string(c.Status)})
}

func (f *fake) PauseOperation(_ context.Context, a app.Actor, id string, _ int64) (cluster.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, op, err := f.current(a, id, app.ActPause)
	if err != nil {
		return cluster.View{}, err
	}
	op.Status, op.Message = app.OperationPaused, "Paused by "+a.User+"."
	f.tell(c.ID, app.Event{Kind: app.EventOperation, Operation: op.ID, Status: string(op.Status)})
	return f.view(id)
}

func (f *fake) ResumeOperation(_ context.Context, a app.Actor, id string, _ int64) (cluster.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, op, err := f.current(a, id, app.ActResume)
	if err != nil {
		return cluster.View{}, err
	}
	f.acceptPartial(c, op, "")
	return f.view(id)
}

func (f *fake) RetryNode(_ context.Context, a app.Actor, id, node string) (cluster.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, op, err := f.current(a, id, app.ActRetryNode)
	if err != nil {
		return cluster.View{}, err
	}
	f.acceptPartial(c, op, node)
	return f.view(id)
}

func (f *fake) acceptPartial(c *cluster.View, op *app.Operation, node string) {
	c.Status, c.Message = app.ClusterPending, ""
	op.Status, op.Message = app.OperationRunning, ""
	for i := range f.steps[op.ID] {
		if s := &f.steps[op.ID][i]; s.State != app.StepSucceeded && (node == "" || s.Node == node || s.State != app.StepFailed) {
			s.State, s.Error = app.StepWaiting, ""
		}
	}
	f.tell(c.ID, app.Event{Kind: app.EventOperation, Operation: op.ID, Status: string(op.Status)})
}

func (f *fake) PreviewRollBack(_ context.Context, a app.Actor, id string, _ int64, _ template.KeepTime) (appoperation.RollBackPreview, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, _, err := f.current(a, id, app.ActRollBack)
	if err != nil {
		return appoperation.RollBackPreview{}, err
	}
	return f.rollBack(id), nil
}

func (f *fake) rollBack(id string) appoperation.RollBackPreview {
	c := f.find(id)
	p := appoperation.RollBackPreview{Operation: c.Operations[0], DeletesCluster: true, Plan: plan.Plan{Kind: app.OperationRollBack}, Unchanged: len(c.Nodes)}
	for _, s := range f.steps[c.Operations[0].ID] {
		if s.Action == app.ActionCreate && s.Attempt > 0 {
			p.Plan.Steps = append(p.Plan.Steps, plan.Step{ID: s.Node + ".delete", Node: s.Node, Action: app.ActionDelete, Rank: took[app.ActionDelete]})
			p.Deletes = append(p.Deletes, s.Node)
			p.Unchanged--
		}
	}
	p.PlanHash, p.Duration = p.Plan.Hash(), p.Plan.Duration()
	return p
}

func (f *fake) RollBack(_ context.Context, a app.Actor, id string, _ int64, hash string, _ template.KeepTime) (cluster.View, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c, _, err := f.current(a, id, app.ActRollBack)
	if err != nil {
		return cluster.View{}, err
	}
	p := f.rollBack(id)
	if hash != "" && hash != p.PlanHash {
		return cluster.View{}, &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: "The plan has changed since you reviewed it."}
	}
	f.operate(c, a, p.Plan)
	return f.view(id)
}

func (f *fake) Waiting(_ context.Context, _ app.Actor, id string, filter execution.WaitingFilter) (execution.Waiting, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, err := f.view(id)
	if err != nil {
		return execution.Waiting{}, err
	}
	op := v.Operations[0]
	w := execution.Waiting{Cluster: id, Operation: op.ID, Kind: op.Kind, Status: op.Status, Text: "Nothing waits."}
	if op.Status.Ended() {
		return w, nil
	}
	counts := map[app.StepState]int{}
	for _, s := range f.steps[op.ID] {
		counts[s.State]++
		if s.Join || s.Index < filter.From || filter.Node != "" && s.Node != filter.Node {
			continue
		}
		wait := execution.Wait{Step: s.ID, Node: s.Node, Action: s.Action, Service: s.Service, State: s.State}
		switch s.State {
		case app.StepQueued:
			wait.Reason, wait.Position, wait.Text = execution.WaitSlots, 1+counts[s.State], "All of the tenant's slots are busy (4 of 4)."
		case app.StepReady:
			wait.Reason, wait.Text = execution.WaitNode, s.Node+" is busy with another step."
		case app.StepWaiting:
			wait.Reason, wait.Text = execution.WaitSteps, "Waits for n1.namenode.start, which is running."
		default:
			continue
		}
		if w.Total++; len(w.Steps) < filter.Limit {
			w.Steps = append(w.Steps, wait)
		} else if w.Next == 0 {
			w.Next = s.Index
		}
	}
	for _, g := range []execution.WaitGroup{
		{Reason: execution.WaitSteps, Text: "nodemanager.start: waits for n1.namenode.start, which is running.", Count: counts[app.StepWaiting]},
		{Reason: execution.WaitSlots, Text: "All of the tenant's slots are busy (4 of 4).", Count: counts[app.StepQueued]},
		{Reason: execution.WaitNode, Text: "The nodes are busy with other steps.", Count: counts[app.StepReady]},
	} {
		if g.Count > 0 {
			w.Groups = append(w.Groups, g)
		}
	}
	w.Running = counts[app.StepRunning]
	w.Text = fmt.Sprintf("Creation is running: %d steps in progress, %d waiting.", w.Running, w.Total)
	return w, nil
}

func (f *fake) Queue(_ context.Context, a app.Actor) (execution.Queue, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if a.Role != app.RoleSuperadmin {
		return execution.Queue{}, &app.Error{Code: app.EForbidden, Message: "Only admins see the whole queue."}
	}
	q := execution.Queue{Tenant: a.Tenant, Workers: 1, Slots: 4, Text: "No operations in progress or queued."}
	for _, c := range f.clusters {
		op := c.Operations[0]
		if op.Status.Ended() {
			continue
		}
		l := execution.QueueLine{Operation: op.ID, Cluster: c.ID, Name: c.Name, Kind: op.Kind, Status: op.Status, Requester: op.Requester,
			CreatedAt: op.CreatedAt, Done: op.Done, Total: op.Total}
		for _, s := range f.steps[op.ID] {
			switch s.State {
			case app.StepRunning:
				l.Running++
			case app.StepQueued:
				l.Queued++
			case app.StepWaiting:
				l.Waiting++
			}
		}
		q.Running, q.Queued = q.Running+l.Running, q.Queued+l.Queued
		if op.Status == app.OperationPaused {
			l.Reason, l.Text = execution.WaitPaused, "Paused."
		}
		q.Operations = append(q.Operations, l)
		q.Groups = append(q.Groups, execution.WaitGroup{Reason: execution.WaitSteps, Text: "Waiting for other steps of the plan.", Count: l.Waiting, Oldest: op.CreatedAt})
		q.Text = fmt.Sprintf("%d operations in progress, %d steps running on 4 slots, %d queued.", len(q.Operations), q.Running, q.Queued)
	}
	return q, nil
}

// failStepAfter marks a cluster at rest as failed, as a look at its account may do.
func (f *fake) failStepAfter(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.find(id)
	c.Status, c.Message = app.ClusterFailed, "A machine is gone."
	c.Operations[0].Status = app.OperationFailed
	f.tell(id, app.Event{Kind: app.EventCluster, Status: string(c.Status)})
}
