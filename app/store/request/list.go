package request

import (
	"context"
	"encoding/json"
	"fmt"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/policy"
	"muster/app/store/cluster"
	"muster/app/store/db"
)

func (s *Store) Request(ctx context.Context, tenant string, id int64) (appcluster.Request, error) {
	return s.request(ctx, tenant, nil, id)
}

func (s *Store) ReadableRequest(ctx context.Context, r app.ClusterReader, id int64) (appcluster.Request, error) {
	found, err := s.request(ctx, r.Tenant, nil, id)
	if err != nil || policy.Decides(r, found.Approvals) {
		return found, err
	}
	return s.request(ctx, r.Tenant, &r, id)
}

func (s *Store) request(ctx context.Context, tenant string, r *app.ClusterReader, id int64) (appcluster.Request, error) {
	may, mine := cluster.ReadableRequest(r)
	list, err := s.requests(ctx, `SELECT `+requestColumns+` FROM requests r WHERE r.tenant = ? AND r.id = ?`+may, append([]any{tenant, id}, mine...)...)
	if err != nil {
		return appcluster.Request{}, err
	}
	if len(list) == 0 {
		return appcluster.Request{}, app.Errorf(app.ENotFound, "Request %d doesn't exist.", id)
	}
	return list[0], nil
}

func (s *Store) RequestPayload(ctx context.Context, tenant string, id int64) (k appcluster.RequestPayload, err error) {
	var sealed []byte
	err = s.Row(ctx, `SELECT encrypted_payload FROM requests WHERE tenant = ? AND id = ?`, tenant, id).Scan(&sealed)
	if err != nil {
		return k, requestError(err, id)
	}
	if len(sealed) == 0 {
		return k, app.Errorf(app.ENotFound, "Request %d is no longer open.", id)
	}
	return k, s.OpenJSON(sealed, db.KeptAAD(id), &k)
}

func (s *Store) Requests(ctx context.Context, tenant string, f appcluster.RequestFilter) ([]appcluster.Request, error) {
	where, args := "r.tenant = ?", []any{tenant}
	if f.Status != "" {
		where, args = where+" AND r.status = ?", append(args, string(f.Status))
	}
	if f.Open {
		where += " AND r.status IN ('waiting', 'offered')" // as the index requests_open has it
	}
	if f.Requester != "" {
		where, args = where+" AND r.requester = ?", append(args, f.Requester)
	}
	may, mine := cluster.ReadableRequest(f.Reader)
	where, args = where+may, append(args, mine...)
	if f.Before > 0 {
		where, args = where+" AND r.id < ?", append(args, f.Before)
	}
	if f.Limit <= 0 {
		f.Limit = 100
	}
	return s.requests(ctx, `SELECT `+requestColumns+` FROM requests r WHERE `+where+` ORDER BY r.id DESC LIMIT ?`, append(args, min(f.Limit, 1000))...)
}

// OpenRequests lists the requests of a tenant that are still to be decided, the oldest first.
func (s *Store) OpenRequests(ctx context.Context, tenant string, limit int) ([]appcluster.Request, error) {
	return s.requests(ctx, `SELECT `+requestColumns+` FROM requests r WHERE r.tenant = ? AND r.status IN ('waiting', 'offered') ORDER BY r.id LIMIT ?`, tenant, limit)
}

func (s *Store) OpenRequestsBare(ctx context.Context, tenant string, after int64, limit int) ([]appcluster.Request, error) {
	list := []appcluster.Request{}
	known := map[string][]policy.RequiredApproval{} // many requests need the same
	err := s.Each(ctx, func(row db.Scanner) error {
		r := appcluster.Request{Tenant: tenant}
		var needs []byte
		if err := row.Scan(&r.ID, &r.Status, &r.Requester, &r.Round, &needs); err != nil {
			return err
		}
		if n, ok := known[string(needs)]; ok {
			r.Approvals = n
		} else if len(needs) > 0 {
			if err := json.Unmarshal(needs, &r.Approvals); err != nil {
				return fmt.Errorf("request %d: %w", r.ID, err)
			}
			known[string(needs)] = r.Approvals
		}
		list = append(list, r)
		return nil
	}, `SELECT r.id, r.status, r.requester, r.round, r.needs FROM requests r
		WHERE r.tenant = ? AND r.status IN ('waiting', 'offered') AND r.id > ? ORDER BY r.id LIMIT ?`, tenant, after, limit)
	if err != nil || len(list) == 0 {
		return list, err
	}
	at := map[int64]int{}
	for i, r := range list {
		at[r.ID] = i
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var id int64
		var v appcluster.Review
		err := row.Scan(&id, &v.Round, &v.Reviewer)
		if i, ok := at[id]; ok {
			list[i].Reviews = append(list[i].Reviews, v)
		}
		return err
	}, `SELECT v.request, v.round, v.who FROM requests r JOIN reviews v ON v.request = r.id
		WHERE r.tenant = ? AND r.status IN ('waiting', 'offered') AND r.id BETWEEN ? AND ?`, tenant, list[0].ID, list[len(list)-1].ID)
	return list, err
}

func (s *Store) RequestsNumbered(ctx context.Context, tenant string, ids []int64) ([]appcluster.Request, error) {
	if len(ids) == 0 {
		return []appcluster.Request{}, nil
	}
	args := []any{tenant}
	for _, id := range ids {
		args = append(args, id)
	}
	return s.requests(ctx, `SELECT `+requestColumns+` FROM requests r WHERE r.tenant = ? AND r.id IN (`+db.Placeholders(len(ids))+`) ORDER BY r.id`, args...)
}

// requests reads requests and what was said about them, as they were at one moment.
func (s *Store) requests(ctx context.Context, query string, args ...any) ([]appcluster.Request, error) {
	moment, err := s.Moment(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = moment.Rollback() }()
	list := []appcluster.Request{}
	var hidden []db.SealedRequest
	at := map[int64]int{}
	err = db.Each(ctx, moment, func(row db.Scanner) error {
		r, sealed, err := scanRequest(row)
		at[r.ID] = len(list)
		list, hidden = append(list, r), append(hidden, sealed)
		return err
	}, query, args...)
	if err != nil || len(list) == 0 {
		return list, err
	}
	for i := range list {
		if err := s.OpenRequest(&list[i], hidden[i]); err != nil {
			return list, err
		}
	}
	ids := make([]any, len(list))
	for i, r := range list {
		ids[i] = r.ID
	}
	err = db.Each(ctx, moment, func(row db.Scanner) error {
		id, v, err := scanReview(row)
		if i, ok := at[id]; ok {
			list[i].Reviews = append(list[i].Reviews, v)
		}
		return err
	}, `SELECT `+reviewColumns+` FROM reviews v WHERE v.request IN (`+db.Placeholders(len(ids))+`) ORDER BY v.request, v.round, v.at, v.who`, ids...)
	return list, err
}

func (s *Store) PastFacts(ctx context.Context, tenant string, limit int) ([]policy.PastRequest, error) {
	list := []policy.PastRequest{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var p policy.PastRequest
		var facts []byte
		var at int64
		if err := row.Scan(&p.ID, &p.Requester, &at, &facts); err != nil {
			return err
		}
		p.RequestedAt = db.FromMicros(at)
		list = append(list, p)
		return json.Unmarshal(facts, &list[len(list)-1].Facts)
	}, `SELECT id, requester, requested_at, policy_input FROM requests WHERE tenant = ? ORDER BY id DESC LIMIT ?`, tenant, min(max(limit, 1), 1000))
	return list, err
}
