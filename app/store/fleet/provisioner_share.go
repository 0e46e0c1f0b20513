package fleet

import (
	"context"
	"strings"
	"time"

	"muster/app/fleet"
	"muster/app/store/db"
	"muster/app/store/identity"
)

// atWork is what each operation in progress has queued and running, and how far it is.
const atWork = `SELECT o.tenant, c.provider, o.queued + o.running, o.expected, o.done, o.total FROM operations o JOIN clusters c ON c.id = o.cluster
	WHERE o.status IN ('running', 'paused', 'cancelling') AND o.queued + o.running > 0`

func (s *Store) Load(ctx context.Context) (fleet.Load, error) {
	var l fleet.Load
	// The number is read first: whatever changes after that makes it an old one.
	err := s.Row(ctx, `SELECT COALESCE((SELECT value FROM counters WHERE name = 'shares'), 0)`).Scan(&l.Version)
	if err != nil {
		return l, err
	}
	type place struct{ tenant, provider string }
	demands := map[place]*fleet.ProviderDemand{}
	var order []place
	err = s.Each(ctx, func(row db.Scanner) error {
		var d fleet.ProviderDemand
		var expected, done, total int64
		if err := row.Scan(&d.Tenant, &d.Provider, &d.Steps, &expected, &done, &total); err != nil {
			return err
		}
		d.Rest = time.Duration(float64(expected)*float64(total-done)/float64(max(total, 1))) * time.Microsecond
		k := place{d.Tenant, d.Provider}
		if sum := demands[k]; sum != nil {
			sum.Steps += d.Steps
			sum.Rest = min(sum.Rest, d.Rest)
			return nil
		}
		demands[k] = &d
		order = append(order, k)
		return nil
	}, atWork)
	if err != nil {
		return l, err
	}
	for _, k := range order {
		l.Demands = append(l.Demands, *demands[k])
	}
	l.Slots = map[string]int{}
	err = s.Each(ctx, func(row db.Scanner) error {
		var tenant string
		var slots int
		err := row.Scan(&tenant, &slots)
		l.Slots[tenant] = slots
		return err
	}, `SELECT name, slots FROM tenants WHERE slots > 0`)
	if err != nil {
		return l, err
	}
	l.Provisioners, l.Idle, err = s.provisioners(ctx, provisionerAlive)
	return l, err
}

func (s *Store) Share(ctx context.Context, version int64, shares []fleet.Share) (done bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		done = false
		var now int64
		if err := t.Row(`SELECT COALESCE((SELECT value FROM counters WHERE name = 'shares'), 0)`).Scan(&now); err != nil {
			return err
		}
		if now != version {
			return nil
		}
		for _, sh := range shares {
			if sh.Slots <= 0 {
				if err := t.Exec(`DELETE FROM provisioner_shares WHERE provisioner = ? AND tenant = ?`, sh.Provisioner, sh.Tenant); err != nil {
					return err
				}
				continue
			}
			if err := t.Exec(`INSERT INTO provisioner_shares (provisioner, tenant, slots, idle_since) VALUES (?, ?, ?, ?)
				ON CONFLICT (provisioner, tenant) DO UPDATE SET slots = excluded.slots, idle_since = excluded.idle_since`,
				sh.Provisioner, sh.Tenant, sh.Slots, db.Micros(sh.IdleSince)); err != nil {
				return err
			}
		}
		done = true
		return identity.SharesChanged(t)
	})
	return done, err
}

// WorkQueued reports whether the tenant has queued steps of providers other than these that were dispatched (or, undispatched, waited)
// since before then.
func (s *Store) WorkQueued(ctx context.Context, tenant string, except []string, before time.Time) (bool, error) {
	args := []any{tenant, db.Micros(before)}
	filter := ""
	if len(except) > 0 {
		filter = ` AND NOT EXISTS (SELECT 1 FROM clusters c WHERE c.id = o.cluster AND c.provider IN (?` + strings.Repeat(`, ?`, len(except)-1) + `))`
		for _, name := range except {
			args = append(args, name)
		}
	}
	var some bool
	err := s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM operations o JOIN steps s ON s.operation = o.id AND s.state = 'queued'
		WHERE o.tenant = ? AND o.queued > 0 AND s.rung_at <= ?`+filter+`)`,
		args...).Scan(&some)
	return some, err
}
