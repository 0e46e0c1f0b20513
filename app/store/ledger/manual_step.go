package ledger

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"muster/app/execution"
	"muster/app/store/db"
	"muster/app/template"
)

// ManualStepColumns are those that ScanManualStep scans.
const ManualStepColumns = `q.id, q.operation, q.idx, q.attempt, q.step, q.node, q.service, q.action, q.tenant, q.cluster, c.name, o.kind, c.owner, o.requester,
	q.person, q.state, q.prompt, q.help, q.requested_at, q.due_at, q.answered_at, q.answered_by, q.reason`

// ManualStepTables are where ManualStepColumns are from.
const ManualStepTables = ` FROM manual_steps q JOIN clusters c ON c.id = q.cluster JOIN operations o ON o.id = q.operation `

// ManualStepRow is a question by the name that its answer is sealed for.
type ManualStepRow struct{ execution.ManualStep }

func (q ManualStepRow) Name() string { return fmt.Sprintf("%d.%d", q.Operation, q.Index) }

// ScanManualStep reads a row of ManualStepColumns; more are further columns behind.
func ScanManualStep(row db.Scanner, more ...any) (q ManualStepRow, err error) {
	var person []byte
	var asked, help string
	var askedAt, until, answeredAt int64
	if err := row.Scan(append([]any{&q.Number, &q.Operation, &q.Index, &q.Attempt, &q.Step, &q.Node, &q.Service, &q.Action, &q.Tenant, &q.Cluster, &q.ClusterName, &q.Kind, &q.Owner,
		&q.Requester, &person, &q.State, &asked, &help, &askedAt, &until, &answeredAt, &q.AnsweredBy, &q.Reason}, more...)...); err != nil {
		return q, err
	}
	if err := json.Unmarshal(person, &q.Person); err != nil {
		return q, fmt.Errorf("store: question %s: %w", q.Name(), err)
	}
	if asked != "" {
		q.Person.Ask, q.Person.Help = asked, help
	}
	q.RequestedAt, q.Until, q.AnsweredAt = db.FromMicros(askedAt), db.FromMicros(until), db.FromMicros(answeredAt)
	return q, nil
}

// ManualSteps reads the questions that a condition finds.
func ManualSteps(t *db.Tx, where string, args ...any) (list []ManualStepRow, err error) {
	err = t.Each(func(row db.Scanner) error {
		q, err := ScanManualStep(row)
		list = append(list, q)
		return err
	}, `SELECT `+ManualStepColumns+ManualStepTables+`WHERE `+where+` ORDER BY q.id`, args...)
	return list, err
}

// OpenAlike returns the open questions of an operation that one answer counts for.
func OpenAlike(t *db.Tx, q ManualStepRow) ([]ManualStepRow, error) {
	return ManualSteps(t, `q.operation = ? AND q.service = ? AND q.action = ? AND q.state = 'open'`, q.Operation, q.Service, string(q.Action))
}

// ManualStepEnd is how a question ends. Sealed are the values, or SameAs names the question that has them.
type ManualStepEnd struct {
	State    execution.ManualStepState
	Who, Why string
	Sealed   []byte
	SameAs   string
	Now      time.Time
}

// CloseManualStep writes how a question ended.
func CloseManualStep(t *db.Tx, q ManualStepRow, e ManualStepEnd) error {
	if e.Sealed == nil {
		e.Sealed = []byte{}
	}
	return t.Exec(`UPDATE manual_steps SET state = ?, answered_at = ?, answered_by = ?, reason = ?, answer = ?, answered_with = ?, remind_at = 0
		WHERE operation = ? AND idx = ?`, string(e.State), db.Micros(e.Now), e.Who, e.Why, e.Sealed, e.SameAs, q.Operation, q.Index)
}

// WithdrawManualSteps takes back what is asked of an operation that is paused or cancelled.
func WithdrawManualSteps(t *db.Tx, operation int64) error {
	return t.Exec(`UPDATE manual_steps SET state = 'withdrawn', remind_at = 0 WHERE operation = ? AND state = 'open'`, operation)
}

// forgetAnswers wipes what was typed for a cluster that is gone.
func forgetAnswers(t *db.Tx, cluster string) error {
	return t.Exec(`UPDATE manual_steps SET answer = ? WHERE cluster = ? AND length(answer) > 0`, []byte{}, cluster)
}

// insertManualSteps writes what a plan asks people.
func insertManualSteps(t *db.Tx, p *PlanRows) error {
	if len(p.plan.ManualSteps) == 0 {
		return nil
	}
	var at []int
	for i := range p.plan.Steps {
		if p.plan.ManualStep(i) != nil {
			at = append(at, i)
		}
	}
	texts := map[string]string{}
	for name, q := range p.plan.ManualSteps {
		texts[name] = db.JSON(q)
	}
	return t.ExecChunks(len(at), `INSERT INTO manual_steps (name, tenant, cluster, operation, idx, step, node, service, action, person, answer) VALUES `,
		`(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, ``, func(args []any, n int) []any {
			i := at[n]
			s := p.plan.Steps[i]
			return append(args, fmt.Sprintf("%d.%d", p.op.ID, i), p.op.Tenant, p.op.Cluster, p.op.ID, i, s.ID, s.Node, s.Service, string(s.Action), texts[s.Asks], []byte{})
		})
}

// needsNodes reports whether a text speaks of nodes.
func needsNodes(p template.Person) bool { return strings.Contains(p.Ask+p.Help, "%") }
