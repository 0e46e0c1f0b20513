package cluster

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/lock"
	"muster/app/store/db"
)

func (s *Store) Locks(ctx context.Context, tenant string) ([]lock.Item, error) {
	list := []lock.Item{}
	err := s.Each(ctx, func(row db.Scanner) error {
		var one lock.Item
		var number int64
		var text string
		if err := row.Scan(&one.Cluster, &one.Name, &one.Node, &number, &text); err != nil {
			return err
		}
		l, err := app.KeptLock(text)
		if err != nil {
			return fmt.Errorf("lock of %s: %w", one.Cluster, err)
		}
		one.Lock = *l
		list = append(list, one)
		return nil
	}, locked, tenant, tenant, lock.Most)
	return list, err
}

// locked finds clusters by their ids, since SQLite would otherwise look at all in order of their names.
const locked = `SELECT c.id, c.name, '', 0, c.locked FROM clusters c
		WHERE c.id IN (SELECT k.id FROM clusters k WHERE k.tenant = ? AND k.locked <> '' AND k.deleted_at = 0)
	UNION ALL SELECT c.id, c.name, n.name, n.number, n.locked FROM nodes n JOIN clusters c ON c.id = n.cluster
		WHERE n.tenant = ? AND n.locked <> '' AND n.removal < 2 AND c.deleted_at = 0
	ORDER BY 2, 1, 4 LIMIT ?`

const countLocked = `SELECT (SELECT count(*) FROM clusters WHERE tenant = ? AND locked <> '' AND deleted_at = 0)
	+ (SELECT count(*) FROM nodes n JOIN clusters c ON c.id = n.cluster
		WHERE n.tenant = ? AND n.locked <> '' AND n.removal < 2 AND c.deleted_at = 0)`

func (s *Store) LockOn(ctx context.Context, tenant, cluster, node string) (*app.Lock, error) {
	var whole, one string
	err := s.Row(ctx, `SELECT `+lockedColumn+`, coalesce((SELECT n.locked FROM nodes n WHERE n.tenant = c.tenant AND n.cluster = c.id AND n.name = ?), '')
		FROM clusters c WHERE c.tenant = ? AND c.id = ?`, node, tenant, cluster).Scan(&whole, &one)
	switch {
	case db.IsNoRows(err):
		return nil, nil
	case err != nil:
		return nil, db.Wrapped(err)
	case whole != "":
		return app.KeptLock(whole)
	}
	return app.KeptLock(one)
}

func (s *Store) SetLock(ctx context.Context, change lock.Change, most int) error {
	return s.Write(ctx, func(t *db.Tx) error {
		c, err := Live(t, change.Tenant, change.Cluster)
		if err != nil {
			return err
		}
		was, err := lockOf(t, c, change.Node)
		if err == nil && was == nil && change.Lock == nil && change.Node == "" && c.Lock != nil {
			err = &app.Error{Code: app.EConflict, Message: fmt.Sprintf("%s is locked with cluster %s, which its machine was in.", c.Name, c.KeptFrom),
				Hint: "Unlock that cluster instead."}
		}
		if err != nil || was == nil && change.Lock == nil {
			return err
		}
		if change.Lock != nil && was == nil {
			var n int
			if err := t.Row(countLocked, c.Tenant, c.Tenant).Scan(&n); err != nil {
				return db.Wrapped(err)
			}
			if n >= most {
				return &app.Error{Code: app.EConflict, Message: fmt.Sprintf("At most %d clusters and nodes can be locked.", most),
					Hint: "Unlock others first, or lock whole clusters instead of nodes."}
			}
		}
		if err := keepLock(t, c, change); err != nil {
			return err
		}
		if err := t.Event(app.Event{At: change.Now, Tenant: c.Tenant, Cluster: c.ID, Kind: app.EventCluster, Status: string(c.Status),
			Message: change.Words(c)}); err != nil {
			return err
		}
		if err := t.Notice(change.Notice(c)); err != nil {
			return err
		}
		act := "cluster.unlock"
		if change.Lock != nil {
			act = "cluster.lock"
		}
		return t.AddAudit(change.Now, change.Who, act, c.ID, audited(change.Node, was), audited(change.Node, change.Lock))
	})
}

// audited is a lock as the audit log has it.
func audited(node string, l *app.Lock) map[string]string {
	said := map[string]string{}
	if node != "" {
		said["node"] = node
	}
	if l != nil {
		said["by"], said["reason"] = l.By, l.Reason
	}
	return said
}

// lockOf is the lock of a cluster, or of one of its nodes; nil where there is none.
func lockOf(t *db.Tx, c app.Cluster, node string) (*app.Lock, error) {
	var text string
	if node == "" {
		err := t.Row(`SELECT locked FROM clusters WHERE tenant = ? AND id = ?`, c.Tenant, c.ID).Scan(&text)
		if err != nil {
			return nil, db.Wrapped(err)
		}
		return app.KeptLock(text)
	}
	err := t.Row(`SELECT locked FROM nodes WHERE tenant = ? AND cluster = ? AND name = ? AND removal < 2`, c.Tenant, c.ID, node).Scan(&text)
	if db.IsNoRows(err) {
		return nil, app.Errorf(app.ENotFound, "Cluster %q has no node %q.", c.Name, node)
	}
	if err != nil {
		return nil, db.Wrapped(err)
	}
	return app.KeptLock(text)
}

func keepLock(t *db.Tx, c app.Cluster, change lock.Change) error {
	if change.Node == "" {
		return t.Exec(`UPDATE clusters SET locked = ? WHERE tenant = ? AND id = ?`, change.Lock.Kept(), c.Tenant, c.ID)
	}
	return t.Exec(`UPDATE nodes SET locked = ? WHERE tenant = ? AND cluster = ? AND name = ?`, change.Lock.Kept(), c.Tenant, c.ID, change.Node)
}
