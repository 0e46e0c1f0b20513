package policy

import (
	"context"
	"time"

	apppolicy "muster/app/policy"
	"muster/app/store/db"
)

const reservationColumns = `r.id, r.tenant, r.cluster, r.request, r.owner, r.nodes, r.cpu, r.cost, r.from_at, r.until_at, r.ended_at, r.pool,
	r.volume_cost`

// keptReservation is a reservation as it is in its table.
type keptReservation struct {
	id int64
	apppolicy.Reservation
}

func scanReservation(row db.Scanner) (r keptReservation, err error) {
	var from, until, ended, pool int64
	err = row.Scan(&r.id, &r.Tenant, &r.Cluster, &r.Request, &r.Owner, &r.Nodes, &r.CPU, &r.CostPerHour, &from, &until, &ended, &pool,
		&r.VolumeCost)
	r.Pool = pool != 0
	r.From, r.Until, r.EndedAt = db.FromMicros(from), db.FromMicros(until), db.FromMicros(ended)
	return r, err
}

// Reserve takes what a cluster or a request needs, in the transaction that accepts it, or refuses with EQuota, reason quota.
// It comes in place of what the same cluster has already, of which only the growth is held against limits; that of the same
// request becomes the cluster's. Writes of all servers are serial, so nothing can come between the check and the write.
func Reserve(t *db.Tx, at time.Time, r apppolicy.Reservation) error {
	had, err := Reserved(t, r.Tenant, r.Cluster, r.Request)
	if err != nil {
		return err
	}
	var before *apppolicy.Reservation
	var id int64
	if had != nil {
		id, before = had.id, &had.Reservation
		if before.Groups, err = reservedGroups(t, id); err != nil {
			return err
		}
		if r.Groups == nil {
			r.Groups = before.Groups
		}
		if r.Request == 0 {
			r.Request = had.Request
		}
		r.From = had.From
		if !had.EndedAt.IsZero() {
			before = nil // what was given back is asked for again
		}
	}
	all, err := quotas(t.Each, r.Tenant, t.Currency())
	if err != nil {
		return err
	}
	var standing []apppolicy.QuotaState
	m := measuring{row: t.Row, now: at}
	if len(all) > 0 {
		if standing, err = m.standings(all, r, id); err != nil {
			return err
		}
		if breach := apppolicy.CheckQuota(r, before, standing, at); breach != nil {
			return refuse(t, r, breach, id)
		}
	}
	if err := keepReservation(t, id, r); err != nil {
		return err
	}
	for _, s := range standing {
		if err := notifyBudget(t, at, r.Tenant, s, s.Months[0]+r.Commits(at)); err != nil {
			return err
		}
	}
	return nil
}

// reservationByRef finds that of a cluster or of a request, and releasedRows those of them that hold.
const (
	reservationByRef = `(r.cluster = ? AND r.cluster <> '' OR r.request = ? AND r.request > 0) AND r.tenant = ?`
	releasedRows     = `(cluster = ? AND cluster <> '' OR request = ? AND request > 0) AND ended_at = 0`
)

// Reserved returns the reservation of a cluster or else of a request; nil for none.
func Reserved(t *db.Tx, tenant, cluster string, request int64) (*keptReservation, error) {
	r, err := scanReservation(t.Row(`SELECT `+reservationColumns+` FROM reservations r WHERE `+reservationByRef+` ORDER BY r.id LIMIT 1`,
		cluster, request, tenant))
	if db.IsNoRows(err) {
		return nil, nil
	}
	return &r, err
}

func reservedGroups(t *db.Tx, id int64) (groups []string, err error) {
	err = t.Each(func(row db.Scanner) error {
		var g string
		err := row.Scan(&g)
		groups = append(groups, g)
		return err
	}, `SELECT in_group FROM reservation_groups WHERE reservation = ? ORDER BY in_group`, id)
	return groups, err
}

func keepReservation(t *db.Tx, id int64, r apppolicy.Reservation) error {
	if id > 0 {
		if err := t.Exec(`UPDATE reservations SET cluster = ?, request = ?, owner = ?, nodes = ?, cpu = ?, cost = ?, until_at = ?, ended_at = 0,
				volume_cost = ? WHERE id = ?`,
			r.Cluster, r.Request, r.Owner, r.Nodes, r.CPU, r.CostPerHour, db.Micros(r.Until), r.VolumeCost, id); err != nil {
			return err
		}
		if err := ofVolumes(t, r); err != nil {
			return err
		}
		if err := t.Exec(`DELETE FROM reservation_groups WHERE reservation = ?`, id); err != nil {
			return err
		}
	} else if err := t.Row(`INSERT INTO reservations (tenant, cluster, request, owner, nodes, cpu, cost, from_at, until_at, ended_at, pool, volume_cost)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?) RETURNING id`, r.Tenant, r.Cluster, r.Request, r.Owner, r.Nodes, r.CPU, r.CostPerHour,
		db.Micros(r.From), db.Micros(r.Until), db.Flag(r.Pool), r.VolumeCost).Scan(&id); err != nil {
		return db.Wrapped(err)
	}
	for _, g := range r.Groups {
		if err := t.Exec(`INSERT INTO reservation_groups (reservation, in_group, tenant, ended_at) VALUES (?, ?, ?, 0) ON CONFLICT DO NOTHING`,
			id, g, r.Tenant); err != nil {
			return err
		}
	}
	return nil
}

// ofVolumes has what is reserved for a cluster's volumes end with its lease, and count for its owner.
func ofVolumes(t *db.Tx, r apppolicy.Reservation) error {
	if r.Cluster == "" {
		return nil
	}
	return t.Exec(`UPDATE reservations SET owner = ?, until_at = ? WHERE ended_at = 0 AND tenant = ?
		AND cluster IN (SELECT v.id FROM volumes v WHERE v.cluster = ? AND v.cluster <> '' AND v.deleted_at = 0)`,
		r.Owner, db.Micros(r.Until), r.Tenant, r.Cluster)
}

// Release ends the reservation of a cluster whose machines are gone, or of a request that comes to nothing ("" and 0 for
// the other). Once more changes nothing.
func Release(t *db.Tx, at time.Time, cluster string, request int64) error {
	if err := t.Exec(`UPDATE reservation_groups SET ended_at = ? WHERE reservation IN (SELECT id FROM reservations WHERE `+releasedRows+`)`,
		db.Micros(at), cluster, request); err != nil {
		return err
	}
	return t.Exec(`UPDATE reservations SET ended_at = ? WHERE `+releasedRows, db.Micros(at), cluster, request)
}

// maxHolders is how many clusters a refusal names.
const maxHolders = 3

// refuse words a breach, with who holds most of the limit.
func refuse(t *db.Tx, r apppolicy.Reservation, b *apppolicy.QuotaBreach, except int64) error {
	amount := map[apppolicy.Measure]string{apppolicy.MeasureClusters: `1 - r.pool`, apppolicy.MeasureNodes: `r.nodes`, apppolicy.MeasureCPU: `r.cpu`}[b.Measure]
	if amount == "" {
		amount = `r.cost`
	}
	from, where, args := `reservations r`, `r.tenant = ? AND r.ended_at = 0 AND r.id <> ?`, []any{r.Tenant, except}
	switch b.Scope {
	case apppolicy.QuotaGroup:
		from = `reservation_groups g JOIN reservations r ON r.id = g.reservation`
		where, args = where+` AND g.tenant = ? AND g.in_group = ? AND g.ended_at = 0`, append(args, r.Tenant, b.Name)
	case apppolicy.QuotaUser, apppolicy.QuotaEachUser:
		where, args = where+` AND r.owner = ?`, append(args, r.Owner)
	}
	var holders []apppolicy.QuotaHolder
	others := 0
	err := t.Each(func(row db.Scanner) error {
		var h apppolicy.QuotaHolder
		err := row.Scan(&h.Name, &h.Owner, &h.Amount)
		if len(holders) < maxHolders {
			holders = append(holders, h)
		} else {
			others++
		}
		return err
	}, `SELECT coalesce((SELECT c.name FROM clusters c WHERE c.id = r.cluster), ''), r.owner, CAST(`+amount+` AS DOUBLE PRECISION) FROM `+from+`
		WHERE `+where+` ORDER BY CAST(`+amount+` AS DOUBLE PRECISION) DESC, r.id LIMIT 1000`, args...)
	if err != nil {
		return err
	}
	if b.Measure == apppolicy.MeasurePerMonth {
		for i := range holders {
			holders[i].Amount = 0 // of a month each cluster has spent another part than its price per hour says
		}
	}
	return b.Refusal(r, holders, others)
}

// Reservations returns those of a tenant that hold.
func (s *Store) Reservations(ctx context.Context, tenant string) ([]apppolicy.Reservation, error) {
	list := []apppolicy.Reservation{}
	err := s.Each(ctx, func(row db.Scanner) error {
		r, err := scanReservation(row)
		list = append(list, r.Reservation)
		return err
	}, `SELECT `+reservationColumns+` FROM reservations r WHERE r.tenant = ? AND r.ended_at = 0 ORDER BY r.id`, tenant)
	return list, err
}

// GroupsOf returns the groups that what a cluster takes counts for.
func GroupsOf(t *db.Tx, tenant, cluster string) ([]string, error) {
	had, err := Reserved(t, tenant, cluster, 0)
	if err != nil || had == nil {
		return nil, err
	}
	return reservedGroups(t, had.id)
}
