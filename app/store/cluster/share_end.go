package cluster

import (
	"context"
	"time"

	"muster/app"
	"muster/app/sharing"
	"muster/app/store/db"
)

// EndShares implements sharing.Store.
func (s *Store) EndShares(ctx context.Context, now time.Time, limit int) (ended int, err error) {
	type endedShare struct {
		sharing.Share
		tenant, cluster string
	}
	err = s.Write(ctx, func(t *db.Tx) error {
		var list []endedShare
		err := t.Each(func(row db.Scanner) error {
			var one endedShare
			var until int64
			err := row.Scan(&one.tenant, &one.cluster, &one.Person, &one.Group, &one.Access, &until)
			one.Until = db.FromMicros(until)
			list = append(list, one)
			return err
		}, `SELECT tenant, cluster, person, in_group, access, until FROM cluster_shares WHERE until > 0 AND until <= ?
			ORDER BY until LIMIT ?`, db.Micros(now), limit)
		if err != nil {
			return err
		}
		for _, one := range list {
			if err := t.Exec(`DELETE FROM cluster_shares WHERE tenant = ? AND cluster = ? AND person = ? AND in_group = ?`,
				one.tenant, one.cluster, one.Person, one.Group); err != nil {
				return err
			}
			if err := announceEnd(t, one.tenant, one.cluster, one.Share, now); err != nil {
				return err
			}
		}
		ended = len(list)
		return nil
	})
	return ended, err
}

// announceEnd notes that a share has ended; those of deleted clusters are no one's concern.
func announceEnd(t *db.Tx, tenant, cluster string, one sharing.Share, now time.Time) error {
	c, err := Live(t, tenant, cluster)
	if app.CodeOf(err) == app.ENotFound || app.CodeOf(err) == app.EConflict {
		return nil
	}
	if err != nil {
		return err
	}
	for _, n := range one.EndNotices(c, now) {
		if err := t.Notice(n); err != nil {
			return err
		}
	}
	if err := t.Event(app.Event{At: now, Tenant: c.Tenant, Cluster: c.ID, Kind: app.EventCluster, Status: string(c.Status),
		Message: "The access of " + one.Name() + " has ended."}); err != nil {
		return err
	}
	return t.AddAudit(now, app.System(c.Tenant, app.Expirer), "cluster.share_end", c.ID, one, nil)
}
