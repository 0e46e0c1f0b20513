package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/app/store/db"
	"muster/app/store/identity"
)

const (
	provisionerColumns = `id, name, host, version, token, tags, slots, state, registered_at, seen_at, ended_at, only_tenants`
	provisionerAlive   = `state IN ('active', 'draining')`
	// endedKept is how long a registration that has ended is kept for people to look at.
	endedKept = 24 * time.Hour
)

func scanProvisioner(row db.Scanner) (app.Provisioner, error) {
	var p app.Provisioner
	var tags, only string
	var registered, seen, ended int64
	if err := row.Scan(&p.ID, &p.Name, &p.Host, &p.Version, &p.Token, &tags, &p.Slots, &p.State, &registered, &seen, &ended, &only); err != nil {
		return p, err
	}
	if only != "" {
		if err := json.Unmarshal([]byte(only), &p.Only); err != nil {
			return p, fmt.Errorf("store: provisioner %s: %w", p.ID, err)
		}
	}
	p.RegisteredAt, p.SeenAt, p.EndedAt = db.FromMicros(registered), db.FromMicros(seen), db.FromMicros(ended)
	return p, json.Unmarshal([]byte(tags), &p.Tags)
}

func (s *Store) AddProvisioner(ctx context.Context, p app.Provisioner) error {
	tags, err := json.Marshal(p.Tags)
	if err != nil {
		return fmt.Errorf("store: provisioner: %w", err)
	}
	only := ""
	if len(p.Only) > 0 {
		b, err := json.Marshal(p.Only)
		if err != nil {
			return fmt.Errorf("store: provisioner: %w", err)
		}
		only = string(b)
	}
	return s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`INSERT INTO provisioners (`+provisionerColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
			p.ID, p.Name, p.Host, p.Version, p.Token, string(tags), p.Slots, string(p.State), db.Micros(p.RegisteredAt), db.Micros(p.SeenAt), only); err != nil {
			return err
		}
		if p.Token != "" {
			if err := t.Exec(`UPDATE provisioner_tokens SET used_at = ? WHERE name = ?`, db.Micros(p.RegisteredAt), p.Token); err != nil {
				return err
			}
		}
		if err := t.Exec(`DELETE FROM provisioners WHERE ended_at > 0 AND ended_at < ?`, db.Micros(p.RegisteredAt.Add(-endedKept))); err != nil {
			return err
		}
		return identity.SharesChanged(t)
	})
}

func (s *Store) Provisioner(ctx context.Context, id string) (app.Provisioner, error) {
	p, err := scanProvisioner(s.Row(ctx, `SELECT `+provisionerColumns+` FROM provisioners WHERE id = ?`, id))
	if db.IsNoRows(err) {
		return p, app.Errorf(app.ENotFound, "The provisioner doesn't exist.")
	}
	if err != nil {
		return p, fmt.Errorf("store: provisioner: %w", err)
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var t app.TenantSlots
		err := row.Scan(&t.Tenant, &t.Slots)
		p.Tenants = append(p.Tenants, t)
		return err
	}, `SELECT tenant, slots FROM provisioner_shares WHERE provisioner = ? ORDER BY tenant`, id)
	return p, err
}

func (s *Store) Provisioners(ctx context.Context) ([]app.Provisioner, error) {
	all, _, err := s.provisioners(ctx, `1 = 1`)
	return all, err
}

func (s *Store) BusyProvisioners(ctx context.Context) ([]app.Provisioner, error) {
	all, err := s.Provisioners(ctx)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int, len(all))
	for i, p := range all {
		at[execution.WorkerPrefix(p.ID)] = i
	}
	// The name of a worker is that of its provisioner and ten letters.
	err = s.Each(ctx, func(row db.Scanner) error {
		var prefix, tenant string
		var n int
		if err := row.Scan(&prefix, &tenant, &n); err != nil {
			return err
		}
		if i, known := at[prefix]; known {
			all[i].Tenants = addRunning(all[i].Tenants, tenant, n)
		}
		return nil
	}, `SELECT substr(w.worker, 1, length(w.worker) - 10), w.tenant, CAST(sum(w.n) AS BIGINT) FROM (
			SELECT worker, tenant, count(*) AS n FROM steps WHERE state = 'running' GROUP BY worker, tenant) w
		WHERE length(w.worker) > 10 GROUP BY substr(w.worker, 1, length(w.worker) - 10), w.tenant ORDER BY 2`)
	return all, err
}

// ProvisionerSteps implements fleet.ProvisionerStore.
func (s *Store) ProvisionerSteps(ctx context.Context, id string, most int) ([]fleet.ProvisionerStep, error) {
	all := []fleet.ProvisionerStep{}
	prefix := execution.WorkerPrefix(id)
	err := s.Each(ctx, func(row db.Scanner) error {
		var p fleet.ProvisionerStep
		var started int64
		err := row.Scan(&p.Worker, &p.Tenant, &p.Cluster, &p.Operation, &p.Node, &p.Action, &p.Service, &started)
		p.StartedAt = db.FromMicros(started)
		all = append(all, p)
		return err
	}, `SELECT worker, tenant, cluster, operation, node, action, service, started_at FROM steps
		WHERE state = 'running' AND substr(worker, 1, `+strconv.Itoa(len([]rune(prefix)))+`) = ? ORDER BY started_at, operation, idx LIMIT ?`, prefix, most)
	return all, err
}

// addRunning keeps the order; a tenant whose worker is being withdrawn may still have steps.
func addRunning(tenants []app.TenantSlots, tenant string, n int) []app.TenantSlots {
	for i := range tenants {
		if tenants[i].Tenant == tenant {
			tenants[i].Running += n
			return tenants
		}
	}
	return append(tenants, app.TenantSlots{Tenant: tenant, Running: n})
}

// provisioners returns those that where picks, those alive first, and since when each tenant of each has been idle.
func (s *Store) provisioners(ctx context.Context, where string) ([]app.Provisioner, map[string]map[string]time.Time, error) {
	var all []app.Provisioner
	at := map[string]int{}
	err := s.Each(ctx, func(row db.Scanner) error {
		p, err := scanProvisioner(row)
		at[p.ID] = len(all)
		all = append(all, p)
		return err
	}, `SELECT `+provisionerColumns+` FROM provisioners WHERE `+where+` ORDER BY CASE WHEN `+provisionerAlive+` THEN 0 ELSE 1 END, name, id`)
	if err != nil {
		return nil, nil, err
	}
	idle := map[string]map[string]time.Time{}
	err = s.Each(ctx, func(row db.Scanner) error {
		var id string
		var t app.TenantSlots
		var since int64
		if err := row.Scan(&id, &t.Tenant, &t.Slots, &since); err != nil {
			return err
		}
		if i, known := at[id]; known {
			all[i].Tenants = append(all[i].Tenants, t)
		}
		if since != 0 {
			if idle[id] == nil {
				idle[id] = map[string]time.Time{}
			}
			idle[id][t.Tenant] = db.FromMicros(since)
		}
		return nil
	}, `SELECT provisioner, tenant, slots, idle_since FROM provisioner_shares ORDER BY provisioner, tenant`)
	return all, idle, err
}

func (s *Store) TouchProvisioner(ctx context.Context, id string, draining bool, now time.Time) (app.Provisioner, error) {
	err := s.Write(ctx, func(t *db.Tx) error {
		if err := t.Exec(`UPDATE provisioners SET seen_at = ? WHERE id = ? AND `+provisionerAlive, db.Micros(now), id); err != nil {
			return err
		}
		if !draining {
			return nil
		}
		n, err := t.Count(`UPDATE provisioners SET state = 'draining' WHERE id = ? AND state = 'active'`, id)
		if err != nil || n == 0 {
			return err
		}
		return identity.SharesChanged(t)
	})
	if err != nil {
		return app.Provisioner{}, err
	}
	return s.Provisioner(ctx, id)
}

func (s *Store) EndProvisioner(ctx context.Context, id string, state app.ProvisionerState, now time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE provisioners SET state = ?, ended_at = ? WHERE id = ? AND `+provisionerAlive, string(state), db.Micros(now), id)
		if err != nil || n == 0 {
			return err
		}
		if err := t.Exec(`DELETE FROM provisioner_shares WHERE provisioner = ?`, id); err != nil {
			return err
		}
		return identity.SharesChanged(t)
	})
}

func (s *Store) DrainProvisioners(ctx context.Context, name, who string, now time.Time) (found int, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE provisioners SET state = 'draining' WHERE (name = ? OR id = ?) AND `+provisionerAlive, name, name)
		if err != nil {
			return err
		}
		if n == 0 {
			return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Provisioner %q doesn't exist.", name),
				Hint: "Run `muster provisioners` to list provisioners."}
		}
		found = int(n)
		if err := t.Audit(now, app.DefaultTenant, who, "provisioner.drain", name, ""); err != nil {
			return err
		}
		return identity.SharesChanged(t)
	})
	return found, err
}
