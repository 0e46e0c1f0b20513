package openstack

import (
	"context"
	"time"
)

// Pace is how often something is looked at that takes its time.
type Pace struct {
	First, Most time.Duration // the first pause, and the longest
	Patience    time.Duration // when to stop looking and take things as they are
	Late        time.Duration // how long lists may lack a server that was made
}

// Usual suits clouds that build a server in half a minute. Nova shows a server by the time that its call is answered, but several API servers may read from
// databases that follow each other, and a call that a proxy gave up on may still be carried out; how long that takes no one says.
var Usual = Pace{First: 500 * time.Millisecond, Most: 4 * time.Second, Patience: 4 * time.Minute, Late: 5 * time.Second}

// Until looks again and again until something is done. It returns false where patience ends first.
func (p Pace) Until(ctx context.Context, look func() (done bool, err error)) (bool, error) {
	pause, end := p.First, time.Now().Add(p.Patience)
	for {
		done, err := look()
		if done || err != nil {
			return done, err
		}
		if time.Now().Add(pause).After(end) {
			return false, nil
		}
		if err := p.sleep(ctx, pause); err != nil {
			return false, err
		}
		pause = min(pause*3/2, p.Most)
	}
}

// Once waits for the first pause.
func (p Pace) Once(ctx context.Context) error { return p.sleep(ctx, p.First) }

func (p Pace) sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func now() time.Time { return time.Now() }

// Turns lets those who want the same thing wait for each other.
type Turns struct{ held chan map[string]*turn }

type turn struct {
	free    chan struct{}
	waiting int
}

// NewTurns begins with no one in turn.
func NewTurns() *Turns {
	t := &Turns{held: make(chan map[string]*turn, 1)}
	t.held <- map[string]*turn{}
	return t
}

// Take waits for the turn on a name, and returns what ends it.
func (t *Turns) Take(ctx context.Context, name string) (done func(), err error) {
	all := <-t.held
	one := all[name]
	if one == nil {
		one = &turn{free: make(chan struct{}, 1)}
		all[name] = one
	}
	one.waiting++
	t.held <- all
	leave := func() {
		all := <-t.held
		if one.waiting--; one.waiting == 0 {
			delete(all, name)
		}
		t.held <- all
	}
	select {
	case one.free <- struct{}{}:
		return func() { <-one.free; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
