package fleet

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/fleet"
	"muster/app/ledger"
	"muster/app/store/db"
	"muster/app/store/pool"
)

const orphanColumns = `id, provider, machine, hostname, zone, tenant, cluster, node, intent, kind, price, created_at,
	first_seen, last_seen, sightings, gone_at, decision, decided, error, resource`

func scanOrphan(row db.Scanner) (fleet.Orphan, error) {
	var o fleet.Orphan
	var made, first, last, gone int64
	err := row.Scan(&o.ID, &o.Provider, &o.Machine, &o.Hostname, &o.Zone, &o.Tenant, &o.Cluster, &o.Node, &o.Intent, &o.Kind, &o.Price,
		&made, &first, &last, &o.SeenCount, &gone, &o.Decision, &o.Decided, &o.Error, &o.Resource)
	o.CreatedAt, o.FirstSeen, o.LastSeen, o.DeletedAt = db.FromMicros(made), db.FromMicros(first), db.FromMicros(last), db.FromMicros(gone)
	return o, err
}

// HoldAccount lets one of several servers compare an account: false where another one has held it since less than for.
func (s *Store) HoldAccount(ctx context.Context, provider, holder string, now time.Time, hold time.Duration) (held bool, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`INSERT INTO accounts (provider, holder, held_until, began_at, ended_at, machines, orphans, deleted, held_back, lost, error)
			VALUES (?, ?, ?, ?, 0, 0, 0, 0, 0, 0, '')
			ON CONFLICT (provider) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until, began_at = excluded.began_at
			WHERE accounts.held_until <= ? OR accounts.held_until > ? OR accounts.holder = excluded.holder`,
			provider, holder, db.Micros(now.Add(hold)), db.Micros(now), db.Micros(now), db.Micros(now.Add(ledger.FarFuture)))
		held = n > 0
		return err
	})
	return held, err
}

// EndPass keeps what a pass found and lets go of the account.
func (s *Store) EndPass(ctx context.Context, holder string, a app.Account) error {
	return s.Write(ctx, func(t *db.Tx) error {
		return t.Exec(`UPDATE accounts SET held_until = 0, ended_at = ?, machines = ?, orphans = ?, deleted = ?, held_back = ?, lost = ?, error = ?
			WHERE provider = ? AND holder = ?`,
			db.Micros(a.EndedAt), a.Machines, a.Orphans, a.Deleted, a.HeldBack, a.Lost, a.Error, a.Provider, holder)
	})
}

// Accounts implements fleet.MachineStore. Those of tenants that were deleted are over.
func (s *Store) Accounts(ctx context.Context) ([]app.Account, error) {
	list := []app.Account{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var a app.Account
		var began, ended int64
		err := row.Scan(&a.Provider, &began, &ended, &a.Machines, &a.Orphans, &a.Deleted, &a.HeldBack, &a.Lost, &a.Error)
		a.BeganAt, a.EndedAt = db.FromMicros(began), db.FromMicros(ended)
		list = append(list, a)
		return err
	}, `SELECT provider, began_at, ended_at, machines, orphans, deleted, held_back, lost, error FROM accounts
		WHERE provider NOT LIKE '%/%' OR EXISTS (SELECT 1 FROM tenants t WHERE t.deleting_at = 0 AND substr(accounts.provider, 1, length(t.name) + 1) = t.name || '/')
		ORDER BY provider`)
	return list, err
}

// OrderedAccounts returns the providers with an orphan whose deletion a person has ordered and no one has tried yet.
func (s *Store) OrderedAccounts(ctx context.Context) (names []string, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		var name string
		err := row.Scan(&name)
		names = append(names, name)
		return err
	}, `SELECT DISTINCT provider FROM orphans WHERE gone_at = 0 AND decision = 'delete' AND error = ''`)
	return names, err
}

// orphanMemory is how long orphans that are gone can still be looked at.
const orphanMemory = 30 * 24 * time.Hour

// SeeOrphans writes down the orphans of an account that were seen now, and marks those that were not as gone. Seen
// again after it was gone, a machine counts as seen for the first time, and what was decided about it is forgotten. The
// answer is what is there now.
func (s *Store) SeeOrphans(ctx context.Context, provider string, now time.Time, seen []fleet.Orphan) (list []fleet.Orphan, err error) {
	at := db.Micros(now)
	err = s.Write(ctx, func(t *db.Tx) error {
		list = []fleet.Orphan{}
		for _, o := range seen {
			err := t.Exec(`INSERT INTO orphans (id, provider, machine, hostname, zone, tenant, cluster, node, intent, kind, price, created_at,
					first_seen, last_seen, sightings, gone_at, decision, decided, error, resource)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, '', '', '', ?)
				ON CONFLICT (id) DO UPDATE SET hostname = excluded.hostname, zone = excluded.zone, tenant = excluded.tenant,
					cluster = excluded.cluster, node = excluded.node, intent = excluded.intent, kind = excluded.kind, price = excluded.price,
					created_at = excluded.created_at, last_seen = excluded.last_seen,
					first_seen = CASE WHEN orphans.gone_at > 0 OR orphans.first_seen > excluded.first_seen THEN excluded.first_seen ELSE orphans.first_seen END,
					sightings = CASE WHEN orphans.gone_at > 0 THEN 1 ELSE orphans.sightings + 1 END,
					decision = CASE WHEN orphans.gone_at > 0 THEN '' ELSE orphans.decision END,
					decided = CASE WHEN orphans.gone_at > 0 THEN '' ELSE orphans.decided END,
					error = CASE WHEN orphans.gone_at > 0 THEN '' ELSE orphans.error END, gone_at = 0`,
				cmp.Or(o.ID, fleet.OrphanID(provider, o.Machine)), provider, o.Machine, o.Hostname, o.Zone, o.Tenant, o.Cluster, o.Node, o.Intent, o.Kind, o.Price,
				db.Micros(o.CreatedAt), at, at, string(cmp.Or(o.Resource, fleet.ResourceMachine)))
			if err != nil {
				return err
			}
		}
		if err := t.Exec(`UPDATE orphans SET gone_at = ? WHERE provider = ? AND gone_at = 0 AND last_seen <> ?`, at, provider, at); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM orphans WHERE gone_at > 0 AND gone_at < ?`, db.Micros(now.Add(-orphanMemory))); err != nil {
			return err
		}
		return t.Each(func(row db.Scanner) error {
			o, err := scanOrphan(row)
			list = append(list, o)
			return err
		}, `SELECT `+orphanColumns+` FROM orphans WHERE provider = ? AND gone_at = 0 ORDER BY first_seen, id`, provider)
	})
	if err == nil && len(list)+len(seen) > 0 {
		s.WakeWatchers(app.EverythingTopic())
	}
	return list, err
}

// OrphanDeleted notes that a deletion was ordered and proven, or why it failed.
func (s *Store) OrphanDeleted(ctx context.Context, id string, now time.Time, failure string) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if failure != "" {
			return t.Exec(`UPDATE orphans SET error = ? WHERE id = ? AND gone_at = 0`, failure, id)
		}
		o, err := scanOrphan(t.Row(`UPDATE orphans SET gone_at = ?, error = '' WHERE id = ? AND gone_at = 0 RETURNING `+orphanColumns, db.Micros(now), id))
		if db.IsNoRows(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("store: orphan: %w", err)
		}
		who := o.Decided
		if who == "" {
			who = "muster"
		}
		return t.Audit(now, o.Tenant, who, "orphan.deleted", o.Provider+"/"+o.Machine, string(o.Kind))
	})
}

func (s *Store) Orphans(ctx context.Context, tenant string, gone bool) ([]fleet.Orphan, error) {
	where, args := "gone_at = 0", []any{}
	if gone {
		where = "gone_at >= 0"
	}
	if tenant != "" {
		where, args = where+" AND tenant = ?", append(args, tenant)
	}
	list := []fleet.Orphan{}
	err := s.Each(ctx, func(row db.Scanner) error {
		o, err := scanOrphan(row)
		list = append(list, o)
		return err
	}, `SELECT `+orphanColumns+` FROM orphans WHERE `+where+` ORDER BY first_seen, id LIMIT 10000`, args...)
	return list, err
}

func (s *Store) DecideOrphan(ctx context.Context, tenant, id string, d fleet.OrphanDecision, who app.Actor, now time.Time) (o fleet.Orphan, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		o, err = scanOrphan(t.Row(`SELECT `+orphanColumns+` FROM orphans WHERE id = ?`, id))
		switch {
		case db.IsNoRows(err), err == nil && tenant != "" && o.Tenant != tenant:
			o = fleet.Orphan{}
			return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Orphaned machine %q doesn't exist.", id), Hint: "Run muster orphans to list them."}
		case err != nil:
			return fmt.Errorf("store: orphan: %w", err)
		case !o.DeletedAt.IsZero():
			return app.Errorf(app.EConflict, "Machine %s of %s is already gone.", o.Machine, o.Provider)
		}
		if err := t.Exec(`UPDATE orphans SET decision = ?, decided = ? WHERE id = ?`, d, who.User, id); err != nil {
			return err
		}
		o.Decision, o.Decided = d, who.User
		return t.Audit(now, who.Tenant, who.User, "orphan."+string(d), o.Provider+"/"+o.Machine, string(o.Kind))
	})
	return o, err
}

// orphanMode is the setting that says what happens to orphans.
const orphanMode = "orphans"

func (s *Store) OrphanMode(ctx context.Context) (m fleet.OrphanMode, err error) {
	err = s.Row(ctx, `SELECT value FROM settings WHERE name = ?`, orphanMode).Scan(&m)
	if db.IsNoRows(err) {
		return fleet.OrphansDelete, nil
	}
	if err != nil {
		return "", fmt.Errorf("store: %w", err)
	}
	return m, nil
}

func (s *Store) SetOrphanMode(ctx context.Context, m fleet.OrphanMode, who app.Actor, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, orphanMode, m); err != nil {
			return err
		}
		return t.Audit(now, who.Tenant, who.User, "orphans.mode", "installation", string(m))
	})
}

// MarkFound undoes MarkLost, where nothing was done to the cluster since.
func (s *Store) MarkFound(ctx context.Context, tenant, cluster string, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE clusters AS c SET status = 'active', message = '', lost_at = 0 WHERE c.tenant = ? AND c.id = ? AND `+untouched, tenant, cluster)
		if err != nil || n == 0 {
			return err
		}
		if err := t.Exec(`UPDATE nodes SET lost_at = 0 WHERE tenant = ? AND cluster = ? AND lost_at > 0`, tenant, cluster); err != nil {
			return err
		}
		if err := pool.MachineFound(t, cluster, now); err != nil {
			return err
		}
		return t.Event(app.Event{At: now, Tenant: tenant, Cluster: cluster, Kind: app.EventCluster, Status: string(app.ClusterActive),
			Message: "All machines are running again."})
	})
}
