package metrics

import (
	"io"
	"strings"
	"testing"
	"time"

	"muster/app/observe"
)

// A worker's counts are kept by its parent and outlive it; its levels don't.
func TestWorkersReportToTheirParent(t *testing.T) {
	r, w := io.Pipe()
	m := New(Config{})
	heard := make(chan struct{})
	go func() { defer close(heard); m.Listen(r) }()
	send := NewPipeMeter(w)
	send.Add(observe.MetricSteps, 1, "create", "ok")
	send.ObserveDuration(observe.MetricStepTime, 2*time.Second, "create", "ok")
	send.Add(observe.MetricStepsOpen, 3)
	_ = send.Close()
	_ = send.Close()
	_ = w.Close()
	<-heard
	expect(t, shown(t, m), `muster_steps_total{action="create",code="ok"} 1`, `muster_step_seconds_count{action="create",result="ok"} 1`, `muster_steps_running 0`)
}

// A worker of another version, or one that says nonsense, does no harm.
func FuzzListen(f *testing.F) {
	f.Add(`{"m":"muster_steps_total","n":1,"l":["create","ok"]}` + "\n" + `{"m":"muster_steps_total","n":1,"l":["create"]}`)
	f.Add(`{"m":"muster_new_total","n":1}` + "\n" + `{"m":"muster_steps_running","n":-4}`)
	f.Add(`{"m":"muster_step_seconds","t":-5,"d":true,"l":["\u0000","ok"]}` + "\nno JSON")
	f.Fuzz(func(t *testing.T, text string) {
		m := New(Config{})
		m.Listen(strings.NewReader(text))
		shown(t, m)
	})
}

// No one waits for the other end of a pipe.
func TestPipeMeterNeverBlocks(t *testing.T) {
	r, w := io.Pipe()
	send := NewPipeMeter(w)
	for range 3 * maxPipeLine {
		send.Add(observe.MetricStepsOpen, 1)
	}
	if send.dropped.Load() == 0 {
		t.Error("nothing was dropped without a reader")
	}
	_ = r.Close()
	_ = send.Close()
}
