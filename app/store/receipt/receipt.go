package receipt

import (
	"context"
	"fmt"
	"time"

	"muster/app"
	"muster/app/fleet"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/providervalue"
)

func (s *Store) Resources(ctx context.Context, tenant, cluster string) ([]fleet.CloudResource, error) {
	list := []fleet.CloudResource{}
	err := s.Each(ctx, func(row db.Scanner) error {
		r := fleet.CloudResource{Tenant: tenant, Cluster: cluster}
		var made, gone int64
		err := row.Scan(&r.Provider, &r.Kind, &r.ID, &r.Node, &r.Intent, &r.Zone, &r.Price, &made, &gone)
		r.CreatedAt, r.DeletedAt = db.FromMicros(made), db.FromMicros(gone)
		list = append(list, r)
		return err
	}, `SELECT provider, kind, id, node, intent, zone, price, created_at, deleted_at FROM resources WHERE cluster = ? AND tenant = ?
		ORDER BY created_at, id`, cluster, tenant)
	return list, err
}

// NoteResources writes down what was come across for an intent, and ends what is gone. What is known already keeps the
// time at which it was made.
func (s *Store) NoteResources(ctx context.Context, provider, intent string, at time.Time, seen []app.Seen) error {
	if len(seen) == 0 {
		return nil
	}
	return s.Write(ctx, func(t *db.Tx) error { return noteSeen(t, at, `i.id = ? AND i.provider = ?`, intent, provider, seen) })
}

// NoteNode writes down what a step came across for its node, under the node's intent.
func NoteNode(t *db.Tx, at time.Time, cluster, node string, seen []app.Seen) error {
	return noteSeen(t, at, `i.id = (SELECT l.id FROM intents l WHERE l.cluster = ? AND l.node = ? AND l.ended_at = 0 ORDER BY l.created_at DESC, l.id LIMIT 1)`,
		cluster, node, seen)
}

// maxSeen bounds what one report can add; a node has a machine, or a few where something went wrong.
const maxSeen = 100

// noteSeen notes what was seen of the intent that a condition with two values finds.
func noteSeen(t *db.Tx, at time.Time, which, one, two string, seen []app.Seen) error {
	for _, x := range seen[:min(len(seen), maxSeen)] {
		made, gone := x.CreatedAt, int64(0)
		if made.IsZero() || made.After(at) {
			made = at
		}
		if x.Deleted {
			gone = db.Micros(at)
		}
		// What is there again after it was gone costs again. Nearly all that is seen was seen before, and changes nothing.
		err := t.Exec(`INSERT INTO resources (intent, kind, id, provider, tenant, cluster, node, zone, price, created_at, deleted_at, owner, template,
				hardware, cpu)
			SELECT i.id, CAST(? AS TEXT), CAST(? AS TEXT), i.provider, i.tenant, i.cluster, i.node, CAST(? AS TEXT), CAST(? AS DOUBLE PRECISION),
				CAST(? AS BIGINT), CAST(? AS BIGINT), coalesce(c.owner, ''), coalesce(c.template, ''), coalesce(n.hardware, ''), coalesce(n.cpu, 0)
			FROM intents i LEFT JOIN clusters c ON c.id = i.cluster LEFT JOIN nodes n ON n.cluster = i.cluster AND n.name = i.node WHERE `+which+`
			ON CONFLICT (intent, kind, id) DO UPDATE SET
				zone = CASE WHEN excluded.zone = '' THEN resources.zone ELSE excluded.zone END,
				price = CASE WHEN resources.price = 0 THEN excluded.price ELSE resources.price END,
				deleted_at = CASE WHEN excluded.deleted_at > 0 AND resources.deleted_at > 0 THEN resources.deleted_at ELSE excluded.deleted_at END
			WHERE excluded.zone NOT IN ('', resources.zone) OR resources.price = 0 AND excluded.price <> 0
				OR (excluded.deleted_at > 0) <> (resources.deleted_at > 0)`,
			x.Kind, x.ID, x.Zone, x.Price, db.Micros(made), gone, one, two)
		if err != nil {
			return err
		}
	}
	return nil
}

// NodeGone ends all that a node had: its provider was asked, and has nothing of it.
func NodeGone(t *db.Tx, at time.Time, cluster, node string) error {
	return t.Exec(`UPDATE resources SET deleted_at = ? WHERE cluster = ? AND node = ? AND deleted_at = 0 AND kind <> 'volume'`, db.Micros(at), cluster, node)
}

// LastNode returns the greatest number that a node of the cluster ever had, those that are gone included; 0 for none.
func (s *Store) LastNode(ctx context.Context, tenant, cluster string) (n int, err error) {
	err = s.Row(ctx, `SELECT coalesce(max(number), 0) FROM nodes WHERE tenant = ? AND cluster = ?`, tenant, cluster).Scan(&n)
	return n, db.Wrapped(err)
}

func (s *Store) Proof(ctx context.Context, tenant, cluster string) (p fleet.Proof, err error) {
	var at, checked int64
	err = s.Row(ctx, `SELECT deletion_verified_at, deletion_proof, proof_requested_at FROM clusters WHERE tenant = ?
		AND id = ?`, tenant, cluster).Scan(&at, &p.How, &checked)
	p.At, p.CheckedAt = db.FromMicros(at), db.FromMicros(checked)
	return p, clusterdb.ReadError(err, cluster)
}

// Unproven returns deleted clusters whose end is not proven yet, of all tenants, those asked for least recently first.
func (s *Store) Unproven(ctx context.Context, limit int) ([]app.Cluster, error) {
	return clusterdb.List(ctx, s.DB, `SELECT `+clusterdb.Columns+` FROM clusters c WHERE c.deleted_at > 0 AND c.deletion_verified_at = 0
		ORDER BY c.proof_requested_at LIMIT ?`, limit)
}

// SetProof keeps a proof, or why there is none yet.
func (s *Store) SetProof(ctx context.Context, tenant, cluster string, p fleet.Proof, asked time.Time) error {
	return s.Write(ctx, func(t *db.Tx) error {
		n, err := t.Count(`UPDATE clusters SET deletion_verified_at = ?, deletion_proof = ?, proof_requested_at = ? WHERE tenant = ? AND id = ? AND deleted_at > 0
			AND deletion_verified_at = 0`,
			db.Micros(p.At), p.How, db.Micros(asked), tenant, cluster)
		if err != nil || n == 0 {
			return err
		}
		if p.At.IsZero() {
			return nil
		}
		// Machines whose going no one had reported are gone by the same proof, and their intents with them.
		if err := t.Exec(`UPDATE resources SET deleted_at = ? WHERE cluster = ? AND deleted_at = 0 AND kind <> 'volume'`, db.Micros(p.At), cluster); err != nil {
			return err
		}
		if err := t.Exec(`UPDATE intents SET ended_at = ? WHERE cluster = ? AND ended_at = 0`, db.Micros(p.At), cluster); err != nil {
			return err
		}
		if err := providervalue.Forget(t, tenant, cluster); err != nil {
			return err
		}
		return t.Event(app.Event{At: p.At, Tenant: tenant, Cluster: cluster, Kind: app.EventCluster, Status: string(app.ClusterDeleted),
			Message: fmt.Sprintf("No machines left: %s", p.How)})
	})
}
