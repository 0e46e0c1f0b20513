package operation

import (
	"context"

	"muster/app"
	"muster/app/cluster"
	appplace "muster/app/place"
	"muster/app/store/db"
	"muster/app/store/place"
)

// errPlaceTaken says that another server has moved on with the places of a request.
var errPlaceTaken = &app.Error{Code: app.EConflict, Reason: appplace.ReasonTaken, Message: "Another server has continued with the next place."}

// nextPlace refuses to create a cluster in the next of several places where another server has moved on meanwhile.
func nextPlace(t *db.Tx, n cluster.NewCluster) error {
	if n.Places == nil || n.Places.Run == "" {
		return nil
	}
	leaving, err := place.Leaving(t, n.Places.Run, n.Places.Position)
	if err == nil && !leaving {
		err = errPlaceTaken
	}
	return err
}

// placed writes which of several places a new cluster is in.
func placed(t *db.Tx, n cluster.NewCluster, op app.Operation) error {
	a := n.Places
	if a == nil {
		return nil
	}
	if a.Run == "" {
		return place.Begin(t, n.Cluster.CreatedAt, n.Cluster, op.ID, *a)
	}
	var before string
	if err := t.Row(`SELECT cluster FROM place_runs WHERE run = ?`, a.Run).Scan(&before); err != nil {
		return err
	}
	if err := place.Advance(t, n.Cluster.CreatedAt, n.Cluster, op.ID, *a); err != nil {
		return err
	}
	// What was asked for is this cluster now.
	if err := t.Exec(`UPDATE requests SET cluster = ? WHERE tenant = ? AND cluster = ?`, n.Cluster.ID, n.Cluster.Tenant, before); err != nil {
		return err
	}
	return t.Event(app.Event{At: n.Cluster.CreatedAt, Tenant: n.Cluster.Tenant, Cluster: before, Kind: app.EventCluster, Status: string(app.ClusterDeleted),
		Message: "Continued in " + a.Candidates[a.Position].Text() + " as cluster " + n.Cluster.ID + "."})
}

// LeavePlace implements place.Store.
func (s *Store) LeavePlace(ctx context.Context, n cluster.NewOperation, m appplace.Move) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if _, err := CheckCurrentState(t, n); err != nil {
			return err
		}
		if err := CheckFollows(t, n); err != nil {
			return err
		}
		op, err := Submit(t, n)
		if err != nil {
			return err
		}
		if ok, err := place.Leave(t, m, op.ID); err != nil || !ok {
			return orTaken(err)
		}
		return notifyOf(t, m)
	})
}

// MarkPlace implements place.Store.
func (s *Store) MarkPlace(ctx context.Context, m appplace.Move) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if leaving, err := place.Leaving(t, m.Run, m.Position); err != nil || !leaving {
			return orTaken(err)
		}
		if err := place.Mark(t, m); err != nil {
			return err
		}
		return notifyOf(t, m)
	})
}

// EndPlaces implements place.Store.
func (s *Store) EndPlaces(ctx context.Context, m appplace.Move) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if ok, err := place.End(t, m); err != nil || !ok {
			return orTaken(err)
		}
		if m.Choice != app.FailureLeave {
			if err := t.Exec(`UPDATE operations SET on_failure = ? WHERE id = ? AND tenant = ? AND on_failure = ''`,
				string(m.Choice), m.Operation, m.Tenant); err != nil {
				return err
			}
		}
		return notifyOf(t, m)
	})
}

func orTaken(err error) error {
	if err == nil {
		return errPlaceTaken
	}
	return err
}

// notifyOf writes what people are shown of a move.
func notifyOf(t *db.Tx, m appplace.Move) error {
	if m.Event != nil {
		if err := t.Event(*m.Event); err != nil {
			return err
		}
	}
	if m.Notice != nil {
		if err := t.Notice(*m.Notice); err != nil {
			return err
		}
	}
	if m.Act == "" {
		return nil
	}
	return t.AddAudit(m.Now, app.System(m.Tenant, app.Retrier), m.Act, m.Cluster, nil, map[string]any{"place": m.Place, "reason": m.Reason})
}
