package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"muster/app"
	"muster/app/cluster"
	appplan "muster/app/plan"
	"muster/app/store/db"
	ledgerdb "muster/app/store/ledger"
	"muster/app/template"
	"muster/app/webhook"
)

// hooksBefore returns the hooks that an operation is to be announced to, and whether it waits for their answers. EConflict where one that
// must not be left out cannot be asked: nothing is done then.
//
// What returns machines is never kept for good: rollbacks, and deletions that Muster begins by itself, wait for no one, and a
// deletion that a person asks for can be vetoed app.DeleteVetoes times.
func hooksBefore(t *db.Tx, n cluster.NewOperation) (list []ledgerdb.AskedHook, waits bool, err error) {
	var definition *cluster.Definition
	if n.Change != nil {
		definition = &n.Change.Definition
	}
	op := n.Operation
	all, missing, err := ledgerdb.OperationHooksOf(t, op, template.HookBefore, definition)
	if err != nil {
		return nil, false, err
	}
	back := op.Kind.GivesBack()
	if missing != nil && !back {
		return nil, false, &app.Error{Code: app.EConflict, Reason: "hook_missing",
			Message: fmt.Sprintf("The template requires a webhook %q before %s, but your tenant has no template webhook of that name.", missing.SendTo, op.Kind.The()),
			Hint:    "An admin can create it with: muster webhook save " + missing.SendTo + " --when template --url https://…"}
	}
	for _, h := range all {
		switch {
		case h.To.State == webhook.HookActive:
			list = append(list, h)
		case h.To.State == webhook.HookStopped && h.OnTimeout != template.HookContinue && !back:
			return nil, false, &app.Error{Code: app.EConflict, Reason: "hook_stopped",
				Message: fmt.Sprintf("Webhook %q, called before %s, was stopped: %s", h.To.Name, op.Kind.The(), h.To.Problem),
				Hint:    "An admin can turn it on again with: muster webhook save " + h.To.Name + " --on"}
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
		return list, vetoes < template.DeleteVetoes, nil
	}
	return list, true, nil
}

// announce tells the hooks before an operation of it. Where it waits for them, it is held until they have answered, or their time
// is over.
func announce(t *db.Tx, op *app.Operation, plan appplan.Plan, hooks []ledgerdb.AskedHook, waits bool) error {
	if len(plan.Hooks) > 0 {
		if err := t.Exec(`UPDATE operations SET scripts = ? WHERE id = ?`, db.JSON(plan.Hooks), op.ID); err != nil {
			return err
		}
	}
	if len(hooks) == 0 {
		return nil
	}
	news, err := ledgerdb.News(t, op.CreatedAt, *op, newsOfPlan(plan))
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
		if err := t.Exec(`UPDATE operations SET pending_hooks = ?, held_until = ?, message = ? WHERE id = ?`, len(hooks), db.Micros(op.HeldUntil), op.Message, op.ID); err != nil {
			return err
		}
		news.Operation = *op
	}
	for _, h := range hooks {
		n := news
		if waits {
			n.Until, n.OnTimeout = h.Deadline(op.CreatedAt), choiceOf(op.Kind, h.OnTimeout)
		}
		if err := ledgerdb.TellHook(t, n, h); err != nil {
			return err
		}
	}
	return nil
}

// choiceOf is what a time-out comes to: what returns machines continues, whatever was chosen.
func choiceOf(k app.OperationKind, c template.HookChoice) template.HookChoice {
	switch {
	case k.GivesBack():
		return template.HookContinue
	case c == "":
		return template.HookVeto
	}
	return c
}

func hookNames(hooks []ledgerdb.AskedHook) (names []string) {
	for _, h := range hooks {
		names = append(names, h.To.Name)
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
	word := "webhook"
	if len(names) > 1 {
		word = "webhooks"
	}
	return fmt.Sprintf("Waiting for %s %s to respond by %s.", word, quoted, until.UTC().Format("2006-01-02 15:04:05 MST"))
}

func newsOfPlan(p appplan.Plan) template.NewsOfPlan {
	n := template.NewsOfPlan{Hash: p.Hash(), Steps: p.Acts(), Actions: map[string]int{}, Expected: p.Duration()}
	for _, s := range p.Steps {
		if !s.Join {
			n.Actions[ledgerdb.ActionName(s.Service, string(s.Action))]++
		}
	}
	return n
}

func (s *Store) OperationHooks(ctx context.Context, tenant string, operation int64) (hooks []template.OperationHook, err error) {
	var text []byte
	err = s.Row(ctx, `SELECT scripts FROM operations WHERE tenant = ? AND id = ?`, tenant, operation).Scan(&text)
	if db.IsNoRows(err) {
		return nil, app.Errorf(app.ENotFound, "Operation %d doesn't exist.", operation)
	}
	if err != nil || len(text) == 0 {
		return nil, err
	}
	return hooks, json.Unmarshal(text, &hooks)
}
