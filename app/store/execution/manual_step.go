package execution

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/humanize"
	"muster/app/ledger"
	"muster/app/store/cluster"
	"muster/app/store/db"
	ledgerdb "muster/app/store/ledger"
	"muster/app/template"
)

func (s *Store) ManualSteps(ctx context.Context, tenant string, f execution.ManualStepFilter) ([]execution.ManualStep, error) {
	list := []execution.ManualStep{}
	where, args := `q.tenant = ?`, []any{tenant}
	if f.Cluster != "" {
		where, args = where+` AND q.cluster = ?`, append(args, f.Cluster)
	}
	if f.Operation != 0 {
		where, args = where+` AND q.operation = ?`, append(args, f.Operation)
	}
	if !f.All {
		where += ` AND q.state = 'open'`
	}
	if f.After > 0 {
		where, args = where+` AND q.id > ?`, append(args, f.After)
	}
	may, mine := cluster.Readable(f.Reader)
	shared, of := cluster.SharedWith(f.Reader)
	args = append(append(of, args...), mine...)
	err := s.Each(ctx, func(row db.Scanner) error {
		var access app.Access
		c := app.Cluster{Tenant: tenant}
		q, err := ledgerdb.ScanManualStep(row, &c.Visibility, &c.OwnerGroup, &access)
		c.ID, c.Owner = q.Cluster, q.Owner
		q.Access = cluster.AccessOf(f.Reader, c, access)
		list = append(list, q.ManualStep)
		return err
	}, `SELECT `+ledgerdb.ManualStepColumns+`, c.visibility, c.owner_group, `+shared+ledgerdb.ManualStepTables+`WHERE `+where+may+` ORDER BY q.id LIMIT ?`, append(args, min(max(f.Limit, 1), 1000))...)
	return list, err
}

func (s *Store) ManualStep(ctx context.Context, tenant string, operation int64, index int) (execution.ManualStep, error) {
	q, err := ledgerdb.ScanManualStep(s.Row(ctx, `SELECT `+ledgerdb.ManualStepColumns+ledgerdb.ManualStepTables+`WHERE q.tenant = ? AND q.operation = ? AND q.idx = ?`,
		tenant, operation, index))
	return q.ManualStep, noManualStep(err, operation, index)
}

func noManualStep(err error, operation int64, index int) error {
	if db.IsNoRows(err) {
		return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Step %d of operation %d isn't a manual step.", index, operation),
			Hint: "Run `muster manual-steps` to list manual steps."}
	}
	return err
}

func (s *Store) Answers(ctx context.Context, tenant, cluster string, nodes []string) ([]execution.NodeAnswer, error) {
	if len(nodes) == 0 {
		return nil, nil
	}
	args := []any{tenant, cluster}
	for _, n := range nodes {
		args = append(args, n)
	}
	place := map[[2]string]int{} // by node and service: where the values are
	var list []execution.NodeAnswer
	err := s.Each(ctx, func(row db.Scanner) error {
		var name, node, service string
		var person, sealed []byte
		if err := row.Scan(&name, &node, &service, &person, &sealed); err != nil {
			return err
		}
		values, err := s.answerValues(name, person, sealed)
		if err != nil {
			return err
		}
		at, known := place[[2]string{node, service}]
		if !known {
			at = len(list)
			place[[2]string{node, service}] = at
			list = append(list, execution.NodeAnswer{Node: node, Service: service, Values: map[string]app.AnswerValue{}})
		}
		maps.Copy(list[at].Values, values) // those of different actions of a service add up
		return nil
	}, `SELECT a.name, q.node, q.service, q.person, a.answer FROM manual_steps q
		JOIN manual_steps a ON a.name = CASE q.answered_with WHEN '' THEN q.name ELSE q.answered_with END
		WHERE q.state IN ('answered', 'overdue') AND q.tenant = ? AND q.cluster = ? AND q.node IN (`+db.Repeated(`?`, len(nodes))+`)
		ORDER BY q.answered_at, q.id`, args...)
	return list, err
}

// answerValues opens an answer. One that no one gave, where the step continued nevertheless, is what fields have by default.
func (s *Store) answerValues(name string, person, sealed []byte) (values map[string]app.AnswerValue, err error) {
	if len(sealed) > 0 {
		text, err := s.Unseal(sealed, "questions/"+name)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &values); err != nil {
			return nil, fmt.Errorf("store: answer %s: %w", name, err)
		}
		return values, nil
	}
	var p template.Person
	if err := json.Unmarshal(person, &p); err != nil {
		return nil, fmt.Errorf("store: question %s: %w", name, err)
	}
	if p.GoesOn() {
		return p.Settle(nil)
	}
	return nil, nil
}

func (s *Store) AnswerManualStep(ctx context.Context, n execution.NewAnswer) (q execution.ManualStep, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		r, err := question(t, n.Tenant, n.Operation, n.Index)
		if err != nil {
			return err
		}
		if r.State != execution.ManualStepOpen || r.Attempt != n.Attempt {
			return tooLate(t, r, n)
		}
		rows := []ledgerdb.ManualStepRow{r}
		if r.Person.Once {
			if rows, err = ledgerdb.OpenAlike(t, r); err != nil {
				return err
			}
		}
		state := execution.ManualStepAnswered
		if n.Refuse != "" {
			state = execution.ManualStepRefused
		}
		sealed, err := s.sealAnswer(r, n.Values)
		if err != nil {
			return err
		}
		set, keys := ledger.New(n.Now), make([]ledger.Key, len(rows))
		for i, one := range rows {
			keys[i] = ledger.Key{Operation: one.Operation, Index: one.Index}
			e := ledgerdb.ManualStepEnd{State: state, Who: n.Who.Name(), Why: n.Refuse, Now: n.Now}
			if one.Index == r.Index {
				e.Sealed = sealed
			} else {
				e.SameAs = r.Name()
			}
			if err := ledgerdb.CloseManualStep(t, one, e); err != nil {
				return err
			}
		}
		if err := ledgerdb.AddSteps(t, set, keys); err != nil {
			return err
		}
		refused := ""
		if n.Refuse != "" {
			refused = n.Who.Name() + " refused: " + n.Refuse
		}
		for i, k := range keys {
			if st := set.Step(k); st == nil || !set.Answer(st, rows[i].Attempt, refused) {
				return app.Errorf(app.EInternal, "step %d of operation %d is not asked, though its question is open", k.Index, k.Operation)
			}
		}
		if err := set.Settle(ledgerdb.Rows(t)); err != nil {
			return err
		}
		act, after := "step.answer", map[string]any{"step": r.Step, "operation": r.Operation, "nodes": len(rows)}
		if n.Refuse != "" {
			act, after["reason"] = "step.refuse", n.Refuse
		}
		if values := plainValues(n.Values); len(values) > 0 {
			after["values"] = values
		}
		if err := t.AddAudit(n.Now, n.Who, act, r.Cluster, nil, after); err != nil {
			return err
		}
		if err := ledgerdb.Save(t, n.Now, set); err != nil {
			return err
		}
		r, err = question(t, n.Tenant, n.Operation, n.Index)
		q = r.ManualStep
		return err
	})
	return q, err
}

// plainValues are those that may be shown; of secret ones only that they are there.
func plainValues(values map[string]app.AnswerValue) map[string]string {
	plain := map[string]string{}
	for name, v := range values {
		if plain[name] = humanize.CutText(v.Text, 100); v.Secret {
			plain[name] = "•••"
		}
	}
	return plain
}

func question(t *db.Tx, tenant string, operation int64, index int) (ledgerdb.ManualStepRow, error) {
	q, err := ledgerdb.ScanManualStep(t.Row(`SELECT `+ledgerdb.ManualStepColumns+ledgerdb.ManualStepTables+`WHERE q.tenant = ? AND q.operation = ? AND q.idx = ?`, tenant, operation, index))
	return q, noManualStep(err, operation, index)
}

// tooLate says what has become of a question that someone wants to answer.
func tooLate(t *db.Tx, q ledgerdb.ManualStepRow, n execution.NewAnswer) error {
	e := &app.Error{Code: app.EConflict, Reason: "not_asked", Field: "attempt"}
	switch at := q.AnsweredAt.UTC().Format("2 Jan 15:04:05 UTC"); {
	case n.Attempt > q.Attempt:
		e.Message = fmt.Sprintf("%s has no attempt %d yet.", q.Step, n.Attempt)
	case q.State == execution.ManualStepAnswered:
		e.Reason, e.Message = "answered", fmt.Sprintf("Already answered by %s at %s; the operation continued.", q.AnsweredBy, at)
	case q.State == execution.ManualStepRefused:
		e.Reason, e.Message = "answered", fmt.Sprintf("Already refused by %s at %s: %s", q.AnsweredBy, at, q.Reason)
		e.Hint = "Resume the operation to ask again."
	case q.State == execution.ManualStepOverdue:
		e.Message = fmt.Sprintf("No one answered by %s, the deadline.", at)
		if !q.Person.GoesOn() {
			e.Hint = "Resume the operation to ask again."
		}
	case q.State == execution.ManualStepOpen:
		e.Message, e.Hint = "This question has since been asked again.", "Reload it, then answer."
	case q.State == execution.ManualStepLater:
		e.Message = fmt.Sprintf("%s hasn't been asked yet.", q.Step)
	default:
		status := ""
		if err := t.Row(`SELECT status FROM operations WHERE id = ?`, q.Operation).Scan(&status); err != nil {
			return err
		}
		e.Message = fmt.Sprintf("No answer is needed any more: %s is %s.", q.Kind.The(), status)
		if status == string(app.OperationPaused) {
			e.Hint = "Resume the operation to ask again."
		}
	}
	return e
}

// sealAnswer seals values, whether they are secret or not, for the row of a question.
func (s *Store) sealAnswer(q ledgerdb.ManualStepRow, values map[string]app.AnswerValue) ([]byte, error) {
	if len(values) == 0 {
		return []byte{}, nil
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("store: answer %s: %w", q.Name(), err)
	}
	return s.Seal(text, "questions/"+q.Name()), nil
}

// remind tells those who may answer again, when half of the time is over. What is reported is noted in the same transaction.
func remind(t *db.Tx, now time.Time) error {
	list, err := ledgerdb.ManualSteps(t, `q.`+isRemind, db.Micros(now))
	if err != nil {
		return err
	}
	for _, q := range list {
		if err := t.Exec(`UPDATE manual_steps SET remind_at = 0 WHERE operation = ? AND idx = ?`, q.Operation, q.Index); err != nil {
			return err
		}
		if q.State == execution.ManualStepOpen && q.Until.After(now) {
			if err := t.Notice(q.ReminderNotice(now)); err != nil {
				return err
			}
		}
	}
	return nil
}
