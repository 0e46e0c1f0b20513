package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/humanize"
)

// Problem is what is wrong with a cluster that has failed, and what leads on from there: the one place that all faces show it from. It's
// worked out from rows alone, so that it costs next to nothing to look at.
type Problem struct {
	// Text says in a sentence or two what is wrong.
	Text  string    `json:"text"`
	Since time.Time `json:"since"`
	// Operation is the one that didn't end well; 0 where machines were lost without one.
	Operation int64 `json:"operation,omitempty"`
	// Lost are the nodes whose machines are gone.
	Lost []string `json:"lost"`
	// Failures are the first steps that failed; MoreFailures counts the others.
	Failures     []FailedStep `json:"failures"`
	MoreFailures int          `json:"more_failures,omitempty"`
	// CostPerHour is what the existing machines cost meanwhile.
	CostPerHour float64 `json:"cost_per_hour"`
	Currency    string  `json:"currency,omitempty"` // by ISO 4217
	// Options are those that can work with the existing machines, best first.
	Options []RecoveryOption `json:"options"`
	// Soon says what happens next without anyone; "" for nothing.
	Soon string `json:"soon,omitempty"`
}

// FailedStep is a step that failed.
type FailedStep struct {
	Step  string `json:"step"`
	Node  string `json:"node,omitempty"`
	Error string `json:"error"`
}

// RecoveryKind names a way on.
type RecoveryKind string

// The ways on from a failure.
const (
	RecoveryResume        RecoveryKind = "resume"         // continue the operation from where it stopped
	RecoveryRepair        RecoveryKind = "repair"         // replace lost nodes and finish pending steps
	RecoveryRollBack      RecoveryKind = "roll_back"      // undo what the operation has done
	RecoveryReconfigure   RecoveryKind = "reconfigure"    // change the configuration and finish pending steps with it
	RecoveryAcceptPartial RecoveryKind = "accept_partial" // continue with the machines that were created
	RecoveryWake          RecoveryKind = "wake"           // start the machines and services of a cluster that is partly asleep
	RecoveryDelete        RecoveryKind = "delete"         // delete all machines
)

// RecoveryOption is one of them, as it's shown.
type RecoveryOption struct {
	Kind    RecoveryKind `json:"kind"`
	Title   string       `json:"title"`   // of its button: "Repair cluster"
	Text    string       `json:"text"`    // what it does
	Command string       `json:"command"` // that does it: "muster cluster repair shop"
}

// Verb is the way as used in a sentence: "you can repair the cluster".
func (k RecoveryKind) Verb() string {
	switch k {
	case RecoveryResume:
		return "resume it"
	case RecoveryRollBack:
		return "roll it back"
	case RecoveryReconfigure:
		return "change the configuration"
	case RecoveryAcceptPartial:
		return "accept partial result"
	case RecoveryWake:
		return "wake the cluster"
	}
	return string(k) + " the cluster"
}

// Began is the word before the time of Since.
func (t Problem) Began() string {
	if t.Operation == 0 {
		return "Noticed"
	}
	return "Stopped"
}

// offers reports whether a way is among those that lead on.
func (t *Problem) offers(k RecoveryKind) bool {
	return slices.ContainsFunc(t.Options, func(w RecoveryOption) bool { return w.Kind == k })
}

// RepeatedErrors says a long text whole only the first time, since steps that fail together mostly fail for one reason. It's kept for one answer.
type RepeatedErrors map[string]string

// shortText is how long a text may be that is repeated.
const shortText = 60

// Say returns what is said of something: its text, or whose text it repeats.
func (o RepeatedErrors) Say(who, text string) string {
	if len(text) <= shortText {
		return text
	}
	if first, said := o[text]; said {
		return "the same error as " + first
	}
	o[text] = who
	return text
}

// Recovery is what decides which ways lead on from where a cluster is.
type Recovery struct {
	status app.ClusterStatus
	Latest app.Operation     `json:"-"` // that was begun or is to be; zero where there is none
	Undone app.OperationKind `json:"-"` // where that is a rollback: what it undoes
	nodes  int               // that are not gone
	Lost   []string          `json:"-"` // nodes whose machines are gone, without those that are given back
	left   []string          // nodes whose machines are gone and that are given back
	Open   Unfinished        `json:"-"` // what the latest operation has not done, where it did not end well
}

// UndoneKind returns the kind of what a rollback undoes; "" for another operation.
func UndoneKind(ops []app.Operation, o app.Operation) app.OperationKind {
	for _, of := range ops {
		if o.Kind == app.OperationRollBack && of.ID == o.RollsBack {
			return of.Kind
		}
	}
	return ""
}

// MaySleep reports whether machines of a failed cluster may be stopped because it was put to sleep. Operations are newest first.
func MaySleep(ops []app.Operation) bool {
	for _, o := range ops {
		if !o.StartedAt.IsZero() {
			return o.Kind.Power() || UndoneKind(ops, o).Power()
		}
	}
	return false
}

// LostOnly tells that nothing is wrong but that machines are gone.
func (p Recovery) LostOnly() bool {
	return p.Latest.ID == 0 || p.Latest.Status == app.OperationSucceeded
}

// Power tells that machines may be stopped.
func (p Recovery) Power() bool { return p.Latest.Kind.Power() || p.Undone.Power() }

// canRepair reports whether a repair can finish what was left undone.
func (p Recovery) canRepair() bool {
	switch {
	case p.nodes == 0:
		return false
	case p.LostOnly():
		return true
	case p.Latest.Status != app.OperationFailed && p.Latest.Status != app.OperationCancelled || p.Power():
		return false
	case p.Latest.Kind == app.OperationRollBack:
		return p.Undone != app.OperationCreate
	}
	return p.Latest.Kind != app.OperationDelete
}

// reconfigures reports whether what was left undone can be finished with another configuration.
func (p Recovery) reconfigures() bool { return !p.LostOnly() && p.canRepair() }

// partial reports whether nothing is missing but machines, of which some came. Whether the template's constraints hold without the others is
// found when it's asked for.
func (p Recovery) partial() bool {
	if p.Latest.Kind != app.OperationCreate && p.Latest.Kind != app.OperationResize || p.Latest.Status != app.OperationFailed {
		return false
	}
	return !p.Open.Other && p.Open.Machines > 0 && p.Open.Machines < p.nodes
}

// Ways returns the ways on that can work with the existing machines, the best first. Of a cluster that hasn't failed there are none.
func (p Recovery) Ways() (ways []RecoveryKind) {
	if p.status != app.ClusterFailed {
		return nil
	}
	add := func(is bool, w RecoveryKind) {
		if is && !slices.Contains(ways, w) {
			ways = append(ways, w)
		}
	}
	k := p.Latest.Kind
	resumes := p.Latest.Status == app.OperationFailed && !p.Open.Stuck
	undoes := !p.LostOnly() && k.Undoable()
	switch {
	case p.LostOnly():
		add(p.canRepair(), RecoveryRepair)
	case k == app.OperationDelete, p.Undone == app.OperationCreate:
		add(p.Latest.Status == app.OperationFailed, RecoveryResume) // what is gone needn't be given back
	case p.Power():
		add(resumes, RecoveryResume)
		add(k != app.OperationSleep, RecoveryWake)
		add(undoes, RecoveryRollBack)
	case len(p.Lost) > 0, p.Open.Stuck:
		add(p.canRepair(), RecoveryRepair)
		add(p.partial(), RecoveryAcceptPartial)
		add(resumes, RecoveryResume)
		add(undoes, RecoveryRollBack)
		add(p.reconfigures(), RecoveryReconfigure)
	default:
		add(resumes, RecoveryResume)
		add(p.partial(), RecoveryAcceptPartial)
		add(p.Latest.Status == app.OperationCancelled && p.canRepair(), RecoveryRepair)
		add(undoes, RecoveryRollBack)
		add(p.reconfigures(), RecoveryReconfigure)
		add(p.canRepair(), RecoveryRepair)
	}
	return append(ways, RecoveryDelete)
}

// RecoveryOf reads what decides which ways lead on from where a cluster is.
func (a *Views) RecoveryOf(ctx context.Context, c app.Cluster) (p Recovery, err error) {
	v := View{Cluster: c}
	if v.Nodes, err = a.Store.Nodes(ctx, c.Tenant, c.ID); err != nil {
		return p, err
	}
	if v.Operations, err = a.Store.Operations(ctx, c.Tenant, c.ID); err != nil {
		return p, err
	}
	u, err := a.unfinished(ctx, v)
	return NewRecovery(v, u), err
}

// LatestBegun returns the latest operation that has begun or is to: what was called off before has done nothing. Operations are newest first.
func LatestBegun(ops []app.Operation) app.Operation {
	for _, o := range ops {
		if !o.Status.Ended() || !o.StartedAt.IsZero() {
			return o
		}
	}
	return app.Operation{}
}

// LatestLeft is LatestBegun without commands that have ended: whatever they said, they left nothing of the cluster undone.
func LatestLeft(ops []app.Operation) app.Operation {
	return LatestBegun(slices.DeleteFunc(slices.Clone(ops), func(o app.Operation) bool { return o.Kind == app.OperationRun && o.Status.Ended() }))
}

func NewRecovery(v View, open Unfinished) Recovery {
	p := Recovery{status: v.Status, Open: open, Latest: LatestLeft(v.Operations)}
	p.Undone = UndoneKind(v.Operations, p.Latest)
	for _, n := range v.Nodes {
		if n.Status == app.NodeDeleted {
			continue
		}
		p.nodes++
		switch {
		case n.Lost() && n.Leaving:
			p.left = append(p.left, n.Name)
		case n.Lost():
			p.Lost = append(p.Lost, n.Name)
		}
	}
	return p
}

// TroubleOf words what is wrong with a cluster; nil where it hasn't failed. Nodes and operations are its own, newest operation first.
func TroubleOf(v View, d Definition, open Unfinished) *Problem {
	if v.Status != app.ClusterFailed {
		return nil
	}
	t := &Problem{Lost: []string{}, Failures: []FailedStep{}, Options: []RecoveryOption{}}
	p := NewRecovery(v, open)
	for _, n := range v.Nodes {
		if n.Lost() {
			if t.Since.IsZero() || n.LostAt.Before(t.Since) {
				t.Since = n.LostAt
			}
			continue
		}
		if n.Status == app.NodeCreated || n.Status == app.NodeReady {
			t.CostPerHour += d.Hardware[n.Hardware].CostPerHour
		}
	}
	t.Lost = append(t.Lost, p.Lost...)
	if !p.LostOnly() {
		t.Operation, t.Since = p.Latest.ID, p.Latest.EndedAt
		said := RepeatedErrors{}
		for _, s := range open.Failures {
			t.Failures = append(t.Failures, FailedStep{Step: s.ID, Node: s.Node, Error: said.Say(s.ID, s.Error)})
		}
		t.MoreFailures = open.Failed - len(open.Failures)
	}
	t.Text, t.Soon = p.Text(v), p.soon()
	for _, k := range p.Ways() {
		t.Options = append(t.Options, p.way(k, v.Cluster))
	}
	return t
}

// Text say what is wrong.
func (p Recovery) Text(v View) string {
	gone := ""
	switch n := len(p.Lost); {
	case n == 1:
		gone = fmt.Sprintf("The machine of %s is gone.", p.Lost[0])
	case n > 1 && n <= 3:
		gone = fmt.Sprintf("The machines of %s are gone.", humanize.Some(p.Lost, 3))
	case n > 3:
		gone = fmt.Sprintf("The machines of %d of %s are gone.", n, humanize.Count(p.nodes, "node"))
	}
	if p.LostOnly() {
		return cmp.Or(gone, v.Message, "This cluster has a problem.")
	}
	word := "failed"
	if p.Latest.Status == app.OperationCancelled {
		word = "was cancelled"
	}
	words := fmt.Sprintf("%s %s after %d of %s.", humanize.Upper(p.Latest.Kind.The()), word, p.Latest.Done, humanize.Count(p.Latest.Total, "step"))
	if gone != "" {
		words += " " + gone
	}
	return words
}

// soon says what happens next without anyone.
func (p Recovery) soon() string {
	switch o := p.Latest; {
	case p.LostOnly():
		return ""
	case o.Status == app.OperationFailed && o.Kind == app.OperationDelete:
		return "Deletion is retried automatically."
	case o.OnFailure == app.FailureRollBack && o.Kind.Undoable():
		return "It will be rolled back automatically."
	case o.Status == app.OperationFailed && o.OnFailure.GoesOn():
		return "Muster is checking whether it can continue with the machines that were created."
	}
	return ""
}

// way words a way on.
func (p Recovery) way(k RecoveryKind, c app.Cluster) RecoveryOption {
	kind := p.Latest.Kind.The()
	w := RecoveryOption{Kind: k}
	command := func(verb string) string { return "muster cluster " + verb + " " + c.Name }
	switch k {
	case RecoveryResume:
		w.Title, w.Text, w.Command = "Resume operation", "Retries the failed steps and continues from there.", command("resume")
	case RecoveryRepair:
		w.Title, w.Command = "Repair cluster", command("repair")
		switch {
		case len(p.Lost) > 0 && p.LostOnly():
			w.Text = fmt.Sprintf("Replaces %s.", p.LostWords())
		case len(p.Lost) > 0:
			w.Text = fmt.Sprintf("Replaces %s and finishes %s.", p.LostWords(), kind)
		default:
			w.Text = fmt.Sprintf("Replaces machines that weren't set up and finishes %s.", kind)
		}
	case RecoveryRollBack:
		w.Title, w.Text, w.Command = "Roll back operation", "Restores the cluster to how it was before "+kind+".", command("roll-back")
		if p.Latest.Kind == app.OperationCreate {
			w.Text = "Deletes the machines created so far. Nothing of the cluster remains."
		} else if len(p.Lost) > 0 {
			w.Text += fmt.Sprintf(" Skips %s; repair the cluster afterwards to replace it.", p.LostWords())
		}
	case RecoveryReconfigure:
		w.Title, w.Text, w.Command = "Change configuration", "Finishes "+kind+" with a different configuration.", command("set")+" KEY=VALUE"
	case RecoveryAcceptPartial:
		w.Title, w.Text, w.Command = "Accept partial result", "Continues with the machines that were created.", command("accept-partial")
	case RecoveryWake:
		w.Title, w.Text, w.Command = "Wake cluster", "Starts its machines and services.", command("wake")
		if len(p.Lost) > 0 {
			w.Text += fmt.Sprintf(" Skips %s; repair the cluster afterwards to replace it.", p.LostWords())
		}
	case RecoveryDelete:
		w.Title, w.Text, w.Command = "Delete cluster", "Deletes all machines and the data on them.", command("delete")
	}
	return w
}

func (p Recovery) LostWords() string { return NodesInWords(p.Lost) }
