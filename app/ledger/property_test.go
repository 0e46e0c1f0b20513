package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/ledger"
	"muster/app/ledger/ledgertest"
	appplan "muster/app/plan"
	"muster/app/template"
	"pgregory.net/rapid"
)

// Whatever workers, clocks and people do in whatever order, what the package promises holds, and everything comes to an end.
func TestLedgerInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(map[string]func(*rapid.T){
			"":         w.check,
			"submit":   w.submit,
			"claim":    w.claim,
			"finish":   w.finish,
			"wait":     w.wait,
			"set back": w.setBack,
			"answer":   w.answer,
			"cancel":   func(t *rapid.T) { w.control(t, app.ControlCancel, "") },
			"pause":    func(t *rapid.T) { w.control(t, app.ControlPause, "") },
			"resume":   func(t *rapid.T) { w.control(t, app.ControlResume, "") },
			"retry": func(t *rapid.T) {
				w.control(t, app.ControlResume, app.NodeName(rapid.IntRange(1, nodes).Draw(t, "node")))
			},
		})
		w.comesToAnEnd(t)
	})
}

const (
	nodes    = 3
	clusters = 2
	tenants  = 2
)

// world is a ledger with all who use it.
type world struct {
	book   *ledgertest.Book
	now    time.Time
	held   []app.Fence // what workers believe to hold, rightly or not
	fences map[app.Fence]bool
	epochs map[ledger.Node]int64
	needs  map[ledger.Key][]int
	final  map[ledger.Key]app.StepState
	asked  []app.Fence // every attempt that a person was asked for
}

func newWorld(t *rapid.T) *world {
	w := &world{book: ledgertest.NewBook(), now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), fences: map[app.Fence]bool{},
		epochs: map[ledger.Node]int64{}, needs: map[ledger.Key][]int{}, final: map[ledger.Key]app.StepState{}}
	w.submit(t)
	return w
}

// plan draws a graph of steps, some of which are joins.
func plan(t *rapid.T) appplan.Plan {
	p := appplan.Plan{Kind: rapid.SampledFrom([]app.OperationKind{app.OperationCreate, app.OperationDelete}).Draw(t, "kind"),
		ManualSteps: map[string]*template.Person{}}
	for i := range rapid.IntRange(0, 10).Draw(t, "steps") {
		s := appplan.Step{ID: fmt.Sprint("s", i), Rank: time.Duration(rapid.IntRange(0, 3).Draw(t, "rank")) * time.Second}
		if s.Join = rapid.IntRange(0, 4).Draw(t, "join") == 0; !s.Join {
			s.Node, s.Action = app.NodeName(rapid.IntRange(1, nodes).Draw(t, "node")), app.ActionStart
			if rapid.IntRange(0, 4).Draw(t, "person") == 0 {
				s.Asks = fmt.Sprint("q", i)
				p.ManualSteps[s.Asks] = &template.Person{Timeout: time.Duration(rapid.IntRange(1, 60).Draw(t, "hours")) * time.Hour,
					OnTimeout: rapid.SampledFrom(template.AnswerChoices).Draw(t, "on time-out")}
			}
		}
		for n := range i {
			if rapid.IntRange(0, 3).Draw(t, "needs") == 0 {
				s.Needs = append(s.Needs, n)
			}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func (w *world) submit(t *rapid.T) {
	if len(w.book.Operations) > 8 {
		return
	}
	p, c := plan(t), rapid.IntRange(1, clusters).Draw(t, "cluster")
	id := w.book.Submit(app.Operation{Tenant: fmt.Sprint("t", c%tenants), Cluster: fmt.Sprint("c", c), Kind: p.Kind, Requester: "ada", CreatedAt: w.now},
		p, p.Kind == app.OperationDelete)
	for i, s := range p.Steps {
		w.needs[ledger.Key{Operation: id, Index: i}] = s.Needs
	}
}

func worker(t *rapid.T, f *app.Fence, b *ledgertest.Book) app.WorkerID {
	if f != nil {
		k := ledger.Key{Operation: f.Operation, Index: f.Index}
		if st := b.Of[k]; st.Worker != "" {
			return app.WorkerID{Tenant: b.Operations[f.Operation].Tenant, Name: st.Worker}
		}
	}
	return app.WorkerID{Tenant: fmt.Sprint("t", rapid.IntRange(0, tenants-1).Draw(t, "tenant")), Name: fmt.Sprint("w", rapid.IntRange(0, 2).Draw(t, "worker"))}
}

func (w *world) claim(t *rapid.T) {
	id := worker(t, nil, w.book)
	for _, st := range w.book.Claim(id, w.now, execution.ClaimFor, rapid.IntRange(1, 4).Draw(t, "most")) {
		w.took(t, st)
	}
}

// took checks a claim against all that were before it.
func (w *world) took(t *rapid.T, st *ledger.Step) {
	f := app.Fence{Operation: st.Operation, Index: st.Index, Attempt: st.Attempt}
	n := ledger.Node{Cluster: w.book.Operations[st.Operation].Cluster, Name: st.Node}
	if st.Epoch < w.epochs[n] || st.Epoch == w.epochs[n] && !w.fences[f] {
		t.Fatalf("a claim of %v has epoch %d after %d", n, st.Epoch, w.epochs[n])
	}
	if w.epochs[n] = st.Epoch; w.fences[f] {
		return // handed out again
	}
	w.fences[f] = true
	w.held = append(w.held, f)
	if status := w.book.Operations[st.Operation].Status; status != app.OperationRunning {
		t.Fatalf("step %d was handed out of an operation that is %s", st.Index, status)
	}
}

func (w *world) finish(t *rapid.T) {
	if len(w.held) == 0 {
		return
	}
	first := rapid.SampledFrom(w.held).Draw(t, "fence")
	id := worker(t, &first, w.book)
	var fs []execution.Finish
	for _, f := range append([]app.Fence{first}, w.held...) {
		if len(fs) > 0 && rapid.IntRange(0, 2).Draw(t, "too") > 0 {
			continue
		}
		end := execution.Finish{Fence: f, Now: w.now}
		switch rapid.IntRange(0, 4).Draw(t, "outcome") {
		case 0:
			end.Err = &app.Error{Code: app.EScript, Message: "it broke"}
		case 1:
			end.Err, end.Retry = &app.Error{Code: app.ETransient, Message: "busy"}, app.Retry{Again: true, After: time.Duration(rapid.IntRange(0, 9000).Draw(t, "after")) * time.Second}
		}
		if rapid.Bool().Draw(t, "chain") {
			end.ClaimFor = execution.ClaimFor
		}
		fs = append(fs, end)
	}
	running := map[app.Fence]bool{}
	for _, f := range fs {
		running[f.Fence] = w.runs(f.Fence, id)
	}
	handed, stale := w.book.Finish(id, w.now, fs)
	for i, f := range fs {
		if handed[i] != nil {
			w.took(t, handed[i])
		}
		if running[f.Fence] && stale[i] {
			t.Fatalf("the fence %+v held and was refused", f.Fence)
		}
		if !running[f.Fence] && !stale[i] && handed[i] == nil {
			t.Fatalf("the fence %+v did not hold and was taken", f.Fence)
		}
		running[f.Fence] = false // the same one again is stale
	}
}

func (w *world) runs(f app.Fence, id app.WorkerID) bool {
	st, o := w.book.Of[ledger.Key{Operation: f.Operation, Index: f.Index}], w.book.Operations[f.Operation]
	return st.State == app.StepRunning && st.Attempt == f.Attempt && st.Worker == id.Name && o.Tenant == id.Tenant
}

// answer says something to what is, or was, asked. The first answer of an attempt counts, and no other.
func (w *world) answer(t *rapid.T) {
	if len(w.asked) == 0 {
		return
	}
	f := rapid.SampledFrom(w.asked).Draw(t, "question")
	st := w.book.Of[ledger.Key{Operation: f.Operation, Index: f.Index}]
	refused := ""
	if rapid.IntRange(0, 2).Draw(t, "refuse") == 0 {
		refused = "ada refused: no"
	}
	took := w.book.Answer(f, refused, w.now)
	if open := st.State == app.StepAsked && st.Attempt == f.Attempt; took != open {
		t.Fatalf("an answer to %+v, which is %s at attempt %d: taken %t", f, st.State, st.Attempt, took)
	}
	if st = w.book.Of[st.Key()]; took && (refused == "") != (st.State == app.StepSucceeded) {
		t.Fatalf("an answer (refused: %t) made step %d %s", refused != "", st.Index, st.State)
	}
	if w.book.Answer(f, "", w.now) {
		t.Fatalf("the second answer to %+v was taken", f)
	}
}

func (w *world) wait(t *rapid.T) {
	w.now = w.now.Add(time.Duration(rapid.IntRange(1, 4000).Draw(t, "seconds")) * time.Second)
	w.book.Sweep(w.now)
}

func (w *world) setBack(t *rapid.T) {
	w.now = w.now.Add(-time.Duration(rapid.IntRange(1, 48).Draw(t, "hours")) * time.Hour)
	w.book.Sweep(w.now)
}

func (w *world) control(t *rapid.T, act app.ControlAct, node string) {
	ids := w.ids()
	c := app.Control{Operation: rapid.SampledFrom(ids).Draw(t, "operation"), Act: act, Node: node, Who: "ada", Now: w.now}
	was := w.book.Operations[c.Operation].Status
	err := w.book.Control(c)
	if err != nil && app.CodeOf(err) != app.EConflict {
		t.Fatalf("%s of an operation that is %s: %v", act, was, err)
	}
	live := was == app.OperationWaiting || was == app.OperationRunning || was == app.OperationPaused
	if act == app.ControlCancel && (err == nil) != live {
		t.Fatalf("cancelling what is %s: %v", was, err)
	}
	if act == app.ControlPause && (err == nil) != (was == app.OperationRunning) {
		t.Fatalf("pausing what is %s: %v", was, err)
	}
	if act == app.ControlResume && node == "" && was == app.OperationPaused && err != nil {
		t.Fatalf("a paused operation is not resumed: %v", err)
	}
}

func (w *world) ids() []int64 {
	var ids []int64
	for id := range w.book.Operations {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// check looks at everything that must always hold.
func (w *world) check(t *rapid.T) {
	busy := map[ledger.Node]ledger.Key{}
	underWay := map[string]int64{}
	for _, id := range w.ids() {
		o := w.book.Operations[id]
		steps := w.book.StepsOf(id)
		if got, want := o.Counts(), ledger.Count(steps); got != want {
			t.Fatalf("operation %d counts %+v, its steps are %+v", id, got, want)
		}
		if !o.Status.Ended() {
			if other, two := underWay[o.Cluster]; two && o.Status != app.OperationWaiting {
				t.Fatalf("operations %d and %d of %s are both running", other, id, o.Cluster)
			} else if !two && o.Status == app.OperationWaiting {
				t.Fatalf("operation %d waits for nothing", id)
			}
			underWay[o.Cluster] = id
			if o.Status != app.OperationWaiting && o.Active == 0 {
				t.Fatalf("operation %d is %s and nothing of it is active", id, o.Status)
			}
		} else if o.Active > 0 {
			t.Fatalf("operation %d is %s and %d steps are active", id, o.Status, o.Active)
		}
		if o.Status != app.OperationSucceeded && ledger.OperationWaitsFor(&o).For == "" {
			t.Fatalf("operation %d is %s and waits for nothing", id, o.Status)
		}
		for _, st := range steps {
			w.checkStep(t, &o, st)
			if n := (ledger.Node{Cluster: o.Cluster, Name: st.Node}); ledger.OnNode(st.State) {
				if other, two := busy[n]; two {
					t.Fatalf("%v and %v are both on %v", other, st.Key(), n)
				}
				busy[n] = st.Key()
			}
		}
	}
	for _, id := range w.ids() {
		o := w.book.Operations[id]
		for _, st := range w.book.StepsOf(id) {
			if _, taken := busy[ledger.Node{Cluster: o.Cluster, Name: st.Node}]; st.State == app.StepReady && st.NotBefore.IsZero() &&
				o.Status == app.OperationRunning && (!taken || st.AskFor > 0) {
				t.Fatalf("step %d of operation %d is ready, its node is idle or it is a person's, and no one takes it", st.Index, id)
			}
		}
	}
}

func (w *world) checkStep(t *rapid.T, o *ledger.Operation, st ledger.Step) {
	left := 0
	for _, n := range w.needs[st.Key()] {
		if w.book.Of[ledger.Key{Operation: o.ID, Index: n}].State != app.StepSucceeded {
			left++
		}
	}
	if st.NeedsLeft != left {
		t.Fatalf("step %d of operation %d counts %d needs, %d are left", st.Index, o.ID, st.NeedsLeft, left)
	}
	switch st.State {
	case app.StepReady, app.StepQueued, app.StepRunning, app.StepSucceeded, app.StepFailed:
		if left > 0 {
			t.Fatalf("step %d of operation %d is %s before %d of its needs", st.Index, o.ID, st.State, left)
		}
	}
	if st.Join && (ledger.Live(st.State) || st.State == app.StepFailed) {
		t.Fatalf("the join %d of operation %d is %s", st.Index, o.ID, st.State)
	}
	if was := w.final[st.Key()]; was != "" && was != st.State {
		t.Fatalf("step %d of operation %d was %s and is %s", st.Index, o.ID, was, st.State)
	}
	if st.State == app.StepSucceeded || st.State == app.StepDropped {
		w.final[st.Key()] = st.State
	}
	if st.AskFor > 0 && ledger.OnNode(st.State) {
		t.Fatalf("step %d of operation %d is a person's, and is %s", st.Index, o.ID, st.State)
	}
	if f := (app.Fence{Operation: st.Operation, Index: st.Index, Attempt: st.Attempt}); st.State == app.StepAsked {
		if st.AskFor == 0 || o.Status != app.OperationRunning || st.Worker != "" {
			t.Fatalf("step %d of operation %d, which is %s, is asked: %+v", st.Index, o.ID, o.Status, st)
		}
		if !slices.Contains(w.asked, f) {
			w.asked = append(w.asked, f)
		}
	}
	if st.State == app.StepQueued && o.Status != app.OperationRunning {
		t.Fatalf("step %d is queued, and operation %d is %s", st.Index, o.ID, o.Status)
	}
	wait := ledger.StepWaitsFor(o, &st)
	switch {
	case st.State.Ended() || o.Status.Ended():
	case wait.For == "":
		t.Fatalf("step %d of operation %d is %s and waits for nothing", st.Index, o.ID, st.State)
	case st.State == app.StepRunning && (wait.Until.IsZero() || wait.Until.After(w.now.Add(ledger.FarFuture))):
		t.Fatalf("step %d of operation %d runs until %s, and it is %s", st.Index, o.ID, wait.Until, w.now)
	case st.State == app.StepAsked && (wait.Until.IsZero() || wait.Until.After(w.now.Add(st.AskFor+ledger.FarFuture))):
		t.Fatalf("step %d of operation %d is asked until %s, and it is %s", st.Index, o.ID, wait.Until, w.now)
	}
}

// comesToAnEnd lets workers do all there is to do, and people resume what has stopped: then everything ends well, or was
// cancelled.
func (w *world) comesToAnEnd(t *rapid.T) {
	for round := 0; ; round++ {
		if round > 200 {
			t.Fatal("it does not come to an end")
		}
		w.now = w.now.Add(2 * ledger.FarFuture)
		w.book.Sweep(w.now)
		going := false
		for _, id := range w.ids() {
			switch o := w.book.Operations[id]; o.Status {
			case app.OperationPaused, app.OperationFailed:
				err := w.book.Control(app.Control{Operation: id, Act: app.ControlResume, Who: "ada", Now: w.now})
				if err != nil && (o.Status == app.OperationPaused || id == w.latest(o.Cluster)) {
					t.Fatalf("operation %d is %s and cannot be resumed: %v", id, o.Status, err)
				}
				going = going || err == nil
			}
			going = going || !w.book.Operations[id].Status.Ended()
		}
		w.check(t)
		for _, f := range w.asked {
			w.book.Answer(f, "", w.now)
		}
		for i := range tenants {
			id := app.WorkerID{Tenant: fmt.Sprint("t", i), Name: "last"}
			for _, st := range w.book.Claim(id, w.now, execution.ClaimFor, 50) {
				w.took(t, st)
				w.book.Finish(id, w.now, []execution.Finish{{Now: w.now, Fence: app.Fence{Operation: st.Operation, Index: st.Index, Attempt: st.Attempt}}})
			}
		}
		w.check(t)
		if !going {
			break
		}
	}
}

// latest returns a cluster's last operation that was ever begun.
func (w *world) latest(cluster string) (latest int64) {
	for _, id := range w.ids() {
		if o := w.book.Operations[id]; o.Cluster == cluster && !o.StartedAt.IsZero() {
			latest = id
		}
	}
	return latest
}
