package cluster

import (
	"context"
	"fmt"

	"muster/app"
	"muster/app/ownership"
	"muster/app/sharing"
	"muster/app/store/db"
	"muster/app/store/policy"
	"muster/app/store/user"
)

func (s *Store) RenameCluster(ctx context.Context, r ownership.Rename) error {
	return s.Write(ctx, func(t *db.Tx) error {
		c, err := Live(t, r.Tenant, r.Cluster)
		if err != nil {
			return err
		}
		var other string
		err = t.Row(`SELECT name FROM clusters WHERE deleted_at = 0 AND tenant = ? AND id <> ? AND (id = ? OR name = ?) LIMIT 1`,
			c.Tenant, c.ID, r.Name, r.Name).Scan(&other)
		switch {
		case err == nil && other == r.Name:
			return &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("Cluster %q already exists.", r.Name), Hint: "Choose another name."}
		case err == nil:
			return &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("%q is the ID of another cluster.", r.Name),
				Hint: "Choose another name."}
		case !db.IsNoRows(err):
			return db.Wrapped(err)
		}
		var asked int64
		err = t.Row(`SELECT id FROM requests WHERE tenant = ? AND name = ? AND status IN ('waiting', 'offered') LIMIT 1`, c.Tenant, r.Name).Scan(&asked)
		if err == nil {
			return &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("Request %d is for a cluster named %q.", asked, r.Name),
				Hint: "Choose another name, or withdraw that request first."}
		}
		if !db.IsNoRows(err) {
			return db.Wrapped(err)
		}
		if err := t.Exec(`UPDATE clusters SET name = ? WHERE id = ?`, r.Name, c.ID); err != nil {
			return err
		}
		if err := t.Event(app.Event{At: r.Now, Tenant: c.Tenant, Cluster: c.ID, Kind: app.EventCluster, Status: string(c.Status),
			Message: fmt.Sprintf("%s renamed the cluster from %s to %s.", r.Who.Name(), c.Name, r.Name)}); err != nil {
			return err
		}
		return t.AddAudit(r.Now, r.Who, "cluster.rename", c.ID, map[string]string{"name": c.Name}, map[string]string{"name": r.Name})
	})
}

func (s *Store) TransferCluster(ctx context.Context, r ownership.Transfer) error {
	return s.Write(ctx, func(t *db.Tx) error {
		c, err := Live(t, r.Tenant, r.Cluster)
		if err != nil {
			return err
		}
		if c.Owner != r.From {
			return &app.Error{Code: app.EConflict, Reason: "owner_changed", Message: fmt.Sprintf("Cluster %q now belongs to %s.", c.Name, c.Owner)}
		}
		if r.Group != "" {
			if err := knownGroup(t, r.Tenant, r.Group, "to"); err != nil {
				return err
			}
		}
		heir, err := user.Read(t, r.Tenant, r.To)
		if app.CodeOf(err) == app.ENotFound {
			return &app.Error{Code: app.EInvalid, Field: "to", Message: fmt.Sprintf("User %q doesn't exist in this tenant.", r.To)}
		}
		if err != nil {
			return err
		}
		if err := r.Accepts(heir); err != nil {
			return err
		}
		was := sharing.Share{Person: c.Owner, Group: c.OwnerGroup}.Name()
		now := sharing.Share{Person: r.To, Group: r.Group}.Name()
		kept, err := policy.Reserved(t, c.Tenant, c.ID, 0)
		if err != nil {
			return err
		}
		if kept != nil && kept.EndedAt.IsZero() {
			moved := kept.Reservation
			moved.Owner, moved.Groups = r.To, append([]string{}, heir.Groups...)
			if err := policy.Reserve(t, r.Now, moved); err != nil {
				return err
			}
		}
		if err := t.Exec(`UPDATE clusters SET owner = ?, owner_group = ? WHERE id = ?`, r.To, r.Group, c.ID); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE volumes SET owner = ? WHERE cluster = ? AND cluster <> '' AND deleted_at = 0`, r.To, c.ID); err != nil {
			return err
		}
		// What was shared with them ends with their owning it.
		if err := t.Exec(`DELETE FROM cluster_shares WHERE cluster = ? AND (person = ? OR in_group <> '' AND in_group = ?)`, c.ID, r.To, r.Group); err != nil {
			return err
		}
		if err := t.Event(app.Event{At: r.Now, Tenant: c.Tenant, Cluster: c.ID, Kind: app.EventCluster, Status: string(c.Status),
			Message: fmt.Sprintf("%s transferred the cluster from %s to %s.", r.Who.Name(), was, now)}); err != nil {
			return err
		}
		for _, n := range r.Notices(c) {
			if err := t.Notice(n); err != nil {
				return err
			}
		}
		return t.AddAudit(r.Now, r.Who, "cluster.transfer", c.ID, map[string]string{"owner": was}, map[string]string{"owner": now})
	})
}

// Live returns a cluster that is not gone; EConflict for one that is.
func Live(t *db.Tx, tenant, id string) (app.Cluster, error) {
	c, err := Scan(t.Row(`SELECT `+Columns+` FROM clusters c WHERE c.tenant = ? AND c.id = ?`, tenant, id))
	if err := ReadError(err, id); err != nil {
		return c, err
	}
	if !c.DeletedAt.IsZero() {
		return c, app.Errorf(app.EConflict, "Cluster %q is gone.", c.Name)
	}
	return c, nil
}
