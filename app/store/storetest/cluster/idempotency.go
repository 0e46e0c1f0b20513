package cluster

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"muster/app"
)

// once: a key is for one request, whose answer is given again; what was not carried out can be sent again.
func (x *storeTest) once() {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	key := func(name string) app.IdempotencyKey {
		return app.IdempotencyKey{Tenant: "acme", User: "ada", Key: name}
	}
	begin := func(k app.IdempotencyKey, print string, at time.Time) (*app.KeptAnswer, error) {
		return x.Store.BeginOnce(x.Ctx, k, []byte(print), at)
	}
	reason := func(err error, code app.Code, want string) {
		x.Helper()
		if e := app.AsError(err); err == nil || e.Code != code || e.Reason != want {
			x.Errorf("it says %v, and not %s of %s", err, code, want)
		}
	}
	a := key("a")
	if kept, err := begin(a, "one", now); err != nil || kept != nil {
		x.Fatalf("a new key returns %+v, %v", kept, err)
	}
	_, err := begin(a, "one", now.Add(time.Second))
	reason(err, app.EConflict, "in_progress")
	// It read its clock, or another server's that is behind, before the one that got there first.
	_, err = begin(a, "one", now.Add(-time.Second))
	reason(err, app.EConflict, "in_progress")
	_, err = begin(a, "two", now)
	reason(err, app.EInvalid, "idempotency_key")
	for _, other := range []app.IdempotencyKey{{Tenant: "acme", User: "bob", Key: "a"}, {Tenant: "other", User: "ada", Key: "a"}} {
		if kept, err := begin(other, "two", now); err != nil || kept != nil {
			x.Errorf("the key of someone else is theirs: %+v, %v", kept, err)
		}
	}
	answer := app.KeptAnswer{Status: 201, ContentType: "application/json", Body: []byte(`{"id":"c1"}`)}
	x.Must(x.Store.EndOnce(x.Ctx, a, answer))
	if kept, err := begin(a, "one", now.Add(time.Hour)); err != nil || kept == nil || kept.Status != 201 || !bytes.Equal(kept.Body, answer.Body) {
		x.Errorf("the answer is %+v, %v", kept, err)
	}
	x.Must(x.Store.ReleaseOnce(x.Ctx, a)) // there is an answer: it stays
	if kept, _ := begin(a, "one", now); kept == nil {
		x.Error("a released answer is gone")
	}

	// Its server died before anything was written: it is carried out now.
	b := key("b")
	_, err = begin(b, "one", now)
	x.Must(err)
	if kept, err := begin(b, "one", now.Add(app.IdempotencyHold)); err != nil || kept != nil {
		x.Errorf("a key of a server that died returns %+v, %v", kept, err)
	}
	x.Must(x.Store.ReleaseOnce(x.Ctx, b))
	if kept, err := begin(b, "two", now); err != nil || kept != nil {
		x.Errorf("a released key returns %+v, %v", kept, err)
	}
	// It died after something was written, by the transaction that also noted so.
	x.Must(x.Store.SetSecret(app.Once(x.Ctx, b), app.Actor{Tenant: "acme", User: "ada"}, "word", []byte("x"), now))
	x.Must(x.Store.ReleaseOnce(x.Ctx, b))
	_, err = begin(b, "two", now.Add(-time.Second))
	reason(err, app.EConflict, "in_progress")
	for _, later := range []time.Duration{app.IdempotencyHold, -app.IdempotencyHold} { // the latter where a clock was wrong
		_, err = begin(b, "two", now.Add(later))
		reason(err, app.EConflict, "answer_lost")
	}
	// A write that fails notes nothing.
	c := key("c")
	_, err = begin(c, "one", now)
	x.Must(err)
	if err := x.Store.DeleteSecret(app.Once(x.Ctx, c), app.Actor{Tenant: "acme", User: "ada"}, "none", now); app.CodeOf(err) != app.ENotFound {
		x.Errorf("deleting nothing says %v", err)
	}
	if kept, err := begin(c, "one", now.Add(app.IdempotencyHold)); err != nil || kept != nil {
		x.Errorf("after a write that failed: %+v, %v", kept, err)
	}

	// Of many at once, one continues.
	var went atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if kept, err := begin(key("d"), "one", now); err == nil && kept == nil {
				went.Add(1)
			}
		})
	}
	all.Wait()
	if went.Load() != 1 {
		x.Errorf("%d of 20 continued", went.Load())
	}

	// They are forgotten after a while.
	n, err := x.Store.DropAnswers(x.Ctx, now)
	x.Must(err)
	if n != 0 {
		x.Errorf("%d young keys are forgotten", n)
	}
	if n, err = x.Store.DropAnswers(x.Ctx, now.Add(time.Minute)); err != nil || n != 5 { // a, those of two others, b, d; c was begun again later
		x.Errorf("%d keys are forgotten: %v", n, err)
	}
	if kept, err := begin(a, "three", now); err != nil || kept != nil {
		x.Errorf("a forgotten key returns %+v, %v", kept, err)
	}
}
