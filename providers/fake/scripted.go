package fake

import (
	"slices"
	"time"

	"muster/app"
	"muster/app/family"
)

// Verb is one of the calls of a provider.
type Verb string

// The verbs.
const (
	Create   Verb = "create"
	Describe Verb = "describe"
	List     Verb = "list"
	Delete   Verb = "delete"
	Sleep    Verb = "sleep"
	Wake     Verb = "wake"
	Adopt    Verb = "adopt"
)

// Call is one call that the cloud got. Node and Intent are known for Create, and for a machine that exists; Flavor for Create only.
type Call struct {
	Verb   Verb
	ID     string
	Intent string
	Node   string
	Flavor string
}

// Outcome orders how calls end.
type Outcome struct {
	Err     error         // what the caller gets; nil means the true answer
	Happens bool          // the effect happens all the same: the reply is lost, not the request
	Hangs   bool          // no answer until the caller's context is done
	Delay   time.Duration // before anything happens, added to the verb's own
	Late    time.Duration // what is made comes to be only so much later; no one can see or delete it before
	Node    string        // only for machines whose TagNode is this; "" for all
	Flavor  string        // only for machines that are asked for of this flavor; "" for all
	Times   int           // for so many calls; 0 means one, below 0 forever
}

type rule struct {
	verb    Verb
	outcome Outcome
	left    int
}

// Order appends outcomes for calls of a verb. Each call takes the first outcome that fits it and is not used up.
func (c *Cloud) Order(v Verb, outcomes ...Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range outcomes {
		left := o.Times
		if left == 0 {
			left = 1
		}
		c.rules = append(c.rules, &rule{verb: v, outcome: o, left: left})
	}
}

// Fail lets the next call of a verb fail without any effect.
func (c *Cloud) Fail(v Verb, err error) { c.Order(v, Outcome{Err: err}) }

// LoseReply lets the next call of a verb take effect, but answer with err.
func (c *Cloud) LoseReply(v Verb, err error) { c.Order(v, Outcome{Err: err, Happens: true}) }

// match takes the outcome for a call; the zero Outcome is the true answer.
func (c *Cloud) match(call Call) Outcome {
	for i, r := range c.rules {
		if r.verb != call.Verb || r.outcome.Node != "" && r.outcome.Node != call.Node || r.outcome.Flavor != "" && r.outcome.Flavor != call.Flavor {
			continue
		}
		if r.left--; r.left == 0 {
			c.rules = slices.Delete(c.rules, i, i+1)
		}
		return r.outcome
	}
	return Outcome{}
}

// SetDelay makes every call of a verb take so long.
func (c *Cloud) SetDelay(v Verb, d time.Duration) { c.set(func() { c.delays[v] = d }) }

// SetBoot makes machines start for so long before they are running and have an address.
func (c *Cloud) SetBoot(d time.Duration) { c.set(func() { c.boot = d }) }

// SetListLag keeps machines out of lists for so long after they were made.
func (c *Cloud) SetListLag(d time.Duration) { c.set(func() { c.lag = d }) }

// SetQuota limits the number of machines; 0 means no limit.
func (c *Cloud) SetQuota(n int) { c.set(func() { c.quota = n }) }

// SetRoom limits the machines of a zone; "" are those whose zone was left to the cloud. Below 0 there is no limit.
func (c *Cloud) SetRoom(zone string, n int) {
	c.set(func() {
		if c.room == nil {
			c.room = map[string]int{}
		}
		if c.room[zone] = n; n < 0 {
			delete(c.room, zone)
		}
	})
}

// SetForgetful makes Create forget which intents it was asked for before, as clouds without such a key do: every call
// makes a machine.
func (c *Cloud) SetForgetful(on bool) { c.set(func() { c.forgets = on }) }

// SetRate makes the cloud refuse calls above so many a second, beyond a burst, with ERateLimit and when to come back. 0
// lifts the limit.
func (c *Cloud) SetRate(perSecond float64, burst int) {
	c.set(func() {
		c.throttle.rate, c.throttle.burst, c.throttle.tokens, c.throttle.last = perSecond, float64(burst), float64(burst), time.Now()
	})
}

// RefuseFor makes the cloud refuse every call for so long, with ERateLimit and when to come back.
func (c *Cloud) RefuseFor(d time.Duration) { c.set(func() { c.throttle.until = time.Now().Add(d) }) }

// Refused returns how many calls were refused because there were too many.
func (c *Cloud) Refused() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.throttle.refused
}

// throttle is the cloud's own limit of calls, a token bucket.
type throttle struct {
	rate, burst, tokens float64
	last, until         time.Time
	refused             int
}

func (t *throttle) admit(now time.Time) error {
	wait := t.until.Sub(now)
	if t.rate > 0 {
		t.tokens = min(t.burst, t.tokens+t.rate*now.Sub(t.last).Seconds())
		if t.last = now; t.tokens < 1 {
			wait = max(wait, time.Duration((1-t.tokens)/t.rate*float64(time.Second)))
		}
	}
	if wait <= 0 {
		t.tokens--
		return nil
	}
	t.refused++
	e := app.Errorf(app.ERateLimit, "the fake cloud's rate limit is reached")
	e.RetryAfter = wait
	return e
}

// Bind places machines made from now on where f says; nil undoes it. f is called with the account locked and must not
// call back.
func (c *Cloud) Bind(f func(family.MachineSpec) Endpoint) { c.set(func() { c.bind = f }) }

// OnAdopt calls f for machines that are adopted by another node; f is called as that of Bind is.
func (c *Cloud) OnAdopt(f func(Endpoint, family.MachineSpec)) { c.set(func() { c.adopted = f }) }

// Stop lets a machine die, as a host that lost power: it exists, but does not run. Unknown ids are ignored.
func (c *Cloud) Stop(id string) {
	c.set(func() {
		if m := c.machines[id]; m != nil {
			m.State = family.MachineStopped
		}
	})
}

// Vanish takes a machine away behind everyone's back. Unknown ids are ignored.
func (c *Cloud) Vanish(id string) { c.set(func() { delete(c.machines, id) }) }

// Put adds a machine as someone else would, without a call; it replaces one of the same id.
func (c *Cloud) Put(m family.Machine) {
	c.set(func() { c.add(&machine{Machine: m, made: time.Now()}) })
}

// Machines returns all machines as they are, by id, without a call and without lag.
func (c *Cloud) Machines() []family.Machine {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []family.Machine
	for _, m := range c.machines {
		if m.exists() {
			out = append(out, c.view(m))
		}
	}
	slices.SortFunc(out, byID)
	return out
}

// Calls returns the calls so far, in the order in which they came.
func (c *Cloud) Calls() []Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.calls)
}

// Count returns the number of calls of a verb so far.
func (c *Cloud) Count(v Verb) int {
	n := 0
	for _, call := range c.Calls() {
		if call.Verb == v {
			n++
		}
	}
	return n
}

func (c *Cloud) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}
