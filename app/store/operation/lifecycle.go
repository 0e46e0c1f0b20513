package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/ledger"
	clusterdb "muster/app/store/cluster"
	"muster/app/store/db"
)

// asked is a hook that is told of an operation, or asked before it: what says so, and the tenant's hook that it goes to.
type asked struct {
	app.OperationHook
	to app.Hook
}

// lifecycleHooks gives the hooks that are called at a time of an operation: the tenant's own by name, then those that the cluster's
// template declares. missing is the first of a template's for which the tenant has no hook.
func lifecycleHooks(t *db.Tx, op app.Operation, when app.HookPhase, definition *app.Definition) (list []asked, missing *app.OperationHook, err error) {
	var all []app.Hook
	if err := t.Each(func(row db.Scanner) error {
		h, err := ScanHook(row)
		all = append(all, h)
		return err
	}, `SELECT `+HookColumns+` FROM hooks h WHERE h.tenant = ? AND h.phase <> '' ORDER BY h.name`, op.Tenant); err != nil {
		return nil, nil, err
	}
	for _, h := range all {
		if o := h.AsOperationHook(); h.When == when && h.Script == "" && o.Wants(op.Kind) {
			list = append(list, asked{o, h})
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
		i := slices.IndexFunc(all, func(h app.Hook) bool { return h.Name == o.SendTo && h.When == app.HookTemplate })
		if i >= 0 {
			list = append(list, asked{o, all[i]})
		} else if missing == nil {
			missing = &o
		}
	}
	return list, missing, nil
}

// templateHooks gives what the cluster's template declares; definition is what the cluster is about to have, nil for what it has.
func templateHooks(t *db.Tx, cluster string, definition *app.Definition) ([]app.OperationHook, error) {
	if definition != nil {
		return definition.Hooks, nil
	}
	var sealed []byte
	if err := t.Row(`SELECT sealed_definition FROM clusters WHERE id = ?`, cluster).Scan(&sealed); err != nil {
		return nil, clusterdb.ReadError(err, cluster)
	}
	var d struct {
		Hooks []app.OperationHook `json:"hooks"`
	}
	if err := t.Keys.OpenJSON(sealed, db.DefinitionPlace(cluster), &d); err != nil && !app.IsKeyLost(err) {
		return nil, err
	}
	return d.Hooks, nil
}

// before gives the hooks that an operation is to be announced to, and whether it waits for their answers. EConflict where one that
// must not be left out cannot be asked: nothing is done then.
//
// What gives machines back is never kept for good: roll-backs, and deletions that Muster begins by itself, wait for nobody, and a
// deletion that a person asks for can be vetoed app.DeleteVetoes times.
func hooksBefore(t *db.Tx, n app.NewOperation) (list []asked, waits bool, err error) {
	var definition *app.Definition
	if n.Change != nil {
		definition = &n.Change.Definition
	}
	op := n.Operation
	all, missing, err := lifecycleHooks(t, op, app.HookBefore, definition)
	if err != nil {
		return nil, false, err
	}
	back := op.Kind.GivesBack()
	if missing != nil && !back {
		return nil, false, &app.Error{Code: app.EConflict, Reason: "hook_missing",
			Message: fmt.Sprintf("The template wants the hook %q to be asked before a %s, and your tenant has none of that name for templates.", missing.SendTo, op.Kind.Words()),
			Hint:    "An admin makes it with: muster hook save " + missing.SendTo + " --when template --url https://…"}
	}
	for _, h := range all {
		switch {
		case h.to.State == app.HookActive:
			list = append(list, h)
		case h.to.State == app.HookStopped && h.OnTimeout != app.HookGoOn && !back:
			return nil, false, &app.Error{Code: app.EConflict, Reason: "hook_stopped",
				Message: fmt.Sprintf("The hook %q has to be asked before a %s, but it was stopped: %s", h.to.Name, op.Kind.Words(), h.to.Why),
				Hint:    "An admin switches it on again with: muster hook save " + h.to.Name + " --on"}
		}
	}
	if len(list) == 0 || op.Kind == app.OperationRollBack || n.LeaseOver {
		return list, false, nil
	}
	if op.Kind == app.OperationDelete {
		var vetoes int
		if err := t.Row(`SELECT count(*) FROM operations WHERE cluster = ? AND kind = 'delete' AND vetoed_by <> ''`, op.Cluster).Scan(&vetoes); err != nil {
			return nil, false, err
		}
		return list, vetoes < app.DeleteVetoes, nil
	}
	return list, true, nil
}

// announce tells the hooks before an operation of it. Where it waits for them, it is held until they have answered, or their time
// is over.
func announce(t *db.Tx, op *app.Operation, plan app.Plan, hooks []asked, waits bool) error {
	if len(plan.Hooks) > 0 {
		if err := t.Exec(`UPDATE operations SET scripts = ? WHERE id = ?`, db.JSON(plan.Hooks), op.ID); err != nil {
			return err
		}
	}
	if len(hooks) == 0 {
		return nil
	}
	news, err := news(t, op.CreatedAt, *op, newsOfPlan(plan))
	if err != nil {
		return err
	}
	if waits {
		for _, h := range hooks {
			if until := h.Deadline(op.CreatedAt); until.After(op.HeldUntil) {
				op.HeldUntil = until
			}
		}
		op.Message = waitsForHooks(hookNames(hooks), op.HeldUntil)
		if err := t.Exec(`UPDATE operations SET held = ?, held_until = ?, message = ? WHERE id = ?`, len(hooks), db.Micros(op.HeldUntil), op.Message, op.ID); err != nil {
			return err
		}
		news.Operation = *op
	}
	for _, h := range hooks {
		n := news
		if waits {
			n.Until, n.OnTimeout = h.Deadline(op.CreatedAt), choiceOf(op.Kind, h.OnTimeout)
		}
		if err := tellHook(t, n, h); err != nil {
			return err
		}
	}
	return nil
}

// choiceOf is what a time-out comes to: what gives machines back goes on, whatever was chosen.
func choiceOf(k app.OperationKind, c app.HookChoice) app.HookChoice {
	switch {
	case k.GivesBack():
		return app.HookGoOn
	case c == "":
		return app.HookVeto
	}
	return c
}

func hookNames(hooks []asked) (names []string) {
	for _, h := range hooks {
		names = append(names, h.to.Name)
	}
	return names
}

func waitsForHooks(names []string, until time.Time) string {
	quoted := ""
	for i, n := range names {
		if i > 0 {
			quoted += ", "
		}
		quoted += fmt.Sprintf("%q", n)
	}
	word := "hook"
	if len(names) > 1 {
		word = "hooks"
	}
	return fmt.Sprintf("Waits for the answer of the %s %s until %s.", word, quoted, until.UTC().Format("2006-01-02 15:04:05 MST"))
}

// tellHook queues what a hook is told.
func tellHook(t *db.Tx, n app.OperationNews, h asked) error {
	n.Hook, n.When = h.Name, h.When
	verdict, deadline := "", int64(0)
	if !n.Until.IsZero() {
		verdict, deadline = HoldOpen, db.Micros(n.Until)
	}
	t.Topics[app.NoticesTopic()] = true
	title := fmt.Sprintf("%s the %s of %s", when(h.When), n.Operation.Kind.Words(), n.Cluster.Name)
	return t.Exec(`INSERT INTO hook_deliveries (hook, tenant, notice, state, attempts, queued_at, next_at, ended_at, holder, held_until,
			status, took, code, error, request, operation, title, payload, verdict, deadline, on_timeout)
		VALUES (?, ?, 0, 'waiting', 0, ?, ?, 0, '', 0, 0, 0, '', '', '', ?, ?, ?, ?, ?, ?)`,
		h.to.ID, n.Operation.Tenant, db.Micros(n.At), db.Micros(n.At), n.Operation.ID, title, db.JSON(n), verdict, deadline, string(n.OnTimeout))
}

func when(p app.HookPhase) string {
	switch p {
	case app.HookAfter:
		return "After"
	case app.HookFailure:
		return "After the failure of"
	}
	return "Before"
}

// tellEnded tells hooks of an operation that has ended, in the transaction that ends it. One that never began is told only to
// hooks that were asked before it: for others nothing has happened.
func tellEnded(t *db.Tx, now time.Time, o *ledger.Operation) error {
	phase := app.HookFailure
	if o.Status == app.OperationSucceeded {
		phase = app.HookAfter
	}
	if o.StartedAt.IsZero() {
		var told bool
		if err := t.Row(`SELECT EXISTS (SELECT 1 FROM hook_deliveries WHERE operation = ?)`, o.ID).Scan(&told); err != nil || !told {
			return err
		}
	}
	all, _, err := lifecycleHooks(t, o.Operation, phase, nil)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(h asked) bool { return h.to.State != app.HookActive })
	if len(all) == 0 {
		return nil
	}
	plan, err := newsOfSteps(t, o.Operation)
	if err != nil {
		return err
	}
	news, err := news(t, now, o.Operation, plan)
	if err != nil {
		return err
	}
	if !o.StartedAt.IsZero() {
		news.Took = o.EndedAt.Sub(o.StartedAt)
	}
	for _, h := range all {
		if err := tellHook(t, news, h); err != nil {
			return err
		}
	}
	return nil
}

// news is what all hooks are told of an operation at one moment.
func news(t *db.Tx, at time.Time, op app.Operation, plan app.NewsOfPlan) (n app.OperationNews, err error) {
	n = app.OperationNews{At: at, Operation: op, Plan: plan, Nodes: []app.Node{}}
	if n.Cluster, err = clusterdb.Scan(t.Row(`SELECT `+clusterdb.Columns+` FROM clusters c WHERE c.id = ?`, op.Cluster)); err != nil {
		return n, clusterdb.ReadError(err, op.Cluster)
	}
	if err := t.Row(`SELECT count(*) FROM nodes WHERE cluster = ? AND leaving < 2`, op.Cluster).Scan(&n.NodeCount); err != nil {
		return n, err
	}
	err = t.Each(func(row db.Scanner) error {
		node, err := clusterdb.ScanNode(row)
		n.Nodes = append(n.Nodes, node)
		return err
	}, `SELECT `+clusterdb.NodeColumns+` FROM nodes WHERE cluster = ? AND leaving < 2 ORDER BY number LIMIT ?`, op.Cluster, app.MaxNewsNodes)
	return n, err
}

func newsOfPlan(p app.Plan) app.NewsOfPlan {
	n := app.NewsOfPlan{Hash: p.Hash(), Steps: p.Acts(), Actions: map[string]int{}, Expected: p.Duration()}
	for _, s := range p.Steps {
		if !s.Join {
			n.Actions[actionName(s.Service, string(s.Action))]++
		}
	}
	return n
}

func newsOfSteps(t *db.Tx, op app.Operation) (app.NewsOfPlan, error) {
	n := app.NewsOfPlan{Hash: op.PlanHash, Steps: op.Total, Actions: map[string]int{}, Expected: op.Expected}
	err := t.Each(func(row db.Scanner) error {
		var service, action string
		var count int
		err := row.Scan(&service, &action, &count)
		n.Actions[actionName(service, action)] = count
		return err
	}, `SELECT service, action, count(*) FROM steps WHERE operation = ? AND is_join = 0 GROUP BY service, action ORDER BY service, action`, op.ID)
	return n, err
}

func actionName(service, action string) string {
	if service == "" {
		return action
	}
	return service + "." + action
}

// OperationHooks implements execution.OperationHookStore.
func (s *Store) OperationHooks(ctx context.Context, tenant string, operation int64) (hooks []app.OperationHook, err error) {
	var text []byte
	err = s.Row(ctx, `SELECT scripts FROM operations WHERE tenant = ? AND id = ?`, tenant, operation).Scan(&text)
	if db.IsNoRows(err) {
		return nil, app.Errorf(app.ENotFound, "There is no operation %d.", operation)
	}
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return hooks, json.Unmarshal(text, &hooks)
}
