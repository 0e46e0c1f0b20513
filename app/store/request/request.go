package request

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/humanize"
	apppolicy "muster/app/policy"
	"muster/app/store/build"
	"muster/app/store/chat"
	"muster/app/store/db"
	"muster/app/store/operation"
	"muster/app/store/policy"
)

const requestColumns = `r.id, r.tenant, r.kind, r.cluster, r.requester, r.owner, r.in_groups, r.via, r.status, r.encrypted_spec, r.policy_input, r.decision,
	r.encrypted_terms, r.needs, r.offer, r.round, r.break_glass, r.message, r.requested_at, r.ended_at, r.expires_at, r.due_at, r.maintenance_window`

// scanRequest leaves the sealed fields empty, and returns them for openRequest.
func scanRequest(row db.Scanner) (r cluster.Request, sealed db.SealedRequest, err error) {
	var groups, facts, decision, needs, offer, opening []byte
	var broken, askedAt, ended, expires, due int64
	err = row.Scan(&r.ID, &r.Tenant, &r.Kind, &r.Cluster, &r.Requester, &r.Owner, &groups, &r.Via, &r.Status, &sealed.Asked, &facts, &decision,
		&sealed.Terms, &needs, &offer, &r.Round, &broken, &r.Message, &askedAt, &ended, &expires, &due, &opening)
	if err != nil {
		return r, sealed, err
	}
	for _, c := range []struct {
		text []byte
		into any
	}{{groups, &r.Groups}, {facts, &r.Facts}, {decision, &r.Decision}, {needs, &r.Approvals}, {offer, &r.Offer}, {opening, &r.Window}} {
		if len(c.text) == 0 {
			continue
		}
		if err := json.Unmarshal(c.text, c.into); err != nil {
			return r, sealed, fmt.Errorf("request %d: %w", r.ID, err)
		}
	}
	r.Override = broken != 0
	r.RequestedAt, r.EndedAt, r.ExpiresAt, r.DueAt = db.FromMicros(askedAt), db.FromMicros(ended), db.FromMicros(expires), db.FromMicros(due)
	return r, sealed, nil
}

func scanReview(row db.Scanner) (request int64, v cluster.Review, err error) {
	var at int64
	var counts []byte
	if err := row.Scan(&request, &v.Round, &v.Reviewer, &at, &v.Decision, &v.Reason, &v.PlanHash, &counts); err != nil {
		return 0, v, err
	}
	v.At = db.FromMicros(at)
	return request, v, json.Unmarshal(counts, &v.Counts)
}

const reviewColumns = `v.request, v.round, v.who, v.at, v.verdict, v.reason, v.plan_hash, v.counts`

func (s *Store) SaveRequest(ctx context.Context, n cluster.NewRequest) (r cluster.Request, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		r, err = operation.SaveRequest(t, n)
		return err
	})
	return r, err
}

func (s *Store) MoveRequest(ctx context.Context, m cluster.RequestMove) (r cluster.Request, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		var before cluster.Request
		if before, err = request(t, m.Tenant, m.ID); err != nil {
			return err
		}
		r = before
		r.Approvals, r.Reviews = append([]apppolicy.RequiredApproval(nil), before.Approvals...), append([]cluster.Review(nil), before.Reviews...)
		o, err := r.Move(m)
		if err != nil || o.Nothing {
			return err
		}
		if o.Run {
			if err := s.run(t, &r, m); err != nil {
				return err
			}
		}
		return moved(t, before, r, m, o)
	})
	if err != nil {
		return cluster.Request{}, err
	}
	return r, nil
}

// run makes the cluster that was asked for, or begins with what was asked of one that exists.
func (s *Store) run(t *db.Tx, r *cluster.Request, m cluster.RequestMove) error {
	switch {
	case r.Kind == app.OperationCreate && m.Cluster != nil:
		_, err := operation.Create(t, *m.Cluster)
		r.Cluster = m.Cluster.Cluster.ID
		return err
	case r.Kind != app.OperationCreate && m.Operation != nil:
		n := *m.Operation
		if n.Operation.Tenant != r.Tenant || n.Operation.Cluster != r.Cluster || n.Operation.Kind != r.Kind {
			return app.Errorf(app.EInternal, "request %d is not about what it would run", r.ID)
		}
		if _, err := operation.CheckCurrentState(t, n); err != nil {
			return err
		}
		if err := operation.CheckFollows(t, n); err != nil {
			return err
		}
		_, err := operation.Submit(t, n)
		return err
	}
	return cluster.ErrNotReady
}

// moved writes what a move has changed.
func moved(t *db.Tx, before, r cluster.Request, m cluster.RequestMove, o cluster.RequestOutcome) error {
	offer, kept := "", ""
	if r.Offer != nil {
		offer = db.JSON(r.Offer)
	}
	if r.Status.Open() {
		var k cluster.RequestPayload
		var sealed []byte
		if err := t.Row(`SELECT encrypted_payload FROM requests WHERE id = ?`, r.ID).Scan(&sealed); err != nil {
			return fmt.Errorf("store: request: %w", err)
		}
		if err := t.Keys.OpenJSON(sealed, db.KeptAAD(r.ID), &k); err != nil {
			return err
		}
		switch m.Act {
		case cluster.RequestOffer:
			k.Offer = m.Kept
		case cluster.RequestConfirm:
			if k.Offer == nil {
				return app.Errorf(app.EInternal, "request %d has an offer that was not kept", r.ID)
			}
			k = *k.Offer
		}
		kept = db.JSON(k)
	}
	n, err := t.Count(`UPDATE requests SET status = ?, cluster = ?, plan_hash = ?, encrypted_terms = ?, needs = ?, offer = ?, round = ?, break_glass = ?,
		message = ?, encrypted_payload = ?, ended_at = ?, expires_at = ?, due_at = ?, maintenance_window = ? WHERE id = ? AND tenant = ? AND status = ?`,
		string(r.Status), r.Cluster, r.Terms.PlanHash, t.Keys.SealTerms(r), db.JSON(r.Approvals), offer, r.Round, db.Flag(r.Override), r.Message, t.Keys.SealKept(kept, r.ID),
		db.Micros(r.EndedAt), db.Micros(r.ExpiresAt), db.Micros(r.DueAt), operation.OpeningText(r.Window), r.ID, r.Tenant, string(before.Status))
	if err != nil {
		return err
	}
	if n != 1 {
		return cluster.ErrNotReady
	}
	if v := o.Review; v != nil {
		if err := t.Exec(`INSERT INTO reviews (request, round, who, at, verdict, reason, plan_hash, counts) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			r.ID, v.Round, v.Reviewer, db.Micros(v.At), string(v.Decision), v.Reason, v.PlanHash, db.JSON(v.Counts)); err != nil {
			return err
		}
	}
	switch {
	case r.Kind != app.OperationCreate: // it takes nothing before it runs
	case r.Status.Open() && m.Act == cluster.RequestConfirm:
		err = policy.Reserve(t, m.Now, r.Reservation()) // it takes less now
	case !r.Status.Open() && !o.Run:
		err = policy.Release(t, m.Now, "", r.ID)
	}
	if err != nil {
		return err
	}
	if err := build.RequestMoved(t, m.Now, r); err != nil {
		return err
	}
	if !r.Status.Open() {
		if err := chat.AskEnded(t, r.ID, r.Tenant, r.Cluster, r.Status, m.Now); err != nil {
			return err
		}
	}
	for _, notice := range o.Notices {
		notice.Cluster = r.Cluster
		if err := t.Notice(notice); err != nil {
			return err
		}
	}
	return t.AddAudit(m.Now, m.Who, "request."+string(m.Act), operation.RequestObject(r.ID), requestState(before, ""), requestState(r, m.Reason))
}

// requestState is a request in the audit.
func requestState(r cluster.Request, reason string) map[string]any {
	s := map[string]any{"status": string(r.Status), "plan_hash": r.Terms.PlanHash, "nodes": r.Terms.Layout.Size(), "lease": humanize.DurationField(r.Terms.Lease)}
	if r.Cluster != "" {
		s["cluster"] = r.Cluster
	}
	if reason != "" {
		s["reason"] = reason
	}
	if r.Offer != nil {
		s["offer"] = map[string]any{"plan_hash": r.Offer.PlanHash, "nodes": r.Offer.Layout.Size(), "lease": humanize.DurationField(r.Offer.Lease)}
	}
	if r.Override {
		s["broken_glass"] = true
	}
	if r.Window != nil {
		s["window"] = r.Window
	}
	return s
}

// request returns a request with its reviews as the transaction sees it.
func request(t *db.Tx, tenant string, id int64) (cluster.Request, error) {
	r, sealed, err := scanRequest(t.Row(`SELECT `+requestColumns+` FROM requests r WHERE r.tenant = ? AND r.id = ?`, tenant, id))
	if err != nil {
		return r, requestError(err, id)
	}
	if err := t.Keys.OpenRequest(&r, sealed); err != nil {
		return r, err
	}
	return r, t.Each(func(row db.Scanner) error {
		_, v, err := scanReview(row)
		r.Reviews = append(r.Reviews, v)
		return err
	}, `SELECT `+reviewColumns+` FROM reviews v WHERE v.request = ? ORDER BY v.round, v.at, v.who`, id)
}

func requestError(err error, id int64) error {
	if db.IsNoRows(err) {
		return app.Errorf(app.ENotFound, "Request %d doesn't exist.", id)
	}
	return fmt.Errorf("store: request %d: %w", id, err)
}

func (s *Store) RequestsDue(ctx context.Context, now time.Time, limit int) (list []cluster.Request, err error) {
	var hidden []db.SealedRequest
	err = s.Each(ctx, func(row db.Scanner) error {
		r, sealed, err := scanRequest(row)
		list, hidden = append(list, r), append(hidden, sealed)
		return err
	}, `SELECT `+requestColumns+` FROM requests r WHERE r.due_at > 0 AND r.due_at <= ? ORDER BY r.due_at LIMIT ?`, db.Micros(now), limit)
	for i := range list {
		if err == nil {
			err = s.OpenRequest(&list[i], hidden[i])
		}
	}
	return list, err
}
