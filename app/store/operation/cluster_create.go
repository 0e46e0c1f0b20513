package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	apppolicy "muster/app/policy"
	"muster/app/store/build"
	"muster/app/store/catalog"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/health"
	"muster/app/store/identity"
	"muster/app/store/lease"
	"muster/app/store/policy"
	"muster/app/store/providervalue"
	"muster/app/store/resource"
	"muster/app/store/volume"
	"muster/app/template"
)

func (s *Store) CreateCluster(ctx context.Context, n appcluster.NewCluster) (op app.Operation, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		if op, err = Create(t, n); err != nil || n.Request == nil {
			return err
		}
		n.Request.Request, err = SaveRequest(t, *n.Request)
		return err
	})
	return op, err
}

// Create writes a cluster with all that comes with it, in the transaction that accepts it.
func Create(t *db.Tx, n appcluster.NewCluster) (op app.Operation, err error) {
	c := n.Cluster
	if err := identity.TenantOpen(t, c.Tenant); err != nil {
		return op, err
	}
	if err := catalog.SameProvider(t, c.Tenant, c.Provider, n.TenantCatalog); err != nil {
		return op, err
	}
	if err := nextPlace(t, n); err != nil {
		return op, err
	}
	definition, err := json.Marshal(n.Definition)
	if err != nil {
		return op, fmt.Errorf("store: definition: %w", err)
	}
	// People call clusters by name or id: what the one means may not be the other of another cluster.
	var confused bool
	if err := t.Row(`SELECT EXISTS (SELECT 1 FROM clusters WHERE deleted_at = 0 AND tenant = ? AND (id = ? OR name = ?))`,
		c.Tenant, c.Name, c.ID).Scan(&confused); err != nil {
		return op, err
	}
	if confused {
		return op, &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("Name %q is too similar to another cluster's.", c.Name),
			Hint: "Choose another name, or try again."}
	}
	if c.Visibility == "" {
		if c.Visibility, err = cluster.VisibilityOf(t.Row(cluster.DefaultVisibility, c.Tenant)); err != nil {
			return op, err
		}
	}
	if len(n.ProviderValues.Values) > 0 {
		v := n.ProviderValues
		v.Tenant, v.Cluster, v.Provider, v.ChangedAt, v.ChangedBy = c.Tenant, c.ID, c.Provider, c.CreatedAt, c.Owner
		if err := providervalue.Put(t, v); err != nil {
			return op, err
		}
	}
	if err := promise(t, c.CreatedAt, c, n.Nodes, n.Definition); err != nil {
		return op, err
	}
	// Before anything else is written, so that a refusal has little to undo.
	if err := policy.Reserve(t, c.CreatedAt, reservationOf(n)); err != nil {
		return op, err
	}
	changed, err := t.Count(`INSERT INTO clusters (id, tenant, number, name, owner, template, provider, size, services, status,
			message, cost_per_hour, dns_suffix, definition, encrypted_definition, ssh_public_key, ssh_key, created_at, expires_at, deleted_at, pool, visibility, owner_group, description)
		VALUES (?, ?, (SELECT coalesce(max(number), 0) + 1 FROM clusters), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?, 0, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`,
		c.ID, c.Tenant, c.Name, c.Owner, c.Template, c.Provider, c.Size, db.JSON(c.Services), c.Status,
		c.Message, c.CostPerHour, c.DNSSuffix, t.Keys.SealDefinition(definition, c.ID), n.PublicKey, t.Keys.Seal(n.PrivateKey, "clusters/"+c.ID),
		db.Micros(c.CreatedAt), db.Micros(c.ExpiresAt), c.Pool, c.Visibility, c.OwnerGroup, c.Description)
	if err != nil {
		return op, err
	}
	if changed == 0 {
		return op, &app.Error{Code: app.EConflict, Field: "name", Message: fmt.Sprintf("Cluster %q already exists.", c.Name),
			Hint: "Choose another name, or delete that cluster first."}
	}
	if len(c.Labels) > 0 {
		if err := cluster.SetLabels(t, c); err != nil {
			return op, err
		}
	}
	if err := lease.Begin(t, c.ID, c.CreatedAt, c.ExpiresAt); err != nil {
		return op, err
	}
	if err := insertNodes(t, c, n.Nodes, n.Definition.Hardware, c.CreatedAt); err != nil {
		return op, err
	}
	for _, v := range n.Volumes {
		to := volume.Place{Cluster: c.ID, Provider: c.Provider, Node: v.Node, Service: v.Service, Name: v.Name, Owner: c.Owner}
		give := func() error { return volume.Assign(t, c.CreatedAt, c.Tenant, v.Volume, to) }
		if v.New != nil {
			give = func() error { return volume.FromSnapshot(t, c.CreatedAt, c.Tenant, v, to) }
		}
		if err := give(); err != nil {
			return op, err
		}
	}
	if err := t.Event(app.Event{At: c.CreatedAt, Tenant: c.Tenant, Cluster: c.ID, Kind: app.EventCluster,
		Status: string(c.Status)}); err != nil {
		return op, err
	}
	if err := health.Keep(t, c.CreatedAt, c, n.Definition.Health, n.Definition.Idle, n.Definition.Scaling); err != nil {
		return op, err
	}
	if err := resource.Use(t, c.Tenant, c.ID, n.Definition.Services, true); err != nil {
		return op, err
	}
	if err := build.Claim(t, c.CreatedAt, n.Build, app.BuildCreating, c.ID, 0); err != nil {
		return op, err
	}
	if op, err = Submit(t, n.Operation); err != nil {
		return op, err
	}
	return op, placed(t, n, op)
}

// reservationOf returns what a new cluster takes of quotas, also where no one has worked it out.
func reservationOf(n appcluster.NewCluster) apppolicy.Reservation {
	if n.Reservation.Tenant != "" {
		return n.Reservation
	}
	return apppolicy.ReservationOf(n.Cluster, n.Nodes, n.Definition.Hardware, nil)
}

// insertNodes writes nodes with the intents of their machines.
func insertNodes(t *db.Tx, c app.Cluster, nodes []app.NewNode, hardware map[string]template.Flavor, at time.Time) error {
	err := t.ExecChunks(len(nodes), `INSERT INTO nodes (cluster, name, number, tenant, hostname, hardware, image, zone, services, status, machine_id,
			addresses, ssh_user, ssh_port, host_key, own_root, secret, cpu) VALUES `,
		`(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', '{}', ?, 0, '', 0, ?, ?)`, ``, func(args []any, i int) []any {
			n := nodes[i].Node
			return append(args, c.ID, n.Name, app.NodeNumber(n.Name), c.Tenant, n.Hostname, n.Hardware, n.Image, n.Zone, db.JSON(n.Services),
				string(n.Status), n.SSHUser, t.Keys.Seal(nodes[i].HostKey, "nodes/"+c.ID+"/"+n.Name), hardware[n.Hardware].CPU)
		})
	if err != nil {
		return err
	}
	return t.ExecChunks(len(nodes), `INSERT INTO intents (id, tenant, cluster, node, provider, machine_id, created_at, ended_at, create_attempts) VALUES `,
		`(?, ?, ?, ?, ?, '', ?, 0, 0)`, ``, func(args []any, i int) []any {
			return append(args, nodes[i].Intent, c.Tenant, c.ID, nodes[i].Node.Name, c.Provider, db.Micros(at))
		})
}
