package place

import (
	"context"
	"errors"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	"muster/app/layout"
	"muster/app/template"
)

// Undo does what is to become by itself of operations that did not end well, of all tenants: it continues with the next place, and begins rollbacks and
// accepts partial results as RollBacks.UndoFailed does.
func (s *Service) Undo(ctx context.Context) (begun int, err error) {
	moved, err := s.Continue(ctx)
	begun, failed := s.RollBacks.UndoFailed(ctx)
	return moved + begun, errors.Join(err, failed)
}

// Continue does what is due for requests with several places, of all tenants. It returns how many attempts it began or ended. It can be called again and
// again, by several servers.
func (s *Service) Continue(ctx context.Context) (moved int, err error) {
	due, err := s.Store.PlaceRunsDue(ctx, cluster.TidyAtOnce)
	if err != nil {
		return 0, err
	}
	var errs []error
	for _, r := range due {
		err := s.proceed(ctx, r)
		switch app.CodeOf(err) {
		case "":
			moved++
		case app.EConflict: // a person or another server was faster; what is still due is seen again
		default:
			errs = append(errs, errors.Join(errors.New("places of "+r.Run), err))
		}
	}
	return moved, errors.Join(errs...)
}

// proceed does the next thing for one request.
func (s *Service) proceed(ctx context.Context, r Run) error {
	m := Move{Run: r.Run, Tenant: r.Tenant, Cluster: r.Cluster, Operation: r.Operation, Position: r.Position, Now: s.Now(), Place: r.place(r.Position)}
	switch {
	case r.Deleted && r.Kind == app.OperationRollBack && r.Status == app.OperationSucceeded && r.State == layout.PlacesLeaving:
		return s.next(ctx, r, m)
	case r.Deleted:
		m.State, m.Message = layout.PlacesEnded, "The cluster was deleted."
		if r.State == layout.PlacesTrying {
			m.Candidate, m.Reason = layout.CandidateFailed, m.Message
		}
		return s.Store.EndPlaces(ctx, m)
	case r.Status == app.OperationSucceeded:
		m.State, m.Candidate = layout.PlacesDone, layout.CandidateUsed
		return s.Store.EndPlaces(ctx, m)
	case r.Status == app.OperationCancelled:
		m.State, m.Message, m.Choice = layout.PlacesEnded, "The creation was cancelled.", r.Choice
		m.Candidate, m.Reason = layout.CandidateFailed, m.Message
		return s.Store.EndPlaces(ctx, m)
	}
	steps, err := s.Store.Steps(ctx, r.Tenant, r.Operation)
	if err != nil {
		return err
	}
	c, err := s.Store.Cluster(ctx, r.Tenant, r.Cluster)
	if err != nil {
		return err
	}
	step, full := outOfCapacity(steps)
	m.Reason = step.Error
	switch {
	case !full:
		m.State, m.Candidate, m.Choice = layout.PlacesEnded, layout.CandidateFailed, r.Choice
		m.Message = "The creation failed for another reason than capacity, so no other place is tried."
		m.Reason = m.Message
		return s.Store.EndPlaces(ctx, m)
	case r.Position+1 >= len(r.Payloads):
		m.State, m.Candidate, m.Message = layout.PlacesEnded, layout.CandidateFull, "No place is left to try."
		return s.end(ctx, r, m, c.Owner)
	}
	return s.leave(ctx, r, m, c)
}

// leave begins to delete what was created in a place that is full.
func (s *Service) leave(ctx context.Context, r Run, m Move, c app.Cluster) error {
	o := app.Operation{ID: r.Operation, Tenant: r.Tenant, Cluster: r.Cluster, Kind: app.OperationCreate, Status: r.Status}
	n, err := s.RollBacks.Undo(ctx, c, o, app.Retrier, template.KeepOff) // nothing may be left there
	if err != nil {
		return err
	}
	m.Candidate, m.Act = layout.CandidateFull, "place.leave"
	what := layout.Candidate{Place: m.Place, State: m.Candidate, At: m.Now}.Tried()
	m.Event = &app.Event{At: m.Now, Tenant: r.Tenant, Cluster: r.Cluster, Operation: r.Operation, Kind: app.EventCluster, Status: string(c.Status),
		Message: "Tried " + what + ". What was created there is deleted first. Next: " + r.place(r.Position+1).Text() + "."}
	m.Notice = r.notice(m.Now, r.Cluster, c.Owner, "Cluster "+r.Name+" continues in the next place.", "Tried "+what+". Next: "+r.place(r.Position+1).Text()+".")
	return s.Store.LeavePlace(ctx, n, m)
}

// next begins an attempt in the next place that accepts one.
func (s *Service) next(ctx context.Context, r Run, m Move) error {
	left, err := s.Store.Cluster(ctx, r.Tenant, r.Cluster)
	if err != nil {
		return err
	}
	owner, err := s.Store.User(ctx, r.Tenant, left.Owner)
	if app.CodeOf(err) == app.ENotFound || err == nil && owner.Disabled() {
		m.State, m.Message = layout.PlacesEnded, "The account of the owner, "+left.Owner+", was disabled or deleted."
		return s.Store.EndPlaces(ctx, m)
	}
	if err != nil {
		return err
	}
	shown, err := s.Store.PlacesOf(ctx, r.Tenant, r.Cluster)
	if err != nil {
		return err
	}
	for i := r.Position + 1; i < len(r.Payloads); i++ {
		err := s.attempt(ctx, r, owner.Actor(), left, shown, i)
		e := app.AsError(err)
		switch {
		case err == nil:
			return nil
		case e.Reason == ReasonTaken:
			return err
		case e.Code == app.EInternal, e.Code == app.ETransient, ctx.Err() != nil:
			return err // tried again
		}
		k := m
		k.Position, k.Place, k.Candidate, k.Reason, k.Act = i, r.place(i), layout.CandidateRefused, e.ForPeople(), "place.refuse"
		if err := s.Store.MarkPlace(ctx, k); err != nil {
			return err
		}
	}
	m.State, m.Message = layout.PlacesEnded, "No place is left to try."
	return s.end(ctx, r, m, left.Owner)
}

// attempt creates the cluster in one place, just as it was shown.
func (s *Service) attempt(ctx context.Context, r Run, owner app.Actor, left app.Cluster, shown *layout.Places, i int) error {
	n, err := s.Requests.FromPayload(ctx, owner, r.Payloads[i])
	if err != nil {
		return err
	}
	n.Cluster.Name = left.Name // also where it was derived from the id of the first attempt
	n.Cluster.Visibility, n.Cluster.OwnerGroup = left.Visibility, left.OwnerGroup
	set := cluster.PlaceSet{Order: r.Order, Payloads: r.Payloads}
	if shown != nil {
		set.Candidates = shown.Candidates
	}
	n.TryIn(set, r.Run, i)
	if i+1 == len(r.Payloads) {
		n.Operation.Operation.OnFailure = r.Choice
	}
	_, err = s.Store.CreateCluster(ctx, n)
	return err
}

// end writes that no place is left, and notifies the owner of all that was tried.
func (s *Service) end(ctx context.Context, r Run, m Move, owner string) error {
	shown, err := s.Store.PlacesOf(ctx, r.Tenant, r.Cluster)
	if err != nil {
		return err
	}
	var tried []string
	for i := range r.Payloads {
		if shown == nil || i >= len(shown.Candidates) {
			break
		}
		k := shown.Candidates[i]
		if i == m.Position && m.Candidate != "" {
			k.State, k.At = m.Candidate, m.Now
		}
		if words := k.Tried(); words != "" {
			tried = append(tried, words)
		}
	}
	m.Notice = r.notice(m.Now, r.Cluster, owner, "Cluster "+r.Name+" couldn't be created in any of "+humanize.Count(len(r.Payloads), "place")+".",
		"Tried "+humanize.And(tried)+".")
	return s.Store.EndPlaces(ctx, m)
}
