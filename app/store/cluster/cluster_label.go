package cluster

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/humanize"
	"muster/app/label"
	"muster/app/store/db"
)

// LabelCluster implements label.Store.
func (s *Store) LabelCluster(ctx context.Context, who app.Actor, cluster string, change label.Change, rules *label.Rules,
	at time.Time) (after app.Cluster, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		before, err := Live(t, who.Tenant, cluster)
		if err != nil {
			return err
		}
		after = before
		said, err := change.Apply(&after, rules)
		if err != nil || len(said) == 0 {
			return err
		}
		if err := t.Exec(`UPDATE clusters SET description = ? WHERE id = ?`, after.Description, after.ID); err != nil {
			return err
		}
		if err := SetLabels(t, after); err != nil {
			return err
		}
		if err := t.Event(app.Event{At: at, Tenant: after.Tenant, Cluster: after.ID, Kind: app.EventCluster, Status: string(after.Status),
			Message: fmt.Sprintf("%s changed labels: %s.", who.Name(), humanize.Some(said, 5))}); err != nil {
			return err
		}
		return t.AddAudit(at, who, "cluster.label", after.ID, describedBy(before), describedBy(after))
	})
	return after, err
}

func describedBy(c app.Cluster) map[string]any {
	return map[string]any{"description": c.Description, "labels": c.Labels}
}

// SetLabels writes a cluster's labels: where they are read with it, and where clusters are looked for by them.
func SetLabels(t *db.Tx, c app.Cluster) error {
	labels := c.Labels
	if labels == nil {
		labels = label.Labels{}
	}
	if err := t.Exec(`UPDATE clusters SET labels = ? WHERE id = ?`, db.JSON(labels), c.ID); err != nil {
		return err
	}
	if err := t.Exec(`DELETE FROM cluster_labels WHERE cluster = ?`, c.ID); err != nil {
		return err
	}
	for key, value := range labels {
		if err := t.Exec(`INSERT INTO cluster_labels (cluster, key, tenant, value) VALUES (?, ?, ?, ?)`, c.ID, key, c.Tenant, value); err != nil {
			return err
		}
	}
	return nil
}
