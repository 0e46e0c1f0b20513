package tunnel

import (
	"context"
	"encoding/json"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/tunnel"
)

// Store keeps requests.
type Store struct{ *db.DB }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{d} }

// most is how many requests are looked at at once.
const most = 200

// AddTunnel implements tunnel.Store.
func (s *Store) AddTunnel(ctx context.Context, r tunnel.Request, old time.Time) error {
	needs, err := json.Marshal(r.Needs)
	if err != nil {
		return err
	}
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`DELETE FROM tunnels WHERE requested_at < ?`, db.Micros(old)); err != nil {
			return err
		}
		t.Topics[app.TunnelsTopic()] = true
		return t.Exec(`INSERT INTO tunnels (id, tenant, address, needs, guarded, requested_at, provisioner, failure) VALUES (?, ?, ?, ?, ?, ?, '', '')`,
			r.ID, r.Tenant, r.Address, string(needs), db.Flag(r.Guarded), db.Micros(r.At))
	})
}

// Tunnels implements tunnel.Store.
func (s *Store) Tunnels(ctx context.Context, since time.Time) (list []tunnel.Request, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var r tunnel.Request
		var needs string
		var at int64
		if err := row.Scan(&r.ID, &r.Tenant, &r.Address, &needs, &r.Guarded, &at); err != nil {
			return err
		}
		r.At = db.FromMicros(at)
		list = append(list, r)
		return json.Unmarshal([]byte(needs), &list[len(list)-1].Needs)
	}, `SELECT id, tenant, address, needs, guarded, requested_at FROM tunnels WHERE requested_at >= ? AND provisioner = ''
		ORDER BY requested_at LIMIT ?`, db.Micros(since), most)
	return list, err
}

// TakeTunnel implements tunnel.Store.
func (s *Store) TakeTunnel(ctx context.Context, id, provisioner string) (taken bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE tunnels SET provisioner = ? WHERE id = ? AND provisioner = ''`, provisioner, id)
		taken = n == 1
		return err
	})
	return taken, err
}

// TunnelTaker implements tunnel.Store.
func (s *Store) TunnelTaker(ctx context.Context, id string) (taker string, err error) {
	found := false
	err = s.Each(ctx, func(row db.Scanner) error {
		found = true
		return row.Scan(&taker)
	}, `SELECT provisioner FROM tunnels WHERE id = ?`, id)
	if err == nil && !found {
		err = app.Errorf(app.ENotFound, "This connection is no longer wanted.")
	}
	return taker, err
}

// DeleteTunnel implements tunnel.Store.
func (s *Store) DeleteTunnel(ctx context.Context, id string) error {
	return s.Write(ctx, func(t *db.Tx) error { return t.Exec(`DELETE FROM tunnels WHERE id = ?`, id) })
}

// FailTunnel implements tunnel.Store.
func (s *Store) FailTunnel(ctx context.Context, id, provisioner string, f tunnel.Failure) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE tunnels SET failure = ? WHERE id = ? AND provisioner = ?`, string(text), id, provisioner)
		if err == nil && n == 0 {
			err = app.Errorf(app.ENotFound, "This connection wasn't requested from this provisioner, or it has ended.")
		}
		t.Topics[app.TunnelsTopic()] = true
		return err
	})
}

// TunnelFailure implements tunnel.Store.
func (s *Store) TunnelFailure(ctx context.Context, id string) (f *tunnel.Failure, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var text string
		if err := row.Scan(&text); err != nil {
			return err
		}
		f = &tunnel.Failure{}
		return json.Unmarshal([]byte(text), f)
	}, `SELECT failure FROM tunnels WHERE id = ? AND failure <> ''`, id)
	return f, err
}
