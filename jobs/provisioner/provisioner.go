package provisioner

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/fleet"
	"muster/jobs"
	"muster/jobs/internal/loop"
)

// WorkerHandle is a worker that a provisioner runs: a process of its own, or a part of this one. None of its methods waits.
type WorkerHandle interface {
	Update(o fleet.WorkerOrder) // other slots, a fresh token
	Drain()                     // take nothing new, and end when nothing is left
	Stop()                      // give back what it holds, and end
	Done() <-chan struct{}      // closed when it has ended for certain: it acts no more
}

// Provisioner registers with the server and runs one worker for each tenant that the server returns it.
type Provisioner struct {
	Registration fleet.Registration
	Server       fleet.Registry
	// Start begins a worker of that name, which no worker ever had.
	Start func(r fleet.Registered, name string, o fleet.WorkerOrder) (WorkerHandle, error)
	// DrainTime is how long running steps may take to end at shutdown; then they are released.
	DrainTime time.Duration
	Log       *slog.Logger
	// OnRegister, when set, is notified of each registration.
	OnRegister func(fleet.Registered)
	// Guard connects to nodes whose address a tenant decides; nil: they aren't reached.
	Guard Dialer

	registered fleet.Registered
	known      string // version of the orders that it acts by
	orders     map[string]fleet.WorkerOrder
	running    map[string]*runningWorker // by tenant; those that take new steps
	leaving    map[*runningWorker]bool
	ended      []string // workers to tell of
	heard      time.Time
	draining   bool
	failures   map[string]*crashes
	events     chan *runningWorker
	trouble    loop.Trouble
}

// runningWorker is a worker with what is to be known of it.
type runningWorker struct {
	WorkerHandle
	name    string
	tenant  string
	order   fleet.WorkerOrder
	began   time.Time
	leaving bool
}

// crashes counts the workers of a tenant that ended by themselves, one soon after the other.
type crashes struct {
	count int
	again time.Time // not before
}

const (
	steady   = time.Minute // a worker that ran for so long did not crash at its start
	stopWait = jobs.ShutdownTime + 4*time.Second
	settle   = 50 * time.Millisecond
)

// heartbeatAnswer is what happened to a heartbeat.
type heartbeatAnswer struct {
	orders   fleet.Orders
	reported int // how many ended workers the server knows of now
	err      error
}

// Run works until ctx ends, or the server wants the provisioner to drain; then it drains. The error is EUnauthorized where the
// server does not take the token (any more).
func (p *Provisioner) Run(ctx context.Context) error {
	p.orders, p.running, p.failures = map[string]fleet.WorkerOrder{}, map[string]*runningWorker{}, map[string]*crashes{}
	p.leaving, p.events = map[*runningWorker]bool{}, make(chan *runningWorker, 16)
	for {
		again, err := p.registration(ctx)
		if !again {
			return err
		}
	}
}

// registration registers and lives by it until it ends; again says to register again.
func (p *Provisioner) registration(ctx context.Context) (again bool, err error) {
	if again, err := p.register(ctx); p.registered.ID == "" {
		return again, err
	}
	beats := make(chan heartbeatAnswer)
	live, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	if t, ok := p.Server.(TunnelSource); ok {
		go p.tunnels(live, t, p.registered.ID)
	}
	var cut context.CancelFunc
	interrupted := false
	interrupt := func() { interrupted = true; cut() } // there is something to report at once
	beat := func() {
		var one context.Context
		one, cut = context.WithTimeout(live, app.ProvisionerSilence)
		stop := cut
		interrupted = false
		b := fleet.Heartbeat{ID: p.registered.ID, Known: p.known, Draining: p.draining, Ended: p.ended, Wait: app.ProvisionerHeartbeat}
		if len(b.Ended) > 0 || p.draining {
			b.Wait = 0
		}
		go func() {
			defer stop()
			orders, err := p.Server.Beat(one, b)
			select {
			case beats <- heartbeatAnswer{orders: orders, reported: len(b.Ended), err: err}:
			case <-live.Done():
			}
		}()
	}
	beat()
	defer func() { p.registered = fleet.Registered{} }()
	asked := ctx.Done()
	var limit <-chan time.Time
	next := time.NewTimer(time.Hour)
	defer next.Stop()
	drain := func() {
		p.draining, asked = true, nil
		limit = time.After(p.DrainTime)
		p.follow(nil)
		interrupt()
	}
	for {
		if p.draining && len(p.running)+len(p.leaving) == 0 {
			p.leave(live)
			return false, nil
		}
		select {
		case <-asked:
			drain()
		case <-limit:
			if p.DrainTime > 0 { // else no one was to be waited for
				p.Log.Warn("steps are still running at the shutdown deadline; releasing them")
			}
			p.stopAll()
		case k := <-p.events:
			p.gone(k)
			interrupt()
		case <-next.C:
			p.restart()
			beat()
		case a := <-beats:
			if a.err != nil && interrupted {
				beat()
				continue
			}
			p.ended = p.ended[min(a.reported*b2i(a.err == nil), len(p.ended)):]
			switch code := app.CodeOf(a.err); {
			case a.err == nil:
				p.heard, p.known, p.registered.Plugins = time.Now(), a.orders.Version, a.orders.Plugins
				p.trouble.Say(p.Log, "Connecting to the server", nil)
				if a.orders.Drain && !p.draining {
					p.Log.Info("the server asked this provisioner to shut down")
					drain()
				}
				if !p.draining {
					p.follow(a.orders.Workers)
				}
			case code == app.EStale:
				p.Log.Warn("another provisioner took this one's place; dropping its work and registering again")
				p.dropAll()
				return !p.draining, nil
			case code == app.EUnauthorized:
				p.dropAll()
				return false, a.err
			default:
				p.trouble.Say(p.Log, "Connecting to the server", a.err)
				if time.Since(p.heard) > execution.ClaimFor && len(p.running)+len(p.leaving) > 0 {
					p.Log.Warn("the server has been unreachable for longer than a claim lasts; stopping the workers")
					p.stopAll()
				}
			}
			next.Reset(p.until(a))
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// until is when the next heartbeat is due: at once after orders, which took as long as there were none.
func (p *Provisioner) until(a heartbeatAnswer) time.Duration {
	switch {
	case len(p.ended) > 0 && a.err == nil:
		return 0
	case p.draining:
		return 200 * time.Millisecond
	case a.err != nil:
		return min(loop.BackOff(200*time.Millisecond, 1), app.ProvisionerHeartbeat)
	}
	return settle
}

// register tries until it succeeds, ctx ends, or the server does not know the token.
func (p *Provisioner) register(ctx context.Context) (again bool, err error) {
	for try := 1; ctx.Err() == nil; try++ {
		once, cancel := context.WithTimeout(ctx, execution.ClaimFor)
		r, err := p.Server.Register(once, p.Registration)
		cancel()
		if err == nil {
			p.registered, p.known, p.heard = r, "", time.Now()
			p.trouble.Say(p.Log, "Registering with the server", nil)
			if p.OnRegister != nil {
				p.OnRegister(r)
			}
			return true, nil
		}
		if code := app.CodeOf(err); ctx.Err() == nil && code != app.ETransient && code != app.ETimeout && code != app.EInternal && code != app.ERateLimit {
			return false, err
		}
		p.trouble.Say(p.Log, "Registering with the server", err)
		_ = loop.Pause(ctx, min(loop.BackOff(100*time.Millisecond, try), 5*time.Second))
	}
	return false, nil
}

// follow starts, changes and drains workers so that they are those that were ordered.
func (p *Provisioner) follow(workers []fleet.WorkerOrder) {
	clear(p.orders)
	for _, o := range workers {
		p.orders[o.Tenant] = o
	}
	for tenant, k := range p.running {
		if _, wanted := p.orders[tenant]; !wanted {
			p.Log.Debug("tenant no longer served", "tenant", tenant)
			delete(p.running, tenant)
			k.leaving = true
			p.leaving[k] = true
			k.Drain()
		}
	}
	p.restart()
}

// restart brings the workers up that are wanted and not there, except those that crashed a moment ago.
func (p *Provisioner) restart() {
	for tenant, o := range p.orders {
		if k := p.running[tenant]; k != nil {
			if k.order != o {
				k.order = o
				k.Update(o)
			}
			continue
		}
		if c := p.failures[tenant]; c != nil && time.Now().Before(c.again) {
			continue
		}
		name := fleet.NewWorkerName(p.registered.ID)
		h, err := p.Start(p.registered, name, o)
		if err != nil {
			p.Log.Error("could not start a worker", "tenant", tenant, "error", err)
			p.crashed(tenant)
			continue
		}
		k := &runningWorker{WorkerHandle: h, name: name, tenant: tenant, order: o, began: time.Now()}
		p.running[tenant] = k
		p.Log.Debug("serving tenant", "tenant", tenant, "slots", o.Slots, "worker", name)
		go func() {
			<-k.Done()
			p.events <- k
		}()
	}
}

// crashed makes the next start of a tenant's worker wait, longer each time.
func (p *Provisioner) crashed(tenant string) {
	c := p.failures[tenant]
	if c == nil {
		c = &crashes{}
		p.failures[tenant] = c
	}
	c.count++
	c.again = time.Now().Add(min(loop.BackOff(250*time.Millisecond, c.count), 30*time.Second))
	if c.count == 1 {
		c.again = time.Now()
	}
}

// gone is notified of a worker that ended.
func (p *Provisioner) gone(k *runningWorker) {
	if strings.HasPrefix(k.name, execution.WorkerPrefix(p.registered.ID)) { // else of a registration that has ended: its claims run out
		p.ended = append(p.ended, k.name)
	}
	if k.leaving {
		delete(p.leaving, k)
		return
	}
	delete(p.running, k.tenant)
	if time.Since(k.began) > steady {
		delete(p.failures, k.tenant)
	}
	p.Log.Warn("a worker exited; restarting it", "tenant", k.tenant, "worker", k.name)
	p.crashed(k.tenant)
	p.restart()
}

// stopAll tells every worker to give back what it holds and to end.
func (p *Provisioner) stopAll() {
	clear(p.orders)
	for tenant, k := range p.running {
		delete(p.running, tenant)
		k.leaving = true
		p.leaving[k] = true
	}
	for k := range p.leaving {
		k.Stop()
	}
	p.known = "" // what is ordered is to be looked at again
}

// dropAll ends every worker and waits until they have.
func (p *Provisioner) dropAll() {
	p.stopAll()
	late := time.After(stopWait)
	for len(p.leaving) > 0 {
		select {
		case k := <-p.events:
			delete(p.leaving, k)
		case <-late:
			p.Log.Error("workers didn't stop when asked to")
			return
		}
	}
	p.ended = nil
}

// leave says good-bye.
func (p *Provisioner) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 2*app.ProvisionerHeartbeat)
	defer cancel()
	if len(p.ended) > 0 {
		_, _ = p.Server.Beat(ctx, fleet.Heartbeat{ID: p.registered.ID, Draining: true, Ended: p.ended})
	}
	if err := p.Server.Leave(ctx, p.registered.ID); err != nil {
		p.Log.Warn("could not sign off from the server", "error", err)
	}
}
