package fake

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
)

// Cloud is one account. The zero value is not usable; see New and Named. All methods are safe for use at the same time.
type Cloud struct {
	name string

	mu       sync.Mutex
	serial   int
	machines map[string]*machine
	intents  map[string][]string // ids of the machines ever made for an intent
	rules    []*rule
	calls    []Call
	delays   map[Verb]time.Duration
	boot     time.Duration
	lag      time.Duration
	quota    int
	room     map[string]int // machines by zone; absent zones are not limited
	forgets  bool
	throttle throttle
	bind     func(family.MachineSpec) Endpoint
	adopted  func(Endpoint, family.MachineSpec)
}

var (
	_ family.Provider   = (*Cloud)(nil)
	_ family.LateLister = (*Cloud)(nil)
	_ family.Sleeper    = (*Cloud)(nil)
	_ family.Adopter    = (*Cloud)(nil)
)

// machine is a machine; before it was made it does not exist for anybody.
type machine struct {
	family.Machine
	made  time.Time
	woken time.Time          // when it was started last; zero where it runs since it was made
	spec  family.MachineSpec // only of one that is bound to an endpoint
}

func (m *machine) exists() bool { return m != nil && !time.Now().Before(m.made) }

// Endpoint is where a machine seems to be. HostKey is in authorized_keys form; "" leaves the key of the spec.
type Endpoint struct {
	Address string
	Port    int
	User    string
	HostKey string
}

// New makes an account without machines. It works at once, never fails and has no quota by default.
func New(name string) *Cloud {
	return &Cloud{name: name, machines: make(map[string]*machine), intents: make(map[string][]string), delays: make(map[Verb]time.Duration)}
}

var (
	namedMu sync.Mutex
	named   = make(map[string]*Cloud)
)

// Named returns the account of that name, the same one each time within this process.
func Named(name string) *Cloud {
	namedMu.Lock()
	defer namedMu.Unlock()
	if named[name] == nil {
		named[name] = New(name)
	}
	return named[name]
}

// Forget drops the account that Named gave, so that the next one starts empty.
func Forget(name string) {
	namedMu.Lock()
	defer namedMu.Unlock()
	delete(named, name)
}

// Create makes a machine for spec.Intent or returns the existing one.
func (c *Cloud) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	return run(ctx, c, Call{Verb: Create, Intent: spec.Intent, Node: spec.Tags[family.TagNode], Flavor: spec.Flavor.Flavor}, func() (family.Machine, error) {
		for _, m := range c.tagged(spec.Tags) {
			if m.exists() && !c.forgets && m.Tags[family.TagIntent] == spec.Intent {
				return c.view(m), nil
			}
		}
		if spec.Flavor.Flavor == "unknown" || spec.Image.Image == "unknown" {
			return family.Machine{}, app.Errorf(app.EInvalid, "the fake cloud has no flavor %q with image %q", spec.Flavor.Flavor, spec.Image.Image)
		}
		if c.quota > 0 && len(c.machines) >= c.quota {
			return family.Machine{}, app.Errorf(app.EQuota, "the account's limit of %d machines is reached", c.quota)
		}
		zone, err := c.zoneFor(spec.Zone)
		if err != nil {
			return family.Machine{}, err
		}
		spec.Zone = zone
		m, err := c.build(spec)
		if err != nil {
			return family.Machine{}, err
		}
		c.add(m)
		return c.view(m), nil
	})
}

// admit refuses a machine for a zone that is full.
func (c *Cloud) admit(zone string) error {
	room, limited := c.room[zone]
	if !limited {
		return nil
	}
	for _, m := range c.machines {
		if m.Zone == zone {
			room--
		}
	}
	if room > 0 {
		return nil
	}
	e := app.Errorf(app.ECapacity, "no capacity")
	if zone != "" {
		e = app.Errorf(app.ECapacity, "no capacity in zone %s", zone)
	}
	e.Reason = "zone_full"
	return e
}

func (c *Cloud) build(spec family.MachineSpec) (*machine, error) {
	c.serial++
	m := &machine{made: time.Now(), Machine: family.Machine{
		ID:       machineID(c.serial),
		State:    family.MachineRunning,
		Hostname: spec.Hostname,
		SSHUser:  spec.Image.SSHUser,
		Tags:     maps.Clone(spec.Tags),
		Note:     "exists in memory only",
		Zone:     spec.Zone,
		OwnRoot:  true,
	}}
	if len(spec.HostKey) > 0 {
		public, err := publicLine(spec.HostKey)
		if err != nil {
			return nil, err
		}
		m.HostKey = public
	}
	address := fmt.Sprintf("10.200.%d.%d", c.serial/250, c.serial%250+1)
	if c.bind != nil {
		e := c.bind(spec)
		address, m.SSHPort = e.Address, e.Port
		if e.User != "" {
			m.SSHUser = e.User
		}
		if e.HostKey != "" {
			m.HostKey = e.HostKey
		}
		m.OwnRoot, m.spec = false, spec
	}
	m.Addresses = map[string]string{"access_v4": address, "bind_v4": address}
	return m, nil
}

func machineID(serial int) string { return fmt.Sprintf("fake-%d", serial) }

func (c *Cloud) ListsLate() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lag
}

// view is what the outside sees of a machine now: one that still boots has no address yet.
func (c *Cloud) view(m *machine) family.Machine {
	out := m.Machine
	out.CreatedAt = m.made
	out.Tags = maps.Clone(m.Tags)
	out.Addresses = maps.Clone(m.Addresses)
	if out.State == family.MachineRunning && (time.Since(m.made) < c.boot || time.Since(m.woken) < c.boot) {
		out.State, out.Addresses = family.MachineStarting, nil
	}
	return out
}

// Describe returns a machine; ENotFound where it does not exist.
func (c *Cloud) Describe(ctx context.Context, id string) (family.Machine, error) {
	return run(ctx, c, Call{Verb: Describe, ID: id}, func() (family.Machine, error) {
		m := c.machines[id]
		if !m.exists() {
			return family.Machine{}, app.Errorf(app.ENotFound, "machine %q doesn't exist in the fake cloud", id)
		}
		return c.view(m), nil
	})
}

// List returns the machines that carry all of the tags, by id. Those younger than the list lag are not in it yet.
func (c *Cloud) List(ctx context.Context, tags map[string]string) ([]family.Machine, error) {
	return run(ctx, c, Call{Verb: List}, func() ([]family.Machine, error) {
		var out []family.Machine
		for _, m := range c.tagged(tags) {
			if m.exists() && time.Since(m.made) >= c.lag && carries(m.Tags, tags) {
				out = append(out, c.view(m))
			}
		}
		slices.SortFunc(out, byID)
		return out, nil
	})
}

// Delete removes a machine; an absent one is success.
func (c *Cloud) Delete(ctx context.Context, id string) error {
	_, err := run(ctx, c, Call{Verb: Delete, ID: id}, func() (any, error) {
		if c.machines[id].exists() {
			delete(c.machines, id)
		}
		return nil, nil
	})
	return err
}

// Sleep stops a machine; one that is stopped already is success, one that does not exist ENotFound.
func (c *Cloud) Sleep(ctx context.Context, id string) error {
	_, err := run(ctx, c, Call{Verb: Sleep, ID: id}, func() (any, error) {
		m := c.machines[id]
		if !m.exists() {
			return nil, app.Errorf(app.ENotFound, "machine %q doesn't exist in the fake cloud", id)
		}
		m.State = family.MachineStopped
		return nil, nil
	})
	return err
}

// Wake starts a machine that was stopped. One that is bound to an endpoint may have another one from then on.
func (c *Cloud) Wake(ctx context.Context, id string) error {
	_, err := run(ctx, c, Call{Verb: Wake, ID: id}, func() (any, error) {
		m := c.machines[id]
		switch {
		case !m.exists():
			return nil, app.Errorf(app.ENotFound, "machine %q doesn't exist in the fake cloud", id)
		case m.State != family.MachineStopped:
			return nil, nil
		}
		if c.bind != nil && m.spec.Intent != "" {
			e := c.bind(m.spec)
			m.SSHPort, m.Addresses = e.Port, map[string]string{"access_v4": e.Address, "bind_v4": e.Address}
		}
		m.State, m.woken = family.MachineRunning, time.Now()
		return nil, nil
	})
	return err
}

// Adopt returns a machine to another node; one that does not exist is ENotFound.
func (c *Cloud) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	_, err := run(ctx, c, Call{Verb: Adopt, ID: id}, func() (any, error) {
		m := c.machines[id]
		switch {
		case !m.exists():
			return nil, app.Errorf(app.ENotFound, "machine %q doesn't exist in the fake cloud", id)
		case m.Tags[family.TagIntent] != spec.Tags[family.TagIntent]:
			return nil, app.Errorf(app.EInvalid, "machine %q was created for another intent", id)
		}
		m.Tags, m.Hostname = maps.Clone(spec.Tags), spec.Hostname
		if m.spec.Intent != "" {
			m.spec.Tags, m.spec.Hostname, m.spec.AuthorizedKey = m.Tags, spec.Hostname, spec.AuthorizedKey
		}
		if c.adopted != nil {
			c.adopted(Endpoint{Address: m.Addresses["access_v4"], Port: m.SSHPort, User: m.SSHUser, HostKey: m.HostKey}, spec)
		}
		return nil, nil
	})
	return err
}

// add puts a machine where it is found.
func (c *Cloud) add(m *machine) {
	c.machines[m.ID] = m
	intent := m.Tags[family.TagIntent]
	c.intents[intent] = append(c.intents[intent], m.ID)
}

// tagged returns those machines that may carry the tags: where they name an intent, all but its own are left out, so that a
// call costs the same in an account of ten thousand.
func (c *Cloud) tagged(tags map[string]string) iter.Seq2[string, *machine] {
	intent, named := tags[family.TagIntent]
	if !named {
		return maps.All(c.machines)
	}
	return func(yield func(string, *machine) bool) {
		for _, id := range c.intents[intent] {
			if m := c.machines[id]; m != nil && !yield(id, m) {
				return
			}
		}
	}
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// run is one call: it is written down, takes its time, and ends as ordered. The effect runs under the lock.
func run[T any](ctx context.Context, c *Cloud, call Call, effect func() (T, error)) (T, error) {
	var none T
	c.mu.Lock()
	if m := c.machines[call.ID]; m != nil {
		call.Node, call.Intent = m.Tags[family.TagNode], m.Tags[family.TagIntent]
	}
	c.calls = append(c.calls, call)
	if err := c.throttle.admit(time.Now()); err != nil {
		c.mu.Unlock()
		return none, err
	}
	o := c.match(call)
	delay := c.delays[call.Verb] + o.Delay
	c.mu.Unlock()

	if err := wait(ctx, delay); err != nil {
		return none, err
	}
	if o.Err != nil && !o.Happens {
		return none, o.Err
	}
	v, err := none, error(nil)
	if !o.Hangs || o.Happens {
		c.mu.Lock()
		before := c.serial
		v, err = effect()
		for id := before + 1; id <= c.serial; id++ {
			if m := c.machines[machineID(id)]; m != nil {
				m.made = m.made.Add(o.Late)
			}
		}
		c.mu.Unlock()
	}
	if o.Hangs {
		<-ctx.Done()
		return none, ctx.Err()
	}
	if o.Err != nil {
		return none, o.Err
	}
	return v, err
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
