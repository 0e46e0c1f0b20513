//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"muster/app"
)

// harness is one run: Muster, the world around it, the people who use it, and the one who breaks it.
type harness struct {
	options
	dir    string
	out    *reporter
	world  world
	fake   *fakeWorld // nil on other nodes
	disk   *smallDisk // nil where there can be none
	system *system
	client *client
	book   *book
	tally  tally
	users  []*user
	faults map[string]int
	round  int
	late   bool // a machine may come yet
	clocks wrongClocks

	mu      sync.Mutex
	kept    [][2]string // name and id of clusters to be given back with the next batch
	missing map[string]bool
}

func newHarness(ctx context.Context, o options, dir string, w io.Writer) (h *harness, err error) {
	h = &harness{options: o, dir: dir, book: newBook(), tally: newTally(), faults: map[string]int{}, missing: map[string]bool{}}
	if h.out, err = newReporter(w, filepath.Join(dir, "timeline.log")); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	switch o.nodes {
	case "fake":
		if h.fake, err = newFakeWorld(dir); err != nil {
			return h, err
		}
		h.world = h.fake
	case "sandbox":
		if h.world, err = newSandboxWorld(dir, data); err != nil {
			return h, err
		}
	}
	h.title()
	var why error
	if o.topology != "one" {
		why = errors.New("the data is in PostgreSQL")
	} else {
		h.disk, why = mountDisk(data)
	}
	if why != nil {
		h.out.note("skipped: a full disk (" + why.Error() + ")")
	}
	yaml, image, effects := h.world.provider()
	catalog := filepath.Join(dir, "catalog")
	if err := writeCatalog(catalog, yaml, image, effects, h.failFile(), o.seed); err != nil {
		return h, err
	}
	env := append(h.world.env(), "GORACE=halt_on_error=0", "GOTRACEBACK=all")
	h.system, err = topologies[o.topology](setup{binary: o.binary, dir: dir, catalog: catalog, env: env, died: h.died})
	if err != nil {
		return h, err
	}
	h.client = newClient(h.system.clients)
	if err := h.system.start(ctx); err != nil {
		return h, err
	}
	if err := h.client.learn(ctx); err != nil {
		return h, err
	}
	for i := range o.users {
		h.users = append(h.users, &user{h: h, name: fmt.Sprintf("u%d", i+1), rand: rand.New(rand.NewPCG(o.seed, uint64(i+1)))})
	}
	return h, nil
}

func (h *harness) title() {
	what := "a fake cloud whose machines are SSH servers of this process"
	if t, ok := h.world.(interface{ title() string }); ok {
		what = t.title()
	}
	h.out.say("chaos: seed %d, %s, on %s", h.seed, count(h.rounds, "round"), what)
	again := fmt.Sprintf("ROUNDS=%d", h.rounds)
	switch {
	case h.topology == "many":
		again = fmt.Sprintf("ROUNDS=0 MANY_ROUNDS=%d", h.rounds)
	case h.nodes == "sandbox":
		again = fmt.Sprintf("ROUNDS=0 SANDBOX_ROUNDS=%d", h.rounds)
	}
	h.out.say("repeat: make chaos SEED=%d %s", h.seed, again)
}

// run makes all rounds, in batches, and reports whether nothing was lost.
func (h *harness) run(ctx context.Context) (bool, error) {
	began := time.Now()
	for h.round < h.rounds && (h.keepGoing || len(h.book.found()) == 0) {
		if err := h.batchOf(ctx, min(h.batch, h.rounds-h.round)); err != nil {
			h.out.say("round %d: %v", h.round, err)
			h.autopsy(ctx)
			return false, err
		}
	}
	if err := h.system.stop(); err != nil {
		h.book.blame(crashed, err.Error())
	}
	h.readLogs()
	wrongs := h.book.found()
	h.summary(time.Since(began), wrongs)
	return len(wrongs) == 0, ctx.Err()
}

// batchOf lets people work while so many faults happen, waits for quiet, and counts.
func (h *harness) batchOf(ctx context.Context, rounds int) error {
	stop := make(chan struct{})
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	var people sync.WaitGroup
	for _, u := range h.users {
		people.Go(func() { u.live(working, stop) })
	}
	kept := h.takeKept()
	people.Go(func() { h.giveBack(working, kept) })

	var err error
	for range rounds {
		if err = h.fault(ctx); err != nil {
			break
		}
	}
	h.calm()
	close(stop)
	rested := make(chan struct{})
	go func() { people.Wait(); close(rested) }()
	select {
	case <-rested:
	case <-time.After(h.settle):
		h.book.blame(lostOp, fmt.Sprintf("operations are still waiting %s after the last fault", h.settle))
		h.autopsy(ctx)
		cancel()
		<-rested
	case <-ctx.Done():
		<-rested
	}
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	checking, done := context.WithTimeout(ctx, h.settle)
	defer done()
	return h.check(checking)
}

// fault waits until something has moved, and then breaks something for a while.
func (h *harness) fault(ctx context.Context) error {
	h.round++
	r := rand.New(rand.NewPCG(h.seed, 1<<32+uint64(h.round)))
	f := choose(h, r)
	if f.make == nil {
		return fmt.Errorf("no fault's name contains %q", h.only)
	}
	h.await(ctx, 1+r.IntN(40), time.Duration(r.IntN(50))*time.Millisecond)
	what, holds, heal := f.make(ctx, h, r)
	for try := 0; what == "" && try < 20; try++ { // there was nothing to break, such as a connection
		f = choose(h, r)
		what, holds, heal = f.make(ctx, h, r)
	}
	if what == "" {
		what = f.name + ": nothing to break now"
	} else {
		h.faults[f.name]++
	}
	h.line(what)
	sleep(ctx, holds)
	if heal == nil {
		return nil
	}
	// What was broken is made well also when we're asked to stop.
	return heal(context.WithoutCancel(ctx))
}

// await waits for so many things to be asked of the world, but not for long.
func (h *harness) await(ctx context.Context, things int, more time.Duration) {
	goal := h.world.progress() + things
	for deadline := time.Now().Add(1500 * time.Millisecond); h.world.progress() < goal && time.Now().Before(deadline) && ctx.Err() == nil; {
		sleep(ctx, 5*time.Millisecond)
	}
	sleep(ctx, more)
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// failFile lets scripts fail while it is there.
func (h *harness) failFile() string { return filepath.Join(h.dir, "fail") }

// calm takes back what has been ordered and not happened yet.
func (h *harness) calm() {
	if h.fake != nil {
		h.fake.nodes.LoseExits(0)
	}
}

func (h *harness) died(name string, how error) {
	text := fmt.Sprintf("%s exited unexpectedly in round %d: %v", name, h.round, how)
	h.book.blame(crashed, text)
	h.out.say("%s", text)
}

func (h *harness) keep(name, id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.kept = append(h.kept, [2]string{name, id})
}

func (h *harness) takeKept() [][2]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.kept
	h.kept = nil
	return kept
}

// giveBack deletes what was kept from the last batch.
func (h *harness) giveBack(ctx context.Context, kept [][2]string) {
	u := &user{h: h, name: "keeper"}
	for _, k := range kept {
		if err := u.delete(ctx, k[0], k[1]); err != nil && ctx.Err() == nil {
			h.book.blame(refused, fmt.Sprintf("delete %s: %v", k[1], err))
		}
	}
}

// lacks notes what this build cannot be asked for.
func (h *harness) lacks(act string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.missing[act] {
		h.missing[act] = true
		h.out.note("skipped: " + act + " (not available in this build)")
	}
}

func (h *harness) close() {
	if h.system != nil {
		h.system.close()
	}
	if h.world != nil {
		h.world.close()
	}
	if h.disk != nil {
		copyTo := ""
		if len(h.book.found()) > 0 || h.options.keep {
			copyTo = filepath.Join(h.dir, "data-at-end")
		}
		_ = h.disk.close(copyTo)
	}
	h.out.close()
}

// autopsy writes down the state of everything, for those who look for the cause.
func (h *harness) autopsy(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	f, err := os.Create(filepath.Join(h.dir, fmt.Sprintf("autopsy-%d.txt", h.round)))
	if err != nil {
		return
	}
	defer f.Close()
	for _, p := range h.book.open() {
		v, err := h.client.cluster(ctx, p.id)
		fmt.Fprintf(f, "%s deleting=%t %s %s %v\n", p.id, p.deleting, v.Status, v.Message, err)
		for _, o := range v.Operations {
			fmt.Fprintf(f, "  operation %d %s %s %d/%d %s\n", o.ID, o.Kind, o.Status, o.Done, o.Total, o.Message)
			steps, _ := h.client.steps(ctx, p.id, o.ID)
			for _, s := range steps {
				if s.State != app.StepSucceeded && !s.Join {
					fmt.Fprintf(f, "    %s %s attempt %d worker %s not before %s %s\n", s.ID, s.State, s.Attempt, s.Worker, s.NotBefore.Format("15:04:05.000"), s.Error)
				}
			}
		}
	}
}
