//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"time"

	"muster/app"
	"muster/providers/fake"
)

// fault is one way in which something breaks. Make breaks it, says what it did, and returns how long it stays like that and
// what makes it well again (nil: it is over at once). It returns "" where there was nothing to break.
type fault struct {
	name   string
	weight int
	can    func(*harness) bool
	make   func(ctx context.Context, h *harness, r *rand.Rand) (what string, holds time.Duration, heal func(context.Context) error)
}

func always(*harness) bool            { return true }
func onFake(h *harness) bool          { return h.fake != nil }
func hasDatabase(h *harness) bool     { return h.system.database != nil }
func hasProvisioners(h *harness) bool { return len(h.system.provisioners) > 0 }
func hasDisk(h *harness) bool         { return h.disk != nil }
func between(r *rand.Rand, low, high time.Duration) time.Duration {
	return (low + time.Duration(r.Int64N(int64(high-low)))).Round(10 * time.Millisecond)
}

// faults in a fixed order, since the seed chooses among them by number.
var faults = []fault{
	{"kill server", 16, always, killServer},
	{"kill server, flush Redis", 4, always, killServerAndFlush},
	{"freeze server", 6, always, freezeServer},
	{"freeze server for longer than a claim", 1, always, freezeServerLong},
	{"step the clock", 5, always, stepClock},
	{"kill Redis", 5, always, killRedis},
	{"empty Redis", 4, always, emptyRedis},
	{"flush Redis", 12, always, flushRedis},
	{"freeze Redis", 4, always, freezeRedis},
	{"black hole before Redis", 4, always, blackHole},
	{"cut connections to Redis", 4, always, cutRedis},
	{"kill PostgreSQL", 4, hasDatabase, killDatabase},
	{"black hole before PostgreSQL", 4, hasDatabase, databaseHole},
	{"cut connections to PostgreSQL", 4, hasDatabase, cutDatabase},
	{"kill provisioner", 10, hasProvisioners, killProvisioner},
	{"kill worker", 10, hasProvisioners, killWorker},
	{"freeze worker", 4, hasProvisioners, freezeWorker},
	{"black hole before server", 5, hasProvisioners, uplinkHole},
	{"cut connections to servers", 4, hasProvisioners, cutUplinks},
	{"freeze provisioner", 3, hasProvisioners, freezeProvisioner},
	{"scripts fail", 3, always, failScripts},
	{"full disk", 3, hasDisk, fullDisk},
	{"cloud loses responses", 14, onFake, loseAnswers},
	{"cloud fails", 8, onFake, failCalls},
	{"cloud is slow", 4, onFake, slowCalls},
	{"cloud rejects calls for a while", 3, onFake, refuseCalls},
	{"a machine appears late", 4, onFake, lateMachine},
	{"lists are late", 3, onFake, lateLists},
	{"cut SSH", 12, onFake, cutSSH},
	{"lose SSH exit codes", 12, onFake, loseExits},
}

// choose takes a fault for a round; r follows from the seed and the round alone.
func choose(h *harness, r *rand.Rand) fault {
	var able []fault
	total := 0
	for _, f := range faults {
		if f.can(h) && strings.Contains(f.name, h.only) {
			able = append(able, f)
			total += f.weight
		}
	}
	if len(able) == 0 {
		return fault{}
	}
	n := r.IntN(total)
	for _, f := range able {
		if n -= f.weight; n < 0 {
			return f
		}
	}
	return able[0]
}

func one(r *rand.Rand, all []*process) *process { return all[r.IntN(len(all))] }

func killThenStart(p *process, pause time.Duration, meanwhile func() error) (string, time.Duration, func(context.Context) error) {
	p.kill()
	if meanwhile != nil {
		if err := meanwhile(); err != nil {
			return "kill " + p.name + ": " + err.Error(), pause, p.start
		}
	}
	return fmt.Sprintf("kill %s, back after %s", p.name, pause), pause, p.start
}

func frozen(p *process, d time.Duration) (string, time.Duration, func(context.Context) error) {
	p.freeze()
	return fmt.Sprintf("freeze %s for %s", p.name, d), d, func(context.Context) error { p.thaw(); return nil }
}

func killServer(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	return killThenStart(one(r, h.system.servers), between(r, 0, 1500*time.Millisecond), nil)
}

func killServerAndFlush(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	what, d, heal := killThenStart(one(r, h.system.servers), between(r, 0, time.Second), func() error { return h.system.say("FLUSHALL") })
	return what + ", Redis flushed meanwhile", d, heal
}

func freezeServer(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	return frozen(one(r, h.system.servers), between(r, 500*time.Millisecond, 4*time.Second))
}

func freezeServerLong(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	return frozen(one(r, h.system.servers), between(r, 16*time.Second, 20*time.Second))
}

// stepClock puts a server's clock forward or back, by less than any lease, and after a while right again.
func stepClock(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	p, by, d := one(r, h.system.servers), between(r, time.Second, 20*time.Minute), between(r, time.Second, 10*time.Second)
	if r.IntN(2) == 0 {
		by = -by
	}
	if err := os.WriteFile(p.clock, []byte(by.String()), 0o600); err != nil {
		return "step the clock: " + err.Error(), 0, nil
	}
	right := h.clocks.begin(by)
	return fmt.Sprintf("the clock of %s is off by %s for %s", p.name, by, d), d, func(context.Context) error {
		defer right()
		return os.Remove(p.clock)
	}
}

func killRedis(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	return killThenStart(h.system.redis, between(r, 0, 2*time.Second), nil)
}

func emptyRedis(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	what, d, heal := killThenStart(h.system.redis, between(r, 0, 2*time.Second), h.system.emptyRedis)
	return what + " and empty", d, heal
}

func flushRedis(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	times := 1 + r.IntN(4)
	for i := range times {
		if err := h.system.say("FLUSHALL"); err != nil {
			return "flush Redis: " + err.Error(), 0, nil
		}
		if i+1 < times {
			time.Sleep(30 * time.Millisecond)
		}
	}
	return fmt.Sprintf("flush Redis %s", count(times, "time")), 0, nil
}

func freezeRedis(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	return frozen(h.system.redis, between(r, 500*time.Millisecond, 5*time.Second))
}

func blackHole(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	n := h.system.network[r.IntN(len(h.system.network))]
	d := between(r, 500*time.Millisecond, 6*time.Second)
	n.blackHole(true)
	return fmt.Sprintf("the network to Redis is a black hole for %s", d), d, func(context.Context) error { n.blackHole(false); return nil }
}

func cutRedis(_ context.Context, h *harness, _ *rand.Rand) (string, time.Duration, func(context.Context) error) {
	for _, n := range h.system.network {
		n.cut()
	}
	return "cut all connections to Redis", 0, nil
}

func killDatabase(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	return killThenStart(h.system.database, between(r, 0, 3*time.Second), nil)
}

func databaseHole(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	i := r.IntN(len(h.system.databases))
	n, d := h.system.databases[i], between(r, 500*time.Millisecond, 8*time.Second)
	n.blackHole(true)
	return fmt.Sprintf("the network of %s to PostgreSQL is a black hole for %s", h.system.servers[i].name, d), d,
		func(context.Context) error { n.blackHole(false); return nil }
}

func cutDatabase(_ context.Context, h *harness, _ *rand.Rand) (string, time.Duration, func(context.Context) error) {
	for _, n := range h.system.databases {
		n.cut()
	}
	return "cut all connections to PostgreSQL", 0, nil
}

// failScripts lets every script fail before it has done anything.
func failScripts(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	d := between(r, 300*time.Millisecond, 9*time.Second)
	if err := os.WriteFile(h.failFile(), nil, 0o600); err != nil {
		return "let scripts fail: " + err.Error(), 0, nil
	}
	return fmt.Sprintf("every script fails for %s", d), d, func(context.Context) error { return os.Remove(h.failFile()) }
}

func killProvisioner(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	return killThenStart(one(r, h.system.provisioners), between(r, 0, 3*time.Second), nil)
}

func killWorker(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	p := one(r, h.system.provisioners)
	if p.signalChild(r.IntN, syscall.SIGKILL) == nil {
		return "", 0, nil
	}
	return "kill a worker of " + p.name, 0, nil
}

// freezeWorker wakes it again when its claims are over, or before.
func freezeWorker(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	p, d := one(r, h.system.provisioners), between(r, time.Second, 20*time.Second)
	again := p.signalChild(r.IntN, syscall.SIGSTOP)
	if again == nil {
		return "", 0, nil
	}
	return fmt.Sprintf("freeze a worker of %s for %s", p.name, d), d, func(context.Context) error { again(syscall.SIGCONT); return nil }
}

func uplinkHole(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	i := r.IntN(len(h.system.uplinks))
	n, d := h.system.uplinks[i], between(r, 500*time.Millisecond, 20*time.Second)
	n.blackHole(true)
	return fmt.Sprintf("the network of %s to its server is a black hole for %s", h.system.provisioners[i].name, d), d,
		func(context.Context) error { n.blackHole(false); return nil }
}

func cutUplinks(_ context.Context, h *harness, _ *rand.Rand) (string, time.Duration, func(context.Context) error) {
	for _, n := range h.system.uplinks {
		n.cut()
	}
	return "cut all connections of provisioners to servers", 0, nil
}

func freezeProvisioner(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	return frozen(one(r, h.system.provisioners), between(r, time.Second, 20*time.Second))
}

func fullDisk(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	d := between(r, 500*time.Millisecond, 4*time.Second)
	free, err := h.disk.fill()
	if err != nil {
		return "fill the disk: " + err.Error(), 0, nil
	}
	return fmt.Sprintf("the disk of the data is full for %s", d), d, func(context.Context) error { return free() }
}

// verbs that a fault may befall, creates more often than others.
var verbs = []fake.Verb{fake.Create, fake.Create, fake.Describe, fake.List, fake.Delete, fake.Delete}

func loseAnswers(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	v, n := verbs[r.IntN(len(verbs))], 1+r.IntN(3)
	h.fake.cloud.Order(v, fake.Outcome{Err: fake.ErrCut, Happens: true, Times: n})
	return fmt.Sprintf("the cloud carries out the request, but %s lost", be(n, "answer", string(v))), 0, nil
}

func be(n int, noun, to string) string {
	if n == 1 {
		return "the next " + noun + " to " + to + " is"
	}
	return fmt.Sprintf("the next %d %ss to %s are", n, noun, to)
}

func failCalls(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	v, n, happens := verbs[r.IntN(len(verbs))], 1+r.IntN(3), r.IntN(2) == 0
	h.fake.cloud.Order(v, fake.Outcome{Err: app.Errorf(app.ETransient, "503 of the fake cloud"), Happens: happens, Times: n})
	when := "before"
	if happens {
		when = "after"
	}
	return fmt.Sprintf("the cloud responds to the next %s with 503, %s doing it", count(n, string(v)), when), 0, nil
}

func slowCalls(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	v, n, d := verbs[r.IntN(len(verbs))], 1+r.IntN(4), between(r, 300*time.Millisecond, 3*time.Second)
	h.fake.cloud.Order(v, fake.Outcome{Delay: d, Times: n})
	return fmt.Sprintf("the cloud takes %s for the next %s", d, count(n, string(v))), 0, nil
}

func refuseCalls(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	if r.IntN(2) == 0 {
		e := app.Errorf(app.ERateLimit, "rate limit reached")
		e.RetryAfter = between(r, 100*time.Millisecond, 2*time.Second)
		v := verbs[r.IntN(len(verbs))]
		h.fake.cloud.Order(v, fake.Outcome{Err: e})
		return fmt.Sprintf("the cloud limits the rate of %s for %s", v, e.RetryAfter), 0, nil
	}
	h.fake.cloud.Order(fake.Create, fake.Outcome{Err: app.Errorf(app.ECapacity, "no capacity in this zone")})
	return "the cloud has no capacity for the next machine", 0, nil
}

func lateLists(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	lag, d := between(r, 200*time.Millisecond, 2*time.Second), between(r, time.Second, 3*time.Second)
	h.fake.cloud.SetListLag(lag)
	return fmt.Sprintf("new machines are missing from lists for %s, for %s", lag, d), d, func(context.Context) error { h.fake.cloud.SetListLag(0); return nil }
}

// latest is how much later a machine may come than it was asked for.
const latest = 8 * time.Second

// lateMachine lets a create be answered with an error, and the machine appear when no one expects it any more.
func lateMachine(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	d := between(r, 500*time.Millisecond, latest)
	h.late = true
	h.fake.cloud.Order(fake.Create, fake.Outcome{Err: app.Errorf(app.ETransient, "503 of the fake cloud"), Happens: true, Late: d})
	return fmt.Sprintf("the next machine fails with 503 and appears %s later", d), 0, nil
}

func cutSSH(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	busy := h.fake.nodes.Busy()
	n := h.fake.nodes.Cut(1 + r.IntN(5))
	if n == 0 {
		return "", 0, nil
	}
	return fmt.Sprintf("cut the connections to %s while %s", count(n, "node"), count(busy, "command")+" ran"), 0, nil
}

func loseExits(_ context.Context, h *harness, r *rand.Rand) (string, time.Duration, func(context.Context) error) {
	n := 1 + r.IntN(4)
	h.fake.nodes.LoseExits(n)
	return fmt.Sprintf("%s on nodes end without an exit code", count(n, "command")), 0, nil
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
