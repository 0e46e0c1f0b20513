package main

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
)

// What durable steps are compared with: a queue that someone would write who wants nothing but steps that run one after the other on each
// node and are on disk when they are done. There are no claims, no logs, no cancelling, and nothing to look at.

const stepTable = `CREATE TABLE steps (id INTEGER PRIMARY KEY, node INTEGER NOT NULL, number INTEGER NOT NULL, state TEXT NOT NULL, ended_at INTEGER NOT NULL)`

// stepRows writes steps to SQLite, as safely as the ledger: all that wait for it at the same time are in one commit, and get its result.
type stepRows struct {
	db    *sql.DB
	ended chan endedStep
	done  chan error // the writer's, at its end
}

type endedStep struct {
	id      int
	written chan<- error // nil: no one waits
}

// mostAtOnce is how many rows are in one commit.
const mostAtOnce = 1024

// newStepRows makes the table with all steps of so many nodes. Close it.
func newStepRows(ctx context.Context, dir string, nodes int) (w *stepRows, err error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "steps.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = db.Close()
		}
	}()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, stepTable); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	insert, err := tx.PrepareContext(ctx, `INSERT INTO steps VALUES (?, ?, ?, 'waiting', 0)`)
	if err != nil {
		return nil, err
	}
	defer insert.Close()
	for id := range nodes * stepsOfEight {
		if _, err := insert.ExecContext(ctx, id, id/stepsOfEight, id%stepsOfEight); err != nil {
			return nil, err
		}
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	w = &stepRows{db: db, ended: make(chan endedStep, mostAtOnce), done: make(chan error, 1)}
	go func() { w.done <- w.write(ctx) }()
	return w, nil
}

// write takes what has ended until the channel is closed.
func (w *stepRows) write(ctx context.Context) (failed error) {
	update, err := w.db.PrepareContext(ctx, `UPDATE steps SET state = 'done', ended_at = ? WHERE id = ?`)
	if err != nil {
		failed = err
	} else {
		defer update.Close()
	}
	batch := make([]endedStep, 0, mostAtOnce)
	for first := range w.ended {
		batch = append(batch[:0], first)
	more:
		for len(batch) < mostAtOnce {
			select {
			case e, ok := <-w.ended:
				if !ok {
					break more
				}
				batch = append(batch, e)
			default:
				break more
			}
		}
		if failed == nil {
			failed = w.commit(ctx, update, batch)
		}
		for _, e := range batch {
			if e.written != nil {
				e.written <- failed
			}
		}
	}
	return failed
}

func (w *stepRows) commit(ctx context.Context, update *sql.Stmt, batch []endedStep) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	stmt := tx.StmtContext(ctx, update)
	now := time.Now().UnixMicro()
	for _, e := range batch {
		if _, err := stmt.ExecContext(ctx, now, e.id); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// end waits until all is written.
func (w *stepRows) end() error {
	close(w.ended)
	return <-w.done
}

// close checks that all steps are done, if the rest went well.
func (w *stepRows) close(ctx context.Context, steps int, err error) error {
	var n int
	if err == nil {
		if err = w.db.QueryRowContext(ctx, `SELECT count(*) FROM steps WHERE state = 'done'`).Scan(&n); err == nil && n != steps {
			err = fmt.Errorf("%d of %d steps are done", n, steps)
		}
	}
	return errors.Join(err, w.db.Close())
}

// rowsAlone writes what the queue writes without being one: nothing that has a ledger on SQLite can be faster.
func rowsAlone(ctx context.Context, nodes int) (sample, error) {
	dir, err := os.MkdirTemp("", "muster-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var rows *stepRows
	c, err := during(nil, func() (err error) {
		if rows, err = newStepRows(ctx, dir, nodes); err != nil {
			return err
		}
		for id := range nodes * stepsOfEight {
			rows.ended <- endedStep{id: id}
		}
		return rows.end()
	})
	if rows != nil {
		err = rows.close(ctx, nodes*stepsOfEight, err)
	}
	return c.sample(), err
}

// bestQueue measures the queue with few and with many workers, and returns the faster one.
func bestQueue(ctx context.Context, nodes int) (best sample, err error) {
	for _, workers := range []int{64, 512} {
		s, err := queueAlone(ctx, nodes, workers)
		if err != nil {
			return nil, err
		}
		if best == nil || s["wall"] < best["wall"] {
			best = s
		}
	}
	return best, nil
}

// quietLog has asynq say nothing.
type quietLog struct{}

func (quietLog) Debug(...any) {}
func (quietLog) Info(...any)  {}
func (quietLog) Warn(...any)  {}
func (quietLog) Error(...any) {}
func (quietLog) Fatal(...any) {}

// queueAlone measures the queue: a step's task enqueues that of the next step of its node once its row is written.
func queueAlone(ctx context.Context, nodes, workers int) (sample, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dir, err := os.MkdirTemp("", "muster-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	redis, err := startRedis(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer redis.stop()
	const enqueuers = 64
	address := asynq.RedisClientOpt{Network: "unix", Addr: redis.socket, PoolSize: enqueuers}
	client := asynq.NewClient(address)
	defer client.Close()
	enqueue := func(id int) error {
		_, err := client.EnqueueContext(ctx, asynq.NewTask("step", binary.AppendUvarint(nil, uint64(id))), asynq.MaxRetry(0))
		return err
	}
	var (
		rows     *stepRows
		server   *asynq.Server
		left     atomic.Int64
		finished = make(chan struct{})
	)
	left.Store(int64(nodes))
	handle := func(_ context.Context, t *asynq.Task) error {
		id, _ := binary.Uvarint(t.Payload())
		written := make(chan error, 1)
		rows.ended <- endedStep{int(id), written}
		err := <-written
		switch {
		case err != nil:
		case id%stepsOfEight < stepsOfEight-1:
			err = enqueue(int(id) + 1)
		case left.Add(-1) == 0:
			close(finished)
		}
		if err != nil {
			cancel(err)
		}
		return err
	}
	c, err := during(redis, func() (err error) {
		if rows, err = newStepRows(ctx, dir, nodes); err != nil {
			return err
		}
		s := asynq.NewServer(address, asynq.Config{Concurrency: workers, TaskCheckInterval: 10 * time.Millisecond, Logger: quietLog{}})
		if err := s.Start(asynq.HandlerFunc(handle)); err != nil {
			return err
		}
		server = s
		var all sync.WaitGroup
		for first := range enqueuers {
			all.Go(func() {
				for node := first; node < nodes; node += enqueuers {
					if err := enqueue(node * stepsOfEight); err != nil {
						cancel(err)
						return
					}
				}
			})
		}
		all.Wait()
		select {
		case <-finished:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	if server != nil {
		server.Shutdown()
	}
	if rows != nil {
		err = rows.close(ctx, nodes*stepsOfEight, errors.Join(err, rows.end()))
	}
	return c.sample(), err
}
