package operation

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/store/cluster"
	"muster/app/store/db"
)

const questionColumns = `q.id, q.operation, q.idx, q.attempt, q.step, q.node, q.service, q.action, q.tenant, q.cluster, c.name, o.kind, c.owner, o.requester,
	q.person, q.state, q.asked, q.help, q.asked_at, q.until, q.answered_at, q.answered_by, q.reason`

const questionTables = ` FROM questions q JOIN clusters c ON c.id = q.cluster JOIN operations o ON o.id = q.operation `

// questionRow is a question by the name that its answer is sealed for.
type questionRow struct{ app.Question }

func (q questionRow) name() string { return fmt.Sprintf("%d.%d", q.Operation, q.Index) }

// scanQuestion reads a row of questionColumns; more are further columns behind.
func scanQuestion(row db.Scanner, more ...any) (q questionRow, err error) {
	var person []byte
	var asked, help string
	var askedAt, until, answeredAt int64
	if err := row.Scan(append([]any{&q.Number, &q.Operation, &q.Index, &q.Attempt, &q.Step, &q.Node, &q.Service, &q.Action, &q.Tenant, &q.Cluster, &q.ClusterName, &q.Kind, &q.Owner,
		&q.Requester, &person, &q.State, &asked, &help, &askedAt, &until, &answeredAt, &q.AnsweredBy, &q.Reason}, more...)...); err != nil {
		return q, err
	}
	if err := json.Unmarshal(person, &q.Person); err != nil {
		return q, fmt.Errorf("store: question %s: %w", q.name(), err)
	}
	if asked != "" {
		q.Person.Ask, q.Person.Help = asked, help
	}
	q.AskedAt, q.Until, q.AnsweredAt = db.FromMicros(askedAt), db.FromMicros(until), db.FromMicros(answeredAt)
	return q, nil
}

// Questions implements app.QuestionStore.
func (s *Store) Questions(ctx context.Context, tenant string, f execution.QuestionFilter) ([]app.Question, error) {
	list := []app.Question{}
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
		q, err := scanQuestion(row, &c.Visibility, &c.OwnerGroup, &access)
		c.ID, c.Owner = q.Cluster, q.Owner
		q.Access = cluster.AccessOf(f.Reader, c, access)
		list = append(list, q.Question)
		return err
	}, `SELECT `+questionColumns+`, c.visibility, c.owner_group, `+shared+questionTables+`WHERE `+where+may+` ORDER BY q.id LIMIT ?`, append(args, min(max(f.Limit, 1), 1000))...)
	return list, err
}

// Question implements app.QuestionStore.
func (s *Store) Question(ctx context.Context, tenant string, operation int64, index int) (app.Question, error) {
	q, err := scanQuestion(s.Row(ctx, `SELECT `+questionColumns+questionTables+`WHERE q.tenant = ? AND q.operation = ? AND q.idx = ?`,
		tenant, operation, index))
	return q.Question, noQuestion(err, operation, index)
}

func noQuestion(err error, operation int64, index int) error {
	if db.IsNoRows(err) {
		return &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("Nobody is asked at step %d of operation %d.", index, operation),
			Hint: "Questions that wait are listed by `muster questions`."}
	}
	return err
}

// Answers implements app.QuestionStore.
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
	}, `SELECT a.name, q.node, q.service, q.person, a.answer FROM questions q JOIN questions a ON a.name = CASE q.same_as WHEN '' THEN q.name ELSE q.same_as END
		WHERE q.state IN ('answered', 'overdue') AND q.tenant = ? AND q.cluster = ? AND q.node IN (`+db.Repeated(`?`, len(nodes))+`)
		ORDER BY q.answered_at, q.id`, args...)
	return list, err
}

// answerValues opens an answer. One that nobody gave, where the step went on nevertheless, is what fields have by default.
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
	var p app.Person
	if err := json.Unmarshal(person, &p); err != nil {
		return nil, fmt.Errorf("store: question %s: %w", name, err)
	}
	if p.GoesOn() {
		return p.Settle(nil)
	}
	return nil, nil
}

// AnswerQuestion implements app.QuestionStore.
func (s *Store) AnswerQuestion(ctx context.Context, n execution.NewAnswer) (q app.Question, err error) {
	err = s.Write(ctx, func(t *db.Tx) error {
		r, err := question(t, n.Tenant, n.Operation, n.Index)
		if err != nil {
			return err
		}
		if r.State != app.QuestionOpen || r.Attempt != n.Attempt {
			return tooLate(t, r, n)
		}
		rows := []questionRow{r}
		if r.Person.Once {
			if rows, err = openAlike(t, r); err != nil {
				return err
			}
		}
		state := app.QuestionAnswered
		if n.Refuse != "" {
			state = app.QuestionRefused
		}
		sealed, err := s.sealAnswer(r, n.Values)
		if err != nil {
			return err
		}
		set, keys := ledger.New(n.Now), make([]ledger.Key, len(rows))
		for i, one := range rows {
			keys[i] = ledger.Key{Operation: one.Operation, Index: one.Index}
			e := questionEnd{state: state, who: n.Who.Name(), why: n.Refuse, now: n.Now}
			if one.Index == r.Index {
				e.sealed = sealed
			} else {
				e.sameAs = r.name()
			}
			if err := closeQuestion(t, one, e); err != nil {
				return err
			}
		}
		if err := addSteps(t, set, keys); err != nil {
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
		if err := set.Settle(ledgerRows{t}); err != nil {
			return err
		}
		act, after := "step.answer", map[string]any{"step": r.Step, "operation": r.Operation, "nodes": len(rows)}
		if n.Refuse != "" {
			act, after["reason"] = "step.refuse", n.Refuse
		}
		if values := plainValues(n.Values); len(values) > 0 {
			after["values"] = values
		}
		if err := t.Deed(n.Now, n.Who, act, r.Cluster, nil, after); err != nil {
			return err
		}
		if err := save(t, n.Now, set); err != nil {
			return err
		}
		r, err = question(t, n.Tenant, n.Operation, n.Index)
		q = r.Question
		return err
	})
	return q, err
}

// plainValues are those that may be shown; of secret ones only that they are there.
func plainValues(values map[string]app.AnswerValue) map[string]string {
	plain := map[string]string{}
	for name, v := range values {
		if plain[name] = app.CutText(v.Text, 100); v.Secret {
			plain[name] = "•••"
		}
	}
	return plain
}

func question(t *db.Tx, tenant string, operation int64, index int) (questionRow, error) {
	q, err := scanQuestion(t.Row(`SELECT `+questionColumns+questionTables+`WHERE q.tenant = ? AND q.operation = ? AND q.idx = ?`, tenant, operation, index))
	return q, noQuestion(err, operation, index)
}

func questions(t *db.Tx, where string, args ...any) (list []questionRow, err error) {
	err = t.Each(func(row db.Scanner) error {
		q, err := scanQuestion(row)
		list = append(list, q)
		return err
	}, `SELECT `+questionColumns+questionTables+`WHERE `+where+` ORDER BY q.id`, args...)
	return list, err
}

// openAlike gives the open questions of an operation that one answer counts for.
func openAlike(t *db.Tx, q questionRow) ([]questionRow, error) {
	return questions(t, `q.operation = ? AND q.service = ? AND q.action = ? AND q.state = 'open'`, q.Operation, q.Service, string(q.Action))
}

// tooLate says what has become of a question that somebody wants to answer.
func tooLate(t *db.Tx, q questionRow, n execution.NewAnswer) error {
	e := &app.Error{Code: app.EConflict, Reason: "not_asked", Field: "attempt"}
	switch at := q.AnsweredAt.UTC().Format("2 Jan 15:04:05 UTC"); {
	case n.Attempt > q.Attempt:
		e.Message = fmt.Sprintf("%s was never asked for the %d. time.", q.Step, n.Attempt)
	case q.State == app.QuestionAnswered:
		e.Reason, e.Message = "answered", fmt.Sprintf("You are too late: %s answered it at %s, and it went on.", q.AnsweredBy, at)
	case q.State == app.QuestionRefused:
		e.Reason, e.Message = "answered", fmt.Sprintf("You are too late: %s refused it at %s: %s", q.AnsweredBy, at, q.Reason)
		e.Hint = "Resume the operation to have it asked again."
	case q.State == app.QuestionOverdue:
		e.Message = fmt.Sprintf("You are too late: nobody had answered by %s.", at)
		if !q.Person.GoesOn() {
			e.Hint = "Resume the operation to have it asked again."
		}
	case q.State == app.QuestionOpen:
		e.Message, e.Hint = "This was asked anew meanwhile.", "Look at it again, and answer then."
	case q.State == app.QuestionLater:
		e.Message = fmt.Sprintf("%s is not asked yet.", q.Step)
	default:
		status := ""
		if err := t.Row(`SELECT status FROM operations WHERE id = ?`, q.Operation).Scan(&status); err != nil {
			return err
		}
		e.Message = fmt.Sprintf("Nobody is asked any more: the %s is %s.", q.Kind.Words(), status)
		if status == string(app.OperationPaused) {
			e.Hint = "When it is resumed, it is asked again."
		}
	}
	return e
}

// sealAnswer seals values, whether they are secret or not, for the row of a question.
func (s *Store) sealAnswer(q questionRow, values map[string]app.AnswerValue) ([]byte, error) {
	if len(values) == 0 {
		return []byte{}, nil
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("store: answer %s: %w", q.name(), err)
	}
	return s.Seal(text, "questions/"+q.name()), nil
}

// questionEnd is how a question ends. Sealed are the values, or SameAs names the question that has them.
type questionEnd struct {
	state    app.QuestionState
	who, why string
	sealed   []byte
	sameAs   string
	now      time.Time
}

func closeQuestion(t *db.Tx, q questionRow, e questionEnd) error {
	if e.sealed == nil {
		e.sealed = []byte{}
	}
	return t.Exec(`UPDATE questions SET state = ?, answered_at = ?, answered_by = ?, reason = ?, answer = ?, same_as = ?, remind_at = 0
		WHERE operation = ? AND idx = ?`, string(e.state), db.Micros(e.now), e.who, e.why, e.sealed, e.sameAs, q.Operation, q.Index)
}

// withdrawQuestions takes back what is asked of an operation that is paused or cancelled.
func withdrawQuestions(t *db.Tx, operation int64) error {
	return t.Exec(`UPDATE questions SET state = 'withdrawn', remind_at = 0 WHERE operation = ? AND state = 'open'`, operation)
}

// forgetAnswers wipes what was typed for a cluster that is gone.
func forgetAnswers(t *db.Tx, cluster string) error {
	return t.Exec(`UPDATE questions SET answer = ? WHERE cluster = ? AND length(answer) > 0`, []byte{}, cluster)
}

// insertQuestions writes what a plan asks people.
func insertQuestions(t *db.Tx, p *planRows) error {
	if len(p.plan.Questions) == 0 {
		return nil
	}
	var at []int
	for i := range p.plan.Steps {
		if p.plan.Question(i) != nil {
			at = append(at, i)
		}
	}
	texts := map[string]string{}
	for name, q := range p.plan.Questions {
		texts[name] = db.JSON(q)
	}
	return t.ExecSet(len(at), `INSERT INTO questions (name, tenant, cluster, operation, idx, step, node, service, action, person, answer) VALUES `,
		`(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, ``, func(args []any, n int) []any {
			i := at[n]
			s := p.plan.Steps[i]
			return append(args, fmt.Sprintf("%d.%d", p.op.ID, i), p.op.Tenant, p.op.Cluster, p.op.ID, i, s.ID, s.Node, s.Service, string(s.Action), texts[s.Asks], []byte{})
		})
}

// needsNodes tells whether a text speaks of nodes.
func needsNodes(p app.Person) bool { return strings.Contains(p.Ask+p.Help, "%") }
