package ledger

import (
	"slices"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/ledger"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/template"
	"muster/app/webhook"
)

// AskedHook is a hook that is notified of an operation, or asked before it: what says so, and the tenant's hook that it goes to.
type AskedHook struct {
	template.OperationHook
	To webhook.Endpoint
}

// OperationHooksOf returns the hooks that are called at a time of an operation: the tenant's own by name, then those that the cluster's
// template declares. missing is the first of a template's for which the tenant has no hook.
func OperationHooksOf(t *db.Tx, op app.Operation, when template.HookPhase, definition *appcluster.Definition) (list []AskedHook, missing *template.OperationHook, err error) {
	var all []webhook.Endpoint
	if err := t.Each(func(row db.Scanner) error {
		h, err := ScanHook(row)
		all = append(all, h)
		return err
	}, `SELECT `+HookColumns+` FROM webhooks h WHERE h.tenant = ? AND h.phase <> '' ORDER BY h.name`, op.Tenant); err != nil {
		return nil, nil, err
	}
	for _, h := range all {
		if o := h.AsOperationHook(); h.When == when && h.Script == "" && o.Wants(op.Kind) {
			list = append(list, AskedHook{o, h})
		}
	}
	if len(list) > 0 {
		// Machines of pools are no clusters that hooks know of; those that are handed out come with the create or resize that gets them.
		if of, err := poolOf(t, op.Cluster); err != nil || of > 0 {
			return nil, nil, err
		}
	}
	declared, err := templateHooks(t, op.Cluster, definition)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range declared {
		if o.When != when || o.SendTo == "" || !o.Wants(op.Kind) {
			continue
		}
		i := slices.IndexFunc(all, func(h webhook.Endpoint) bool { return h.Name == o.SendTo && h.When == template.HookTemplate })
		if i >= 0 {
			list = append(list, AskedHook{o, all[i]})
		} else if missing == nil {
			missing = &o
		}
	}
	return list, missing, nil
}

// templateHooks returns what the cluster's template declares; definition is what the cluster is about to have, nil for what it has.
func templateHooks(t *db.Tx, cluster string, definition *appcluster.Definition) ([]template.OperationHook, error) {
	if definition != nil {
		return definition.Hooks, nil
	}
	var sealed []byte
	if err := t.Row(`SELECT encrypted_definition FROM clusters WHERE id = ?`, cluster).Scan(&sealed); err != nil {
		return nil, clusterdb.ReadError(err, cluster)
	}
	var d struct {
		Hooks []template.OperationHook `json:"hooks"`
	}
	if err := t.Keys.OpenJSON(sealed, db.DefinitionAAD(cluster), &d); err != nil && !app.IsKeyLost(err) {
		return nil, err
	}
	return d.Hooks, nil
}

// TellHook queues what a hook is sent.
func TellHook(t *db.Tx, n template.OperationNews, h AskedHook) error {
	n.Hook, n.When = h.Name, h.When
	verdict, deadline := "", int64(0)
	if !n.Until.IsZero() {
		verdict, deadline = HoldOpen, db.Micros(n.Until)
	}
	t.Topics[app.NoticesTopic()] = true
	title := n.Cluster.Name + ": " + deliveryTitle(h.When, n.Operation.Kind)
	return t.Exec(`INSERT INTO webhook_deliveries (hook, tenant, notice, state, attempts, queued_at, next_at, ended_at, holder, held_until,
			status, took, code, error, request, operation, title, payload, verdict, deadline, on_timeout)
		VALUES (?, ?, 0, 'waiting', 0, ?, ?, 0, '', 0, 0, 0, '', '', '', ?, ?, ?, ?, ?, ?)`,
		h.To.ID, n.Operation.Tenant, db.Micros(n.At), db.Micros(n.At), n.Operation.ID, title, db.JSON(n), verdict, deadline, string(n.OnTimeout))
}

// deliveryTitle says what a call of an operation hook is about: "before creation", "the resize failed".
func deliveryTitle(p template.HookPhase, k app.OperationKind) string {
	switch p {
	case template.HookAfter:
		return "after " + k.The()
	case template.HookFailure:
		return k.The() + " failed"
	}
	return "before " + k.The()
}

// notifyEnded tells hooks of an operation that has ended, in the transaction that ends it. One that never began is sent only to
// hooks that were asked before it: for others nothing has happened.
func notifyEnded(t *db.Tx, now time.Time, o *ledger.Operation) error {
	phase := template.HookFailure
	if o.Status == app.OperationSucceeded {
		phase = template.HookAfter
	}
	if o.StartedAt.IsZero() {
		var notified bool
		if err := t.Row(`SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE operation = ?)`, o.ID).Scan(&notified); err != nil || !notified {
			return err
		}
	}
	all, _, err := OperationHooksOf(t, o.Operation, phase, nil)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(h AskedHook) bool { return h.To.State != webhook.HookActive })
	if len(all) == 0 {
		return nil
	}
	plan, err := newsOfSteps(t, o.Operation)
	if err != nil {
		return err
	}
	news, err := News(t, now, o.Operation, plan)
	if err != nil {
		return err
	}
	if !o.StartedAt.IsZero() {
		news.Duration = o.EndedAt.Sub(o.StartedAt)
	}
	for _, h := range all {
		if err := TellHook(t, news, h); err != nil {
			return err
		}
	}
	return nil
}

// News is what all hooks are notified of an operation at one moment.
func News(t *db.Tx, at time.Time, op app.Operation, plan template.NewsOfPlan) (n template.OperationNews, err error) {
	n = template.OperationNews{At: at, Operation: op, Plan: plan, Nodes: []app.Node{}}
	if n.Cluster, err = clusterdb.Scan(t.Row(`SELECT `+clusterdb.Columns+` FROM clusters c WHERE c.id = ?`, op.Cluster)); err != nil {
		return n, clusterdb.ReadError(err, op.Cluster)
	}
	if err := t.Row(`SELECT count(*) FROM nodes WHERE cluster = ? AND removal < 2`, op.Cluster).Scan(&n.NodeCount); err != nil {
		return n, err
	}
	err = t.Each(func(row db.Scanner) error {
		node, err := clusterdb.ScanNode(row)
		n.Nodes = append(n.Nodes, node)
		return err
	}, `SELECT `+clusterdb.NodeColumns+` FROM nodes WHERE cluster = ? AND removal < 2 ORDER BY number LIMIT ?`, op.Cluster, template.MaxNewsNodes)
	return n, err
}

func newsOfSteps(t *db.Tx, op app.Operation) (template.NewsOfPlan, error) {
	n := template.NewsOfPlan{Hash: op.PlanHash, Steps: op.Total, Actions: map[string]int{}, Expected: op.Expected}
	err := t.Each(func(row db.Scanner) error {
		var service, action string
		var count int
		err := row.Scan(&service, &action, &count)
		n.Actions[ActionName(service, action)] = count
		return err
	}, `SELECT service, action, count(*) FROM steps WHERE operation = ? AND is_barrier = 0 GROUP BY service, action ORDER BY service, action`, op.ID)
	return n, err
}

// ActionName is an action of a service in one word.
func ActionName(service, action string) string {
	if service == "" {
		return action
	}
	return service + "." + action
}
