package ledger

import (
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/store/cluster"
	"muster/app/store/db"
	"muster/app/template"
)

// noteManualSteps opens and closes the questions of steps that a set has moved, in the same transaction: a question is open just as
// long as its step is asked. It returns those that were answered already on another node, for answerKnown.
func noteManualSteps(t *db.Tx, now time.Time, set *ledger.Set) (known []ManualStepRow, err error) {
	var opened, moved, over []*ledger.Step
	leaving, _ := set.Changed() // a step that is asked is on no node
	for _, st := range leaving {
		switch asked := st.State == app.StepAsked; {
		case st.AskFor == 0:
		case asked && st.Was != app.StepAsked:
			opened = append(opened, st)
		case asked:
			moved = append(moved, st)
		case st.Was == app.StepAsked:
			over = append(over, st)
		}
	}
	for _, st := range moved {
		if err := t.Exec(`UPDATE manual_steps SET due_at = ? WHERE operation = ? AND idx = ?`, db.Micros(st.Deadline), st.Operation, st.Index); err != nil {
			return nil, err
		}
	}
	if err := closeOverdue(t, now, over); err != nil {
		return nil, err
	}
	return openManualSteps(t, now, opened)
}

// closeOverdue ends the questions that no one has answered: those that were are not open any more.
func closeOverdue(t *db.Tx, now time.Time, over []*ledger.Step) error {
	notified := map[string]bool{}
	for _, st := range over {
		list, err := ManualSteps(t, `q.operation = ? AND q.idx = ? AND q.state = 'open'`, st.Operation, st.Index)
		if err != nil {
			return err
		}
		for _, q := range list {
			if err := CloseManualStep(t, q, ManualStepEnd{State: execution.ManualStepOverdue, Now: now}); err != nil {
				return err
			}
			if !alreadyNotified(notified, q) {
				if err := t.Notice(q.OverdueNotice(now)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// alreadyNotified reports whether people were notified of the same on another node, where one answer counts for all.
func alreadyNotified(notified map[string]bool, q ManualStepRow) bool {
	key := db.JSON([]any{q.Operation, q.Service, q.Action})
	was := notified[key]
	notified[key] = true
	return was && q.Person.Once
}

func openManualSteps(t *db.Tx, now time.Time, opened []*ledger.Step) (known []ManualStepRow, err error) {
	notified := map[string]bool{}
	clusters := map[string]template.MacroCluster{}
	for _, st := range opened {
		list, err := ManualSteps(t, `q.operation = ? AND q.idx = ?`, st.Operation, st.Index)
		if err != nil {
			return nil, err
		}
		for _, q := range list {
			if q.Attempt, q.State, q.RequestedAt, q.Until = st.Attempt, execution.ManualStepOpen, now, st.Deadline; needsNodes(q.Person) {
				if err := expandManualStep(t, &q, clusters); err != nil {
					return nil, err
				}
			}
			remind := now.Add(st.AskFor / 2)
			fresh := !alreadyNotified(notified, q)
			if q.Person.Once && fresh {
				var before string // the one by which people know of it, and which was answered perhaps
				err := t.Row(`SELECT COALESCE(min(state), '') FROM manual_steps WHERE operation = ? AND service = ? AND action = ? AND state IN ('answered', 'open')`,
					q.Operation, q.Service, string(q.Action)).Scan(&before)
				if err != nil {
					return nil, err
				}
				if fresh = before == ""; before == string(execution.ManualStepAnswered) {
					known = append(known, q)
				}
			}
			if !fresh {
				remind = time.Time{}
			}
			if err := t.Exec(`UPDATE manual_steps SET state = 'open', attempt = ?, prompt = ?, help = ?, requested_at = ?, due_at = ?, remind_at = ?, answered_at = 0,
				answered_by = '', reason = '', answer = ?, answered_with = '' WHERE operation = ? AND idx = ?`, q.Attempt, q.Person.Ask, q.Person.Help, db.Micros(now), db.Micros(q.Until),
				db.Micros(remind), []byte{}, q.Operation, q.Index); err != nil {
				return nil, err
			}
			if fresh {
				if err := t.Notice(q.AskedNotice(now)); err != nil {
					return nil, err
				}
			}
		}
	}
	return known, nil
}

// expandManualStep puts what is known of nodes into the text. Nodes of a cluster are read once for a transaction.
func expandManualStep(t *db.Tx, q *ManualStepRow, clusters map[string]template.MacroCluster) error {
	c, have := clusters[q.Cluster]
	if !have {
		var nodes []app.Node
		if err := t.Each(func(row db.Scanner) error {
			n, err := cluster.ScanNode(row)
			if !n.Leaving {
				nodes = append(nodes, n)
			}
			return err
		}, `SELECT `+cluster.NodeColumns+` FROM nodes WHERE cluster = ?`, q.Cluster); err != nil {
			return err
		}
		c = template.NewMacroCluster(q.Owner, nodes)
		clusters[q.Cluster] = c
	}
	var self *app.Node
	for i := range c.Nodes {
		if c.Nodes[i].Name == q.Node {
			self = &c.Nodes[i]
		}
	}
	q.Person = q.Person.Expand(c, self)
	return nil
}

// answerKnown lets steps continue that ask what was answered on another node already, with the same answer.
func answerKnown(t *db.Tx, now time.Time, known []ManualStepRow) error {
	if len(known) == 0 {
		return nil
	}
	set := ledger.New(now)
	for _, first := range known {
		alike, err := OpenAlike(t, first)
		if err != nil || len(alike) == 0 {
			return err
		}
		was, err := ManualSteps(t, `q.operation = ? AND q.service = ? AND q.action = ? AND q.state = 'answered'`, first.Operation, first.Service, string(first.Action))
		if err != nil {
			return err
		}
		if len(was) == 0 {
			continue
		}
		e := ManualStepEnd{State: execution.ManualStepAnswered, Who: was[0].AnsweredBy, Now: now}
		if err := t.Row(`SELECT CASE answered_with WHEN '' THEN name ELSE answered_with END FROM manual_steps WHERE operation = ? AND idx = ?`,
			was[0].Operation, was[0].Index).Scan(&e.SameAs); err != nil {
			return err
		}
		keys := make([]ledger.Key, len(alike))
		for i, q := range alike {
			keys[i] = ledger.Key{Operation: q.Operation, Index: q.Index}
			if err := CloseManualStep(t, q, e); err != nil {
				return err
			}
		}
		if err := AddSteps(t, set, keys); err != nil {
			return err
		}
		for i, k := range keys {
			if st := set.Step(k); st != nil {
				set.Answer(st, alike[i].Attempt, "")
			}
		}
	}
	if err := set.Settle(Rows(t)); err != nil {
		return err
	}
	return Save(t, now, set)
}
