package execution

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/app"
)

var noon = time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)

func TestWhyAStepWaits(t *testing.T) {
	db := app.Step{Index: 3, ID: "n3.db.start", Node: "n3", State: app.StepRunning}
	failed := app.Step{Index: 4, ID: "n4.db.start", Node: "n4", State: app.StepFailed}
	for _, tt := range []struct {
		name   string
		step   app.Step
		facts  func(*waitFacts)
		rows   WaitingRows
		reason WaitReason
		says   string
	}{
		{"other steps", app.Step{Index: 9, State: app.StepWaiting}, nil, WaitingRows{Needs: map[int][]app.Step{9: {failed, db}}},
			WaitSteps, "Waits for n4.db.start, which has failed; n3.db.start, which is running."},
		{"its node", app.Step{Index: 9, Node: "n3", State: app.StepReady}, nil, WaitingRows{Busy: map[string]app.Step{"n3": db}},
			WaitNode, "n3 is busy with n3.db.start, which is running."},
		{"a back-off", app.Step{Index: 9, State: app.StepReady, NotBefore: noon.Add(12 * time.Second), ErrorCode: app.EScript, Error: "exit code 3", Tries: 2}, nil, WaitingRows{},
			WaitBackOff, "Retrying in 12 s, because its action failed (attempt 2 of 3): exit code 3"},
		{"an empty rate budget", app.Step{Index: 9, State: app.StepReady, NotBefore: noon.Add(14 * time.Second), ErrorCode: app.ERateLimit},
			func(f *waitFacts) { f.budget = 3 * time.Second }, WaitingRows{}, WaitBudget, "Retrying in 14 s, because the rate limit of account ocean is used up."},
		{"its turn", app.Step{Index: 9, State: app.StepQueued}, nil, WaitingRows{Place: map[int]int{9: 4}}, WaitTurn, "4 steps ahead in the queue."},
		{"no turn", app.Step{Index: 9, State: app.StepQueued}, nil, WaitingRows{}, WaitTurn, "Next in the queue."},
		{"busy slots", app.Step{Index: 9, State: app.StepQueued}, func(f *waitFacts) {
			f.workers = &WorkerCount{Workers: 1, Slots: 16}
			f.lines = []QueueLine{{Operation: 7, Status: app.OperationRunning, Running: 16, Queued: 40}}
		}, WaitingRows{Place: map[int]int{9: 12}}, WaitSlots, "All of the tenant's slots are busy (16 of 16). 12 steps ahead in the queue."},
		{"a free slot", app.Step{Index: 9, State: app.StepQueued}, func(f *waitFacts) {
			f.workers = &WorkerCount{Workers: 1, Slots: 16}
		}, WaitingRows{}, WaitTurn, "Next in the queue."},
		{"no worker", app.Step{Index: 9, State: app.StepQueued}, func(f *waitFacts) { f.workers = &WorkerCount{} }, WaitingRows{}, WaitWorkers, "No worker is connected."},
		{"no fitting worker", app.Step{Index: 9, State: app.StepQueued}, func(f *waitFacts) { f.workers = &WorkerCount{Lacks: "none has region=eu."} }, WaitingRows{},
			WaitWorkers, "No suitable worker: none has region=eu."},
		{"a pause", app.Step{Index: 9, State: app.StepReady}, func(f *waitFacts) { f.op.Status, f.op.Message = app.OperationPaused, "Paused by ada." }, WaitingRows{},
			WaitPaused, "Paused by ada. Resume it to continue."},
		{"the operation before", app.Step{Index: 9, State: app.StepWaiting}, func(f *waitFacts) {
			f.op.Status, f.before = app.OperationWaiting, &app.Operation{Kind: app.OperationCreate, Status: app.OperationCancelling}
		}, WaitingRows{}, WaitOperation, "Waiting for creation, which is being cancelled."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := &waitFacts{now: noon, account: "ocean", op: app.Operation{ID: 7, Kind: app.OperationDelete, Status: app.OperationRunning},
				tries: func(app.Code) int { return 3 }}
			if tt.facts != nil {
				tt.facts(f)
			}
			if got := f.why(tt.step, tt.rows); got.Reason != tt.reason || !strings.Contains(got.Text, tt.says) {
				t.Errorf("it waits for %s: %q\nwant %s: %q", got.Reason, got.Text, tt.reason, tt.says)
			}
		})
	}
}

// TestPositionIsTheOrderOfClaims claims all that is queued, by the rule of the ledger, and compares.
func TestPositionIsTheOrderOfClaims(t *testing.T) {
	lines := []QueueLine{
		{Operation: 1, Status: app.OperationRunning, Running: 3, Queued: 5, Turn: 80},
		{Operation: 2, Status: app.OperationRunning, Running: 0, Queued: 4, Turn: 8},
		{Operation: 3, Status: app.OperationPaused, Running: 0, Queued: 9},
		{Operation: 4, Status: app.OperationRunning, Running: 3, Queued: 2, Turn: 0},
		{Operation: 5, Status: app.OperationRunning, Running: 1, Queued: 6, Turn: 8},
	}
	want := map[string]int{}
	left := append([]QueueLine(nil), lines...)
	taken := map[int64]int{}
	for place := 1; ; place++ {
		best := -1
		for i, l := range left {
			if l.Status != app.OperationRunning || l.Queued == 0 {
				continue
			}
			if b := best; b < 0 || l.Running < left[b].Running || l.Running == left[b].Running &&
				(l.Turn < left[b].Turn || l.Turn == left[b].Turn && l.Operation < left[b].Operation) {
				best = i
			}
		}
		if best < 0 {
			break
		}
		l := &left[best]
		want[fmt.Sprint(l.Operation, taken[l.Operation])] = place
		taken[l.Operation]++
		l.Running, l.Queued = l.Running+1, l.Queued-1
	}
	if len(want) != 17 {
		t.Fatalf("%d steps were claimed", len(want))
	}
	for _, l := range lines {
		f := &waitFacts{op: app.Operation{ID: l.Operation}, lines: lines}
		for k := range l.Queued {
			if l.Status != app.OperationRunning {
				continue
			}
			if got := f.position(k); got != want[fmt.Sprint(l.Operation, k)] {
				t.Errorf("step %d of operation %d shows place %d, and is taken in place %d", k, l.Operation, got, want[fmt.Sprint(l.Operation, k)])
			}
		}
	}
}

func TestQueueShowsWhatWaitsAndWhy(t *testing.T) {
	f := &waitFacts{now: noon, workers: &WorkerCount{Workers: 1, Slots: 4}}
	rows := QueueRows{
		Lines: []QueueLine{
			{Operation: 1, Cluster: "a", Kind: app.OperationCreate, Status: app.OperationRunning, Running: 4, Queued: 3, Ready: 2, Waiting: 10, CreatedAt: noon.Add(-time.Hour)},
			{Operation: 2, Cluster: "b", Kind: app.OperationCreate, Status: app.OperationRunning, Queued: 5, CreatedAt: noon.Add(-time.Minute)},
			{Operation: 3, Cluster: "c", Kind: app.OperationCreate, Status: app.OperationPaused, Ready: 1, Waiting: 6, CreatedAt: noon},
			{Operation: 4, Cluster: "c", Kind: app.OperationDelete, Status: app.OperationWaiting, Waiting: 2, CreatedAt: noon},
		},
		BackOffs: []WaitingCount{{Code: app.ECapacity, Until: noon.Add(30 * time.Second), Last: noon.Add(3 * time.Minute), Count: 1}},
		Asked:    1,
	}
	f.lines = rows.Lines
	q := f.queue("t", rows)
	var got []string
	for _, g := range q.Groups {
		got = append(got, fmt.Sprintf("%d %s %s", g.Count, g.Reason, g.Text))
	}
	want := []string{
		"10 steps Waiting for other steps of the plan.",
		"8 slots All of the tenant's slots are busy (4 of 4).",
		"7 paused Operation paused.",
		"2 operation Waiting for another operation on the cluster.",
		"1 back_off First retry in 30 s, last in 3 min, because the provider had no capacity.",
		"1 person Waiting for an answer to a manual step.",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("groups:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !q.Groups[1].Oldest.Equal(noon.Add(-time.Hour)) {
		t.Errorf("the oldest of the queued ones is of %s", q.Groups[1].Oldest)
	}
	if want := "4 operations in progress, 4 steps running on 4 slots, 8 queued."; q.Text != want {
		t.Errorf("sentence: %q, want %q", q.Text, want)
	}
	for i, want := range []string{"", "All of the tenant's slots are busy (4 of 4).", "Paused.", "Waiting for creation, which is paused."} {
		if q.Operations[i].Text != want {
			t.Errorf("operation %d: %q, want %q", i+1, q.Operations[i].Text, want)
		}
	}
	if empty := (&waitFacts{}).queue("t", QueueRows{}); empty.Slots != -1 || empty.Text != "No operations in progress or queued." {
		t.Errorf("an empty queue: %+v", empty)
	}
}

func TestSameWaitsAreOneGroup(t *testing.T) {
	f := &waitFacts{now: noon, op: app.Operation{ID: 7, Kind: app.OperationCreate, Status: app.OperationRunning}}
	db := app.Step{ID: "n1.db.start", State: app.StepRunning}
	var rows WaitingRows
	rows.Needs = map[int][]app.Step{1: {db}, 2: {db}}
	rows.Groups = []WaitingCount{
		{State: app.StepWaiting, Action: app.ActionStart, Service: "app", Count: 9999},
		{State: app.StepWaiting, Action: app.ActionInitialize, Service: "app", Count: 3},
		{State: app.StepQueued, Action: app.ActionCreate, Count: 5},
		{State: app.StepQueued, Action: app.ActionConfirm, Count: 4},
	}
	rows.Example = []app.Step{{Index: 1, State: app.StepWaiting}, {Index: 2, State: app.StepWaiting}, {Index: 5, State: app.StepQueued}, {Index: 6, State: app.StepQueued}}
	var w Waiting
	f.explain(&w, rows)
	var got []string
	for _, g := range w.Groups {
		got = append(got, fmt.Sprint(g.Count, " ", g.Text))
	}
	want := "9999 app.start: waits for n1.db.start, which is running.|9 Queued, about to start.|3 app.initialize: waits for n1.db.start, which is running."
	if strings.Join(got, "|") != want || w.Total != 10011 {
		t.Errorf("%d in groups %q\nwant %q", w.Total, strings.Join(got, "|"), want)
	}
}
