package operation

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	appcluster "muster/app/cluster"
	apppolicy "muster/app/policy"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/store/feed"
	"muster/app/store/health"
	"muster/app/store/ledger"
	"muster/app/store/policy"
	"muster/app/store/resource"
)

// CheckFollows refuses an operation that was planned on what is not so any more: another one is in progress, or has come since.
func CheckFollows(t *db.Tx, n appcluster.NewOperation) error {
	if n.Change == nil && n.Follows == 0 {
		return nil
	}
	op := n.Operation
	var id int64
	var kind, status string
	err := t.Row(`SELECT id, kind, status FROM operations WHERE cluster = ? AND status IN ('waiting', 'running', 'paused', 'cancelling')
		ORDER BY id LIMIT 1`, op.Cluster).Scan(&id, &kind, &status)
	if !db.IsNoRows(err) {
		if err != nil {
			return err
		}
		return &app.Error{Code: app.EConflict, Reason: "operation_running",
			Message: fmt.Sprintf("Operation %d (%s) of the cluster is %s and changes what this plan is based on.", id, kind, status),
			Hint:    "Wait until that operation ends, or cancel it first."}
	}
	if n.Follows == 0 {
		return nil
	}
	err = t.Row(`SELECT id, kind FROM operations WHERE cluster = ? AND id > ? AND started_at > 0 ORDER BY id DESC LIMIT 1`, op.Cluster, n.Follows).
		Scan(&id, &kind)
	if db.IsNoRows(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return &app.Error{Code: app.EConflict, Reason: "plan_changed",
		Message: fmt.Sprintf("Operation %d (%s) has changed the cluster since the preview.", id, kind),
		Hint:    "Preview again, then submit."}
}

// change writes what an operation makes of its cluster, keeps what was there before, and reserves the greater of the two. The
// operation has its row, and no step of it has begun. It returns what the audit is to say.
func change(t *db.Tx, op app.Operation, c appcluster.Change) (detail string, err error) {
	var sealed []byte
	cluster, err := clusterdb.Scan(t.Row(`SELECT `+clusterdb.Columns+`, c.encrypted_definition FROM clusters c WHERE c.id = ?`, op.Cluster), &sealed)
	if err := clusterdb.ReadError(err, op.Cluster); err != nil {
		return "", err
	}
	before, err := t.Keys.Unseal(sealed, db.DefinitionAAD(op.Cluster))
	if err != nil {
		return "", err
	}
	after, err := json.Marshal(c.Definition)
	if err != nil {
		return "", fmt.Errorf("store: definition: %w", err)
	}
	was := ledger.ChangeText{Template: cluster.Template, Size: cluster.Size, Services: cluster.Services, CostPerHour: cluster.CostPerHour}
	made := ledger.ChangeText{Template: c.Template, Size: c.Size, Services: c.Services, CostPerHour: c.CostPerHour, Nodes: c.Nodes, Leaving: c.Leaving}
	for _, n := range c.New {
		made.New = append(made.New, n.Node.Name)
	}
	if c.Kept != "" {
		if err := promiseKept(t, op, c.Kept, c.KeptAs); err != nil {
			return "", err
		}
	}
	if err := promise(t, op.CreatedAt, cluster, c.New, c.Definition); err != nil {
		return "", err
	}
	if was.Reserved, made.Reserved, err = reserveChange(t, op, cluster, c.Reservation); err != nil {
		return "", err
	}
	if was.Nodes, was.Leaving, err = nodesBefore(t, op.Cluster, c); err != nil {
		return "", err
	}
	kept := before
	if string(before) == string(after) {
		kept = nil
	}
	reserves := 0
	if made.Reserved != nil {
		reserves = 1
	}
	if err := t.Exec(`INSERT INTO operation_changes (operation, tenant, cluster, definition, encrypted_definition, was, made, reserves)
		VALUES (?, ?, ?, '', ?, ?, ?, ?)`,
		op.ID, op.Tenant, op.Cluster, t.Keys.SealChange(kept, op.ID), db.JSON(was), db.JSON(made), reserves); err != nil {
		return "", err
	}
	if err := t.Exec(`UPDATE clusters SET template = ?, size = ?, services = ?, cost_per_hour = ?, encrypted_definition = ? WHERE id = ?`,
		c.Template, c.Size, db.JSON(c.Services), c.CostPerHour, t.Keys.SealDefinition(after, op.Cluster), op.Cluster); err != nil {
		return "", err
	}
	if err := resource.Use(t, op.Tenant, op.Cluster, c.Definition.Services, false); err != nil {
		return "", err
	}
	if err := changeNodes(t, op, cluster, c); err != nil {
		return "", err
	}
	if err := health.Keep(t, op.CreatedAt, cluster, c.Definition.Health, c.Definition.Idle, c.Definition.Scaling); err != nil {
		return "", err
	}
	return db.JSON(map[string]any{"before": was.Audited(), "after": made.Audited(), "plan": op.PlanHash}), nil
}

// reserveChange reserves the greater of what is and what will be in each measure. It returns both; nil for what is not to change.
func reserveChange(t *db.Tx, op app.Operation, c app.Cluster, want apppolicy.Reservation) (was, made *ledger.ReservedText, err error) {
	had, err := policy.Reserved(t, op.Tenant, op.Cluster, 0)
	if err != nil {
		return nil, nil, err
	}
	r := apppolicy.Reservation{Tenant: c.Tenant, Cluster: c.ID, Owner: c.Owner, Groups: want.Groups, From: c.CreatedAt, Until: c.ExpiresAt}
	if had != nil && had.EndedAt.IsZero() {
		was = &ledger.ReservedText{Nodes: had.Nodes, CPU: had.CPU, CostPerHour: had.CostPerHour - had.VolumeCost}
		r.Owner, r.Until = had.Owner, had.Until
		r.Nodes, r.CPU, r.CostPerHour, r.VolumeCost = had.Nodes, had.CPU, was.CostPerHour, had.VolumeCost
	}
	if want.Nodes == 0 && want.CPU == 0 && want.CostPerHour == 0 {
		return was, nil, nil
	}
	made = &ledger.ReservedText{Nodes: want.Nodes, CPU: want.CPU, CostPerHour: want.CostPerHour}
	r.Nodes, r.CPU, r.CostPerHour = max(r.Nodes, want.Nodes), max(r.CPU, want.CPU), max(r.CostPerHour, want.CostPerHour)
	r.VolumeCost = max(r.VolumeCost, want.VolumeCost)
	r.CostPerHour += r.VolumeCost
	return was, made, policy.Reserve(t, op.CreatedAt, r)
}

// nodesBefore returns the services that the nodes have which are about to change or to leave, and the nodes that were leaving
// already. EConflict where one of them is not there.
func nodesBefore(t *db.Tx, cluster string, c appcluster.Change) (services map[string][]string, leaving []string, err error) {
	services = map[string][]string{}
	touched := map[string]bool{}
	for name := range c.Nodes {
		touched[name] = true
	}
	for _, name := range c.Leaving {
		touched[name] = true
	}
	row := ledger.NewNodeRow()
	if err := t.Each(func(r db.Scanner) error {
		n, err := row.Scan(r)
		if n.Leaving {
			leaving = append(leaving, n.Name)
		}
		if touched[n.Name] {
			services[n.Name] = n.Services
		}
		return err
	}, `SELECT `+clusterdb.NodeColumns+` FROM nodes WHERE cluster = ? AND removal < 2 ORDER BY number`, cluster); err != nil {
		return nil, nil, err
	}
	for _, name := range append(slices.Sorted(maps.Keys(c.Nodes)), c.Leaving...) {
		if _, known := services[name]; !known {
			return nil, nil, &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: fmt.Sprintf("The cluster no longer has node %s.", name),
				Hint: "Preview again, then submit."}
		}
	}
	return services, leaving, nil
}

// changeNodes writes the nodes that are new, that have other services, and that leave.
func changeNodes(t *db.Tx, op app.Operation, cluster app.Cluster, c appcluster.Change) error {
	// Nodes that are gone for good do not keep their names.
	taken := ""
	if err := t.EachOf(func(row db.Scanner) error { return row.Scan(&taken) }, len(c.New),
		`WITH f(n) AS (VALUES `, `(?)`, `) SELECT d.name FROM f CROSS JOIN nodes d WHERE d.cluster = ? AND d.name = f.n AND d.removal < 2`,
		func(args []any, i int) []any { return append(args, c.New[i].Node.Name) }, op.Cluster); err != nil {
		return err
	}
	if taken != "" {
		return &app.Error{Code: app.EConflict, Reason: "plan_changed", Message: fmt.Sprintf("The cluster already has node %s.", taken),
			Hint: "Preview again, then submit."}
	}
	for _, table := range []string{"nodes WHERE cluster = ? AND name", "node_reports WHERE cluster = ? AND node", "service_outputs WHERE cluster = ? AND node", "service_changes WHERE cluster = ? AND node"} {
		if err := db.InChunks(len(c.New), func(from, size int) error {
			args := []any{op.Cluster}
			for _, n := range c.New[from : from+size] {
				args = append(args, n.Node.Name)
			}
			return t.Exec(`DELETE FROM `+table+` IN (`+db.Repeated(`?`, size)+`)`, args...)
		}); err != nil {
			return err
		}
	}
	if err := insertNodes(t, cluster, c.New, c.Definition.Hardware, op.CreatedAt); err != nil {
		return err
	}
	names := slices.SortedFunc(maps.Keys(c.Nodes), byNumber)
	if err := t.ExecChunks(len(names), `WITH v(c, n, s) AS (VALUES `, `(?, ?, ?)`, `)
		UPDATE nodes SET services = v.s, status = CASE WHEN nodes.removal > 0 AND nodes.status = 'deleted' THEN 'planned' ELSE nodes.status END,
			machine_id = CASE WHEN nodes.removal > 0 AND nodes.status = 'deleted' THEN '' ELSE nodes.machine_id END,
			addresses = CASE WHEN nodes.removal > 0 AND nodes.status = 'deleted' THEN '{}' ELSE nodes.addresses END,
			host_key = CASE WHEN nodes.removal > 0 AND nodes.status = 'deleted' THEN '' ELSE nodes.host_key END, removal = 0,
			lost_at = CASE WHEN nodes.removal > 0 AND nodes.status = 'deleted' THEN 0 ELSE nodes.lost_at END,
			leaves_at = CASE WHEN nodes.removal > 0 AND nodes.status = 'deleted' THEN 0 ELSE nodes.leaves_at END
		FROM v WHERE nodes.cluster = v.c AND nodes.name = v.n`,
		func(args []any, i int) []any { return append(args, op.Cluster, names[i], db.JSON(c.Nodes[names[i]])) }); err != nil {
		return err
	}
	if err := t.ExecChunks(len(c.Leaving), `WITH v(c, n) AS (VALUES `, `(?, ?)`, `) UPDATE nodes SET removal = 1 FROM v
		WHERE nodes.cluster = v.c AND nodes.name = v.n`, func(args []any, i int) []any { return append(args, op.Cluster, c.Leaving[i]) }); err != nil {
		return err
	}
	return notifyNodes(t, op, c)
}

func byNumber(a, b string) int {
	if d := app.NodeNumber(a) - app.NodeNumber(b); d != 0 {
		return d
	}
	if a < b {
		return -1
	}
	return 1
}

// notifyNodes tells those who watch of nodes that are new.
func notifyNodes(t *db.Tx, op app.Operation, c appcluster.Change) error {
	if len(c.New) == 0 {
		return nil
	}
	m := &feed.EventBatch{Event: app.Event{At: op.CreatedAt, Tenant: op.Tenant, Cluster: op.Cluster, Operation: op.ID, Kind: app.EventNode}}
	for _, n := range c.New {
		m.Changes = append(m.Changes, feed.EventChange{"", n.Node.Name, string(n.Node.Status)})
	}
	return feed.WriteBatches(t, []*feed.EventBatch{m})
}

// DefinitionAt implements execution.Store. What an operation left is what the next change came upon.
func (s *Store) DefinitionAt(ctx context.Context, tenant, cluster string, operation int64) (d appcluster.Definition, err error) {
	var sealed []byte
	var change int64
	err = s.Row(ctx, `SELECT coalesce(h.operation, 0), coalesce(h.encrypted_definition, c.encrypted_definition) FROM clusters c
		LEFT JOIN operation_changes h ON h.operation = (SELECT min(n.operation) FROM operation_changes n WHERE n.cluster = c.id AND n.operation > ?
		AND length(n.encrypted_definition) > 0)
		WHERE c.tenant = ? AND c.id = ?`, operation, tenant, cluster).Scan(&change, &sealed)
	if err = clusterdb.ReadError(err, cluster); err != nil {
		return d, err
	}
	at := db.DefinitionAAD(cluster)
	if change != 0 {
		at = db.ChangeAAD(change)
	}
	return d, s.OpenJSON(sealed, at, &d)
}

func (s *Store) LeftBy(ctx context.Context, tenant, cluster string, operation int64) (c appcluster.Change, err error) {
	var was []byte
	err = s.Row(ctx, `SELECT was FROM operation_changes WHERE tenant = ? AND cluster = ? AND operation > ? ORDER BY operation LIMIT 1`, tenant, cluster, operation).Scan(&was)
	if db.IsNoRows(err) {
		now, err := s.clusters.Cluster(ctx, tenant, cluster)
		if err != nil {
			return c, err
		}
		c.Template, c.Size, c.Services, c.CostPerHour = now.Template, now.Size, now.Services, now.CostPerHour
	} else if err != nil {
		return c, fmt.Errorf("store: what operation %d left of %s: %w", operation, cluster, err)
	} else {
		var w ledger.ChangeText
		if err := json.Unmarshal(was, &w); err != nil {
			return c, fmt.Errorf("store: what operation %d left of %s: %w", operation, cluster, err)
		}
		c.Template, c.Size, c.Services, c.CostPerHour = w.Template, w.Size, w.Services, w.CostPerHour
	}
	c.Definition, err = s.DefinitionAt(ctx, tenant, cluster, operation)
	return c, err
}

// Definitions implements cluster.MaskStore. Here and below, the tenant is no plain column for SQLite, which would read all clusters of the tenant
// by its index otherwise.
func (s *Store) Definitions(ctx context.Context, tenant string, clusters []string) (map[string][]appcluster.Definition, error) {
	type sealed struct {
		cluster, place string
		text           []byte
	}
	var rows []sealed
	list := db.Placeholders(len(clusters))
	ids := make([]any, len(clusters))
	for i, c := range clusters {
		ids[i] = c
	}
	err := s.Each(ctx, func(row db.Scanner) error {
		var r sealed
		err := row.Scan(&r.cluster, &r.text)
		r.place = db.DefinitionAAD(r.cluster)
		rows = append(rows, r)
		return err
	}, `SELECT id, encrypted_definition FROM clusters WHERE tenant || '' = ? AND id IN (`+list+`)`, append([]any{tenant}, ids...)...)
	if err != nil {
		return nil, err
	}
	err = s.Each(ctx, func(row db.Scanner) error {
		var r sealed
		var operation int64
		err := row.Scan(&r.cluster, &operation, &r.text)
		r.place = db.ChangeAAD(operation)
		rows = append(rows, r)
		return err
	}, `SELECT cluster, operation, encrypted_definition FROM (SELECT cluster, operation, encrypted_definition,
			row_number() OVER (PARTITION BY cluster ORDER BY operation DESC) AS age
			FROM operation_changes WHERE tenant = ? AND cluster IN (`+list+`) AND length(encrypted_definition) > 0) h
		WHERE age <= ? ORDER BY cluster, operation DESC`, append(append([]any{tenant}, ids...), appcluster.MaxDefinitions)...)
	if err != nil {
		return nil, err
	}
	all, lost := map[string][]appcluster.Definition{}, map[string]bool{}
	for _, r := range rows { // after the queries: the data key may have to be read first
		var d appcluster.Definition
		switch err := s.OpenJSON(r.text, r.place, &d); {
		case app.IsKeyLost(err):
			lost[r.cluster] = true
		case err != nil:
			return nil, err
		}
		all[r.cluster] = append(all[r.cluster], d)
	}
	maps.DeleteFunc(all, func(cluster string, _ []appcluster.Definition) bool { return lost[cluster] })
	return all, nil
}

// DefinitionStates implements cluster.MaskStore. What is sealed twice is never the same, so the digest tells every change.
func (s *Store) DefinitionStates(ctx context.Context, tenant string, clusters []string) (map[string]string, error) {
	args := []any{tenant}
	for _, c := range clusters {
		args = append(args, c)
	}
	states := make(map[string]string, len(clusters))
	err := s.Each(ctx, func(row db.Scanner) error {
		var cluster string
		var sealed []byte
		var changes int64
		if err := row.Scan(&cluster, &sealed, &changes); err != nil {
			return err
		}
		sum := sha256.Sum256(sealed)
		states[cluster] = fmt.Sprintf("%d %x", changes, sum[:12])
		return nil
	}, `SELECT id, encrypted_definition, (SELECT coalesce(max(operation), 0) FROM operation_changes h WHERE h.cluster = c.id) FROM clusters c
		WHERE c.tenant || '' = ? AND c.id IN (`+db.Placeholders(len(clusters))+`)`, args...)
	return states, err
}

func (s *Store) ChangeOf(ctx context.Context, tenant string, operation int64) (before, after appcluster.Change, err error) {
	var cluster string
	var was, made []byte
	err = s.Row(ctx, `SELECT cluster, was, made FROM operation_changes WHERE tenant = ? AND operation = ?`, tenant, operation).
		Scan(&cluster, &was, &made)
	if db.IsNoRows(err) {
		return before, after, app.Errorf(app.ENotFound, "Operation %d didn't change its cluster.", operation)
	}
	if err != nil {
		return before, after, fmt.Errorf("store: change of operation %d: %w", operation, err)
	}
	var w, m ledger.ChangeText
	if err := json.Unmarshal(was, &w); err != nil {
		return before, after, fmt.Errorf("store: change of operation %d: %w", operation, err)
	}
	if err := json.Unmarshal(made, &m); err != nil {
		return before, after, fmt.Errorf("store: change of operation %d: %w", operation, err)
	}
	before, after = w.Value(), m.Value()
	// The definition before is what the operation just before this one left, whichever that was.
	if before.Definition, err = s.DefinitionAt(ctx, tenant, cluster, operation-1); err != nil {
		return before, after, err
	}
	if after.Definition, err = s.DefinitionAt(ctx, tenant, cluster, operation); err != nil {
		return before, after, err
	}
	for _, name := range m.New {
		after.New = append(after.New, app.NewNode{Node: app.Node{Cluster: cluster, Name: name}})
	}
	return before, after, nil
}
