package jobs

import (
	"context"
	"sync"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/jobs/internal/loop"
)

// batcher sends the requests of all steps of a worker: what many ask for at the same time goes into one message. While a
// message is being sent the next one gathers, so no one waits for company, and a thousand steps cost a few messages.
type batcher struct {
	worker app.WorkerID
	coord  execution.Coordinator
	flush  func() // sends the log lines said so far; their fences hold no longer once the report has arrived

	mu      sync.Mutex
	claims  []chan claimed
	reports []*reporting
	busy    [2]bool // a goroutine is sending claims, reports
	sending sync.WaitGroup
}

// claimed is the answer to one who asked for a step; nil and no error is that there is none.
type claimed struct {
	as  *execution.Assignment
	err error
}

// reporting is a report being sent.
type reporting struct {
	report execution.Report
	answer chan claimed
}

const (
	sendClaims = iota
	sendReports
)

// claim asks for a step. It waits for the answer even when the one who asks would rather leave: a step that is handed
// out must be known to someone.
func (d *batcher) claim() (*execution.Assignment, error) {
	answer := make(chan claimed, 1)
	d.mu.Lock()
	d.claims = append(d.claims, answer)
	d.begin(sendClaims, d.sendClaims)
	d.mu.Unlock()
	c := <-answer
	return c.as, c.err
}

// report ends a step, and returns the node's next one if there is one for us. The server is retried: an outcome
// that does not arrive would be work done twice.
func (d *batcher) report(r execution.Report) (*execution.Assignment, error) {
	g := &reporting{report: r, answer: make(chan claimed, 1)}
	d.mu.Lock()
	d.reports = append(d.reports, g)
	d.begin(sendReports, d.sendReports)
	d.mu.Unlock()
	c := <-g.answer
	return c.as, c.err
}

// begin starts a sender unless one is at work. The lock is held.
func (d *batcher) begin(which int, send func()) {
	if d.busy[which] {
		return
	}
	d.busy[which] = true
	d.sending.Go(send)
}

// close waits for running reports.
func (d *batcher) close() { d.sending.Wait() }

func (d *batcher) sendClaims() {
	for {
		d.mu.Lock()
		n := min(len(d.claims), execution.MaxClaims)
		asking := d.claims[:n:n]
		d.claims = d.claims[n:]
		if n == 0 {
			d.claims, d.busy[sendClaims] = nil, false
			d.mu.Unlock()
			return
		}
		d.mu.Unlock()
		asked := time.Now()
		// The answer may be on its way when the worker is stopped: what it holds is given back, not forgotten.
		ctx, cancel := context.WithTimeout(context.Background(), execution.ClaimFor/2)
		all, err := d.coord.Claim(ctx, d.worker, n)
		cancel()
		for i, to := range asking {
			switch {
			case i < len(all):
				to <- claimed{as: claimedAt(all[i], asked)}
			default:
				to <- claimed{err: err}
			}
		}
	}
}

func (d *batcher) sendReports() {
	for {
		d.mu.Lock()
		n := min(len(d.reports), execution.MaxClaims)
		going := d.reports[:n:n]
		d.reports = d.reports[n:]
		if n == 0 {
			d.reports, d.busy[sendReports] = nil, false
			d.mu.Unlock()
			return
		}
		d.mu.Unlock()
		d.flush()
		d.deliver(going)
	}
}

// deliver sends reports until they have arrived, or the claims have run out.
func (d *batcher) deliver(going []*reporting) {
	reports := make([]execution.Report, len(going))
	for i, g := range going {
		reports[i] = g.report
	}
	ctx, cancel := context.WithTimeout(context.Background(), execution.ClaimFor)
	defer cancel()
	for try := 1; ; try++ {
		asked := time.Now()
		answers, err := d.coord.Report(ctx, d.worker, reports)
		if err == nil && len(answers) == len(going) {
			for i, g := range going {
				g.answer <- claimed{as: claimedAt(answers[i].Next, asked), err: orNil(answers[i].Err)}
			}
			return
		}
		if err == nil {
			err = app.Errorf(app.EInternal, "The server sent %d reports but %d answers.", len(going), len(answers))
		}
		if app.CodeOf(err) != app.ETransient || ctx.Err() != nil {
			for _, g := range going {
				g.answer <- claimed{err: err}
			}
			return
		}
		_ = loop.Pause(ctx, loop.BackOff(50*time.Millisecond, try))
	}
}

// orNil keeps a nil *app.Error from becoming an error that is not nil.
func orNil(e *app.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// claimedAt puts an assignment's deadline into our own clock: the server's may differ, and may be set while we work.
func claimedAt(as *execution.Assignment, asked time.Time) *execution.Assignment {
	if as != nil {
		as.Deadline = asked.Add(execution.ClaimFor)
	}
	return as
}
