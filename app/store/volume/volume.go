package volume

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/store/db"
	"muster/app/template"
	"muster/app/volume"
)

const columns = `v.id, v.tenant, v.provider, v.cluster, v.node, v.service, v.name, v.kept_cluster, v.owner, v.size_gb, v.filesystem, v.mount, v.volume,
	v.zone, v.machine, v.state, v.on_delete, v.price, v.created_at, v.mounted_at, v.kept_at, v.expires_at, v.deleted_at, v.proof, v.error,
	v.snapshot_every, v.snapshot_keep, v.snapshot_keep_for, v.snapshot_at`

func scan(row db.Scanner, more ...any) (v volume.Volume, err error) {
	var created, mounted, kept, expires, deleted, next int64
	err = row.Scan(append([]any{&v.ID, &v.Tenant, &v.Provider, &v.Cluster, &v.Node, &v.Service, &v.Name, &v.From, &v.Owner, &v.SizeGB, &v.Filesystem, &v.Mount,
		&v.External, &v.Zone, &v.Machine, &v.State, &v.OnDelete, &v.Price, &created, &mounted, &kept, &expires, &deleted, &v.Proof, &v.Error,
		&v.Snapshots.Every, &v.Snapshots.Keep, &v.Snapshots.KeepFor, &next}, more...)...)
	v.CreatedAt, v.MountedAt, v.KeptAt = db.FromMicros(created), db.FromMicros(mounted), db.FromMicros(kept)
	v.ExpiresAt, v.DeletedAt, v.NextSnapshot = db.FromMicros(expires), db.FromMicros(deleted), db.FromMicros(next)
	return v, err
}

func (s *Store) HasVolumes(ctx context.Context, tenant, cluster string) (has bool, err error) {
	err = s.Row(ctx, `SELECT EXISTS (SELECT 1 FROM volumes WHERE cluster = ? AND cluster <> '' AND tenant = ? AND deleted_at = 0)`, cluster, tenant).Scan(&has)
	return has, db.Wrapped(err)
}

// again reports whether an operation makes the machine of a node again that it returns.
const again = `EXISTS (SELECT 1 FROM steps s WHERE s.operation = ? AND s.node = v.node AND s.action = 'create')`

func (s *Store) NodeVolumes(ctx context.Context, tenant, cluster, node string, operation int64) (list []volume.ForStep, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		f, err := scanForStep(row)
		list = append(list, f)
		return err
	}, `SELECT `+columns+`, v.create_attempts, coalesce((SELECT x.snapshot FROM volume_snapshots x WHERE x.id = v.snapshot AND v.snapshot <> ''), ''),
		CASE WHEN (v.on_delete = 'delete' OR v.mounted_at = 0) AND NOT `+again+` THEN 1 ELSE 0 END, -- one that was never mounted holds nothing
			CASE WHEN EXISTS (SELECT 1 FROM steps s WHERE s.operation = ? AND s.node = v.node AND s.action = 'delete') THEN 0 ELSE 1 END
		FROM volumes v WHERE v.cluster = ? AND v.cluster <> '' AND v.node = ? AND v.tenant = ? AND v.deleted_at = 0 ORDER BY v.service, v.name`,
		operation, operation, cluster, node, tenant)
	return list, err
}

// KeptVolumes implements volume.StepStore.
func (s *Store) KeptVolumes(ctx context.Context, tenant, cluster, node string) (list []volume.Volume, err error) {
	err = s.Each(ctx, func(row db.Scanner) error {
		v, err := scan(row)
		list = append(list, v)
		return err
	}, `SELECT `+columns+` FROM volumes v WHERE v.kept_cluster = ? AND v.kept_cluster <> '' AND v.tenant = ? AND v.state = 'kept' AND v.node = ?
		ORDER BY v.kept_at DESC LIMIT ?`, cluster, tenant, node, mostListed)
	return list, err
}

func scanForStep(row db.Scanner) (f volume.ForStep, err error) {
	var asked, discard, stays int64
	var snapshot string
	v, err := scan(row, &asked, &snapshot, &discard, &stays)
	f.Volume, f.Snapshot = v, snapshot
	f.Asked, f.Discard, f.NodeStays = asked > 0, discard > 0, stays > 0
	return f, err
}

func (s *Store) WantVolumes(ctx context.Context, w volume.Wanted) (list []volume.ForStep, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		list = nil
		for _, v := range w.Volumes {
			f, err := want(t, w, v)
			if err != nil {
				return err
			}
			list = append(list, f)
		}
		return nil
	})
	return list, err
}

// want finds or writes down one volume of a node, and counts that the provider is asked for it.
func want(t *db.Tx, w volume.Wanted, v template.NodeVolume) (f volume.ForStep, err error) {
	const one = `SELECT ` + columns + `, v.create_attempts,
		coalesce((SELECT x.snapshot FROM volume_snapshots x WHERE x.id = v.snapshot AND v.snapshot <> ''), ''), 0, 1 FROM volumes v
		WHERE v.cluster = ? AND v.node = ? AND v.service = ? AND v.name = ?
		AND v.deleted_at = 0 AND v.tenant = ?`
	f, err = scanForStep(t.Row(one, w.Cluster, w.Node, v.Service, v.Name, w.Tenant))
	if db.IsNoRows(err) {
		if err = takeBack(t, w, v); err != nil {
			return f, err
		}
		f, err = scanForStep(t.Row(one, w.Cluster, w.Node, v.Service, v.Name, w.Tenant))
	}
	if err != nil {
		return f, db.Wrapped(err)
	}
	if f.External == "" {
		if err := t.Exec(`UPDATE volumes SET create_attempts = create_attempts + 1 WHERE id = ?`, f.ID); err != nil {
			return f, err
		}
	}
	// Where it is mounted follows the catalog; size and file system stay as they were made.
	f.Mount = v.Mount
	return f, t.Exec(`UPDATE volumes SET mount = ? WHERE id = ?`, v.Mount, f.ID)
}

// takeBack takes the node's own volume that was kept when the node went, or writes down a new one.
func takeBack(t *db.Tx, w volume.Wanted, v template.NodeVolume) error {
	var kept string
	err := t.Row(`SELECT v.id FROM volumes v WHERE v.kept_cluster = ? AND v.kept_cluster <> '' AND v.tenant = ? AND v.state = 'kept' AND v.node = ?
		AND v.service = ? AND v.name = ?
		ORDER BY v.kept_at DESC LIMIT 1`, w.Cluster, w.Tenant, w.Node, v.Service, v.Name).Scan(&kept)
	if err == nil {
		return Assign(t, w.Now, w.Tenant, kept, Place{Cluster: w.Cluster, Provider: w.Provider, Node: w.Node, Service: v.Service, Name: v.Name, Owner: w.Owner})
	}
	if !db.IsNoRows(err) {
		return db.Wrapped(err)
	}
	_, err = plan(t, w, v)
	return err
}

// plan writes down a new volume, and what it costs.
func plan(t *db.Tx, w volume.Wanted, v template.NodeVolume) (id string, err error) {
	id = "vol-" + strings.ToLower(rand.Text()[:16])
	choice := v.OnDelete
	if choice == "" {
		choice = template.VolumeDelete
	}
	price := w.CostPerGBHour * float64(v.SizeGB)
	if err := t.Exec(`INSERT INTO volumes (id, tenant, provider, cluster, node, service, name, owner, size_gb, filesystem, mount, state, on_delete,
		price, created_at, snapshot_every, snapshot_keep, snapshot_keep_for, snapshot_price)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'planned', ?, ?, ?, ?, ?, ?, ?)`,
		id, w.Tenant, w.Provider, w.Cluster, w.Node, v.Service, v.Name, w.Owner, v.SizeGB, v.FS(), v.Mount, string(choice), price, db.Micros(w.Now),
		v.Snapshots.Every, v.Snapshots.Keep, v.Snapshots.KeepFor, w.SnapshotPerGBHour); err != nil {
		return "", err
	}
	return id, reserve(t, w, id, price)
}

// reserve takes what a volume costs over from what its cluster reserved for volumes to come, as far as that reaches, for as long as the cluster lives.
func reserve(t *db.Tx, w volume.Wanted, id string, price float64) error {
	var cluster, until int64
	err := t.Row(`SELECT id, until_at FROM reservations WHERE cluster = ? AND tenant = ? AND ended_at = 0`, w.Cluster, w.Tenant).Scan(&cluster, &until)
	if err != nil && !db.IsNoRows(err) {
		return db.Wrapped(err)
	}
	var own int64
	if err := t.Row(`INSERT INTO reservations (tenant, cluster, request, owner, nodes, cpu, cost, from_at, until_at, ended_at, pool)
		VALUES (?, ?, 0, ?, 0, 0, ?, ?, ?, 0, 1) RETURNING id`, w.Tenant, id, w.Owner, price, db.Micros(w.Now), until).Scan(&own); err != nil {
		return db.Wrapped(err)
	}
	if err := t.Exec(`INSERT INTO reservation_groups (reservation, in_group, tenant, ended_at)
		SELECT CAST(? AS BIGINT), in_group, tenant, 0 FROM reservation_groups WHERE reservation = ? AND ended_at = 0`, own, cluster); err != nil {
		return err
	}
	const part = `CASE WHEN volume_cost > CAST(? AS DOUBLE PRECISION) THEN CAST(? AS DOUBLE PRECISION) ELSE volume_cost END`
	return t.Exec(`UPDATE reservations SET cost = cost - `+part+`, volume_cost = volume_cost - `+part+` WHERE id = ?`, price, price, price, price, cluster)
}

// endReserved ends what is reserved for a volume.
func endReserved(t *db.Tx, at time.Time, id string) error {
	if err := t.Exec(`UPDATE reservation_groups SET ended_at = ? WHERE ended_at = 0
		AND reservation IN (SELECT id FROM reservations WHERE cluster = ? AND ended_at = 0)`,
		db.Micros(at), id); err != nil {
		return err
	}
	return t.Exec(`UPDATE reservations SET ended_at = ? WHERE cluster = ? AND ended_at = 0`, db.Micros(at), id)
}

// Note writes what a step found out about volumes of its node.
func Note(t *db.Tx, at time.Time, tenant, cluster, node string, seen []volume.Seen) error {
	for _, x := range seen[:min(len(seen), maxSeen)] {
		var state, known string
		err := t.Row(`SELECT state, volume FROM volumes WHERE id = ? AND tenant = ? AND cluster = ? AND node = ? AND deleted_at = 0`, x.ID, tenant, cluster,
			node).Scan(&state, &known)
		if db.IsNoRows(err) {
			continue // it was given back meanwhile
		}
		if err != nil {
			return db.Wrapped(err)
		}
		if x.Deleted {
			if err := gone(t, at, x.ID, x.Proof); err != nil {
				return err
			}
			continue
		}
		mounted := int64(0)
		if x.Mounted {
			mounted = db.Micros(at)
		}
		// Of one that was never mounted another can have been created, where the first one failed.
		if err := t.Exec(`UPDATE volumes SET volume = CASE WHEN volume = '' OR mounted_at = 0 AND CAST(? AS TEXT) <> '' THEN CAST(? AS TEXT)
				ELSE volume END,
			zone = CASE WHEN zone = '' OR mounted_at = 0 THEN CAST(? AS TEXT) ELSE zone END,
			machine = ?, state = CASE WHEN CAST(? AS TEXT) = '' THEN 'detached' ELSE 'attached' END,
				size_gb = CASE WHEN CAST(? AS BIGINT) > size_gb THEN CAST(? AS BIGINT) ELSE size_gb END,
			mounted_at = CASE WHEN mounted_at = 0 THEN CAST(? AS BIGINT) ELSE mounted_at END, error = '' WHERE id = ?`,
			x.External, x.External, x.Zone, x.Machine, x.Machine, x.SizeGB, x.SizeGB, mounted, x.ID); err != nil {
			return err
		}
		if known == "" && x.External != "" {
			if err := begin(t, at, x.ID); err != nil {
				return err
			}
		}
		if x.Machine != "" {
			if err := inUse(t, at, x.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxSeen bounds what one report can tell.
const maxSeen = 64

// begin begins a line of the receipt: of the cluster that has the volume, or of none while it is kept.
func begin(t *db.Tx, at time.Time, id string) error {
	if err := t.Exec(`UPDATE volumes SET period = period + 1 WHERE id = ?`, id); err != nil {
		return err
	}
	return t.Exec(`INSERT INTO resources (intent, kind, id, provider, tenant, cluster, node, zone, price, created_at, deleted_at, owner, template, hardware, cpu)
		SELECT v.id || '.' || CAST(v.period AS TEXT), 'volume', v.volume, v.provider, v.tenant, v.cluster, v.node, v.zone, v.price, CAST(? AS BIGINT), 0, v.owner,
			coalesce(c.template, ''), '', 0 FROM volumes v LEFT JOIN clusters c ON c.id = v.cluster WHERE v.id = ? ON CONFLICT DO NOTHING`, db.Micros(at), id)
}

// end ends the line that is open.
func end(t *db.Tx, at time.Time, id string) error {
	return t.Exec(`UPDATE resources SET deleted_at = ? WHERE kind = 'volume' AND deleted_at = 0
		AND intent = (SELECT v.id || '.' || CAST(v.period AS TEXT) FROM volumes v WHERE v.id = ?)`,
		db.Micros(at), id)
}

// gone ends a volume that is proven to be gone.
func gone(t *db.Tx, at time.Time, id, proof string) error {
	if err := end(t, at, id); err != nil {
		return err
	}
	if err := endReserved(t, at, id); err != nil {
		return err
	}
	return t.Exec(`UPDATE volumes SET state = 'deleted', machine = '', deleted_at = ?, proof = ?, error = '' WHERE id = ? AND deleted_at = 0`,
		db.Micros(at), proof, id)
}

// NodeGone decides what happens to the volumes of a node whose machine is proven to be gone. Where the operation makes the machine again, they wait for it;
// else those that are to be kept belong to their owner from now on.
func NodeGone(t *db.Tx, at time.Time, tenant, cluster, node string, operation int64) error {
	type left struct {
		id, external, choice string
		again                int64
	}
	var all []left
	err := t.Each(func(row db.Scanner) error {
		var l left
		err := row.Scan(&l.id, &l.external, &l.choice, &l.again)
		all = append(all, l)
		return err
	}, `SELECT v.id, v.volume, v.on_delete, CASE WHEN `+again+` THEN 1 ELSE 0 END FROM volumes v
		WHERE v.cluster = ? AND v.cluster <> '' AND v.node = ? AND v.tenant = ? AND v.deleted_at = 0`, operation, cluster, node, tenant)
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.again > 0 {
			err = t.Exec(`UPDATE volumes SET machine = '', state = CASE WHEN volume = '' THEN 'planned' ELSE 'detached' END WHERE id = ?`, l.id)
		} else {
			err = leave(t, at, l.id, l.external, l.choice)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leave has a volume leave its cluster: as a kept one, or to be deleted by the reconciler, since no list has proven yet that it's gone.
func leave(t *db.Tx, at time.Time, id, external, choice string) error {
	switch {
	case external == "":
		return gone(t, at, id, "It was never created.")
	case choice == string(template.VolumeKeep):
		return keep(t, at, id)
	}
	return t.Exec(`UPDATE volumes SET machine = '', state = 'deleting', kept_cluster = cluster, cluster = '' WHERE id = ?`, id)
}

// ClusterGone decides what happens to the volumes that a deleted cluster still has: those of nodes that no delete step was about, such as nodes
// whose machine is kept for inspection. One that a provider may have been asked for is looked for by the reconciler.
func ClusterGone(t *db.Tx, at time.Time, tenant, cluster string) error {
	return leaveAll(t, at, `v.cluster = ? AND v.cluster <> '' AND v.tenant = ? AND v.deleted_at = 0`, nil, cluster, tenant)
}

// ServicesGone does the same for the volumes of a node that stays, but doesn't run their services any more: its detach step has taken them off.
func ServicesGone(t *db.Tx, at time.Time, tenant, cluster, node string, operation int64) error {
	var services []byte
	err := t.Row(`SELECT n.services FROM nodes n WHERE n.cluster = ? AND n.name = ?
		AND NOT EXISTS (SELECT 1 FROM steps s WHERE s.operation = ? AND s.node = n.name AND s.action = 'delete')`, cluster, node, operation).Scan(&services)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return db.Wrapped(err)
	}
	var stay []string
	if err := json.Unmarshal(services, &stay); err != nil {
		return fmt.Errorf("store: services of node %s of %s: %w", node, cluster, err)
	}
	return leaveAll(t, at, `v.cluster = ? AND v.cluster <> '' AND v.tenant = ? AND v.node = ? AND v.deleted_at = 0`, stay, cluster, tenant, node)
}

// leaveAll has volumes leave their cluster, but for those of services that stay.
func leaveAll(t *db.Tx, at time.Time, where string, stay []string, args ...any) error {
	var all []volume.Volume
	asked := map[string]bool{}
	err := t.Each(func(row db.Scanner) error {
		var attempts int64
		v, err := scan(row, &attempts)
		if !slices.Contains(stay, v.Service) {
			all = append(all, v)
		}
		asked[v.ID] = attempts > 0
		return err
	}, `SELECT `+columns+`, v.create_attempts FROM volumes v WHERE `+where+` ORDER BY v.id`, args...)
	if err != nil {
		return err
	}
	for _, v := range all {
		external, choice := v.External, string(v.OnDelete)
		if external == "" && asked[v.ID] {
			external, choice = "?", string(template.VolumeDelete)
		}
		if err := leave(t, at, v.ID, external, choice); err != nil {
			return err
		}
	}
	return nil
}

// keep has a volume belong to its owner alone.
func keep(t *db.Tx, at time.Time, id string) error {
	if err := end(t, at, id); err != nil {
		return err
	}
	expires := at.Add(volume.KeepFor)
	if err := t.Exec(`UPDATE volumes SET state = 'kept', machine = '', kept_cluster = cluster, cluster = '', kept_at = ?, expires_at = ?,
			expiry_notified = 0, owner = coalesce((SELECT c.owner FROM clusters c WHERE c.id = volumes.cluster), owner) WHERE id = ?`,
		db.Micros(at), db.Micros(expires), id); err != nil {
		return err
	}
	if err := t.Exec(`UPDATE reservations SET until_at = ?, owner = (SELECT v.owner FROM volumes v WHERE v.id = ?) WHERE cluster = ? AND ended_at = 0`,
		db.Micros(expires), id, id); err != nil {
		return err
	}
	return begin(t, at, id)
}

// Place is where a kept volume goes.
type Place struct{ Cluster, Provider, Node, Service, Name, Owner string }

// Assign hands a kept volume to a node, in the transaction of what needs it, once: EConflict where it isn't kept any more. It stays
// kept when that node goes, unless someone says otherwise.
func Assign(t *db.Tx, at time.Time, tenant, id string, to Place) error {
	v, err := scan(t.Row(`SELECT `+columns+` FROM volumes v WHERE v.id = ? AND v.tenant = ?`, id, tenant))
	if db.IsNoRows(err) {
		return errNone(id)
	}
	if err != nil {
		return db.Wrapped(err)
	}
	if v.Provider != to.Provider {
		return &app.Error{Code: app.EInvalid, Reason: "volume", Field: "volumes",
			Message: fmt.Sprintf("Volume %s is at provider %s, and the cluster at %s.", id, v.Provider, to.Provider),
			Hint:    "Choose that provider for the cluster, or another volume."}
	}
	n, err := t.Count(`UPDATE volumes SET cluster = ?, node = ?, service = ?, name = ?, owner = ?, state = 'detached', on_delete = 'keep', kept_at = 0,
		expires_at = 0, expiry_notified = 0
		WHERE id = ? AND state = 'kept'`, to.Cluster, to.Node, to.Service, to.Name, to.Owner, id)
	if err == nil && n == 0 {
		err = &app.Error{Code: app.EConflict, Reason: "volume", Field: "volumes", Message: fmt.Sprintf("Volume %s is %s, so it can't be used.", id,
			v.State), Hint: "Choose a volume that is kept: run muster volume list."}
	}
	if err != nil {
		return err
	}
	if err := end(t, at, id); err != nil {
		return err
	}
	if err := t.Exec(`UPDATE reservations SET owner = ?, until_at = coalesce((SELECT c.expires_at FROM clusters c WHERE c.id = ?), 0)
		WHERE cluster = ? AND ended_at = 0`, to.Owner, to.Cluster, id); err != nil {
		return err
	}
	return begin(t, at, id)
}

func errNone(id string) error {
	return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Volume %.60q doesn't exist.", id), Hint: "Run muster volume list to see the volumes."}
}
