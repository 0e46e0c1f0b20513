package provisioner

import (
	"context"
	"sync"

	"muster/app/execution"
	"muster/app/fleet"
	"muster/jobs"
)

// localWorker is a worker inside this process.
type localWorker struct {
	*jobs.Worker
	done     chan struct{}
	ctx      context.Context // ends when nothing is waited for any more
	end      context.CancelFunc
	draining sync.Once
}

var _ WorkerHandle = (*localWorker)(nil)

// StartLocal starts a worker inside this process, for a Provisioner. It follows the server's word for work where server is not nil.
func StartLocal(c jobs.WorkerConfig, server execution.WorkWaiter) (WorkerHandle, error) {
	w, err := jobs.StartWorker(c)
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(context.Background())
	l := &localWorker{Worker: w, done: make(chan struct{}), ctx: ctx, end: end}
	w.Seek(server)
	context.AfterFunc(ctx, func() { _ = l.Close(); close(l.done) })
	return l, nil
}

func (l *localWorker) Update(o fleet.WorkerOrder) { l.Resize(o.Slots) }

func (l *localWorker) Drain() {
	l.draining.Do(func() {
		go func() {
			_ = l.Worker.Drain(l.ctx)
			l.end()
		}()
	})
}

func (l *localWorker) Stop() { l.end() }

func (l *localWorker) Done() <-chan struct{} { return l.done }
