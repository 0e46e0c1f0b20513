package terminal

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/sshaccess"
)

// Open asks for a terminal.
type Open struct {
	Cluster string
	Node    string
	ID      string // of a terminal to continue; "": a new one
	Run     string // of the connection that the client has seen
	From    int64  // how many bytes of it
	Size    family.TerminalSize
	// Announced is that the user knows that the terminal may be recorded.
	Announced bool
}

// Client is someone's view of a terminal. Close it.
type Client struct {
	s *Service
	x *session

	at     int64
	old    int64 // what was shown before it came ends here
	closed chan struct{}
}

// OpenTerminal opens a terminal, or continues one of the actor's. It's for those who may use the cluster, and each is in the audit log. ENotFound where the
// actor has no such cluster, node or terminal; EConflict where there is no machine, or the terminal has ended; ETransient where the node can't be
// reached; ERateLimit where too many are open.
func (s *Service) OpenTerminal(ctx context.Context, actor app.Actor, o Open) (*Client, error) {
	p, err := s.Nodes.Find(ctx, actor, "OpenTerminal", o.Cluster, o.Node)
	if err != nil {
		return nil, err
	}
	o.Size = checkSize(o.Size)
	if o.ID == "" {
		return s.openNew(ctx, actor, p, o)
	}
	t, err := s.Store.Terminal(ctx, actor.Tenant, o.ID)
	if err != nil || t.User != actor.Name() || t.Cluster != p.Cluster.ID || t.Node != p.Node.Name {
		return nil, app.Errorf(app.ENotFound, "You have no such terminal.")
	}
	if !t.Open() {
		return nil, ended(t)
	}
	x, begun, err := s.turn(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	if x != nil {
		x.mu.Lock()
		x.actor = actor // as of today: who may is checked again and again
		x.mu.Unlock()
		c, err := s.client(x, o)
		if err == nil {
			_ = x.term.Resize(o.Size)
		}
		return c, err
	}
	defer begun()
	opened, err := s.room(actor)
	if err != nil {
		return nil, err
	}
	defer opened()
	t.Size = o.Size
	if x, err = s.start(ctx, actor, p, t, true); err != nil {
		if app.AsError(err).Reason == "not_kept" {
			_ = s.Store.EndTerminal(ctx, actor, t.ID, "", s.Now())
		}
		return nil, err
	}
	return s.serve(x, o)
}

// turn returns the session of a terminal. Where this server has none, one caller at a time continues it, and calls begun then: on the node each
// connection puts an end to the one before.
func (s *Service) turn(ctx context.Context, id string) (x *session, begun func(), err error) {
	for {
		s.mu.Lock()
		x, wait := s.open[id], s.starting[id]
		if x == nil && wait == nil {
			wait = make(chan struct{})
			s.starting[id] = wait
			s.mu.Unlock()
			return nil, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.starting, id)
				close(wait)
			}, nil
		}
		s.mu.Unlock()
		if x != nil {
			return x, nil, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (s *Service) openNew(ctx context.Context, actor app.Actor, p sshaccess.Node, o Open) (*Client, error) {
	opened, err := s.room(actor)
	if err != nil {
		return nil, err
	}
	defer opened()
	set, err := s.Recordings.TerminalSettings(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	if set.Record && !o.Announced {
		return nil, &app.Error{Code: app.EConflict, Reason: "announce", Message: "Terminals here are recorded.",
			Hint: "Everything that is shown on the screen is kept for " + humanize.Count(set.KeepDays, "day") + ". You and the admins of your tenant can play it."}
	}
	if set.StepUp {
		if err := actor.MustStepUp(); err != nil {
			return nil, err
		}
	}
	t := Terminal{Recorded: set.Record, ID: strings.ToLower(rand.Text()), Tenant: actor.Tenant, Cluster: p.Cluster.ID, Node: p.Node.Name,
		User: actor.Name(), OpenedAt: s.Now(), Size: o.Size}
	x, err := s.start(ctx, actor, p, t, false)
	if err != nil {
		return nil, err
	}
	if err := s.Store.AddTerminal(ctx, actor, x.Terminal); err != nil {
		_ = x.term.Close()
		_ = x.conn.Close()
		return nil, err
	}
	return s.serve(x, o)
}

// owner is who has terminals.
type owner struct{ tenant, user string }

// room refuses another terminal to a user who has as many as one may.
func room(open int) error {
	if open < mostOfUser {
		return nil
	}
	return &app.Error{Code: app.ERateLimit, RetryAfter: time.Minute, Message: "You have 20 open terminals, which is the limit.",
		Hint: "Close one that you no longer need."}
}

// room refuses more terminals than a user or a server may have. It counts one more until opened is called.
func (s *Service) room(actor app.Actor) (opened func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who := owner{actor.Tenant, actor.Name()}
	mine, all := s.opening[who], len(s.open)
	for _, n := range s.opening {
		all += n
	}
	for _, x := range s.open {
		if x.Tenant == who.tenant && x.User == who.user {
			mine++
		}
	}
	if err := room(mine); err != nil {
		return nil, err
	}
	if all >= mostOpen {
		return nil, &app.Error{Code: app.ERateLimit, RetryAfter: time.Minute, Message: "Too many terminals are open on this server.",
			Hint: "Try again in a few minutes."}
	}
	s.opening[who]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.opening[who]--; s.opening[who] == 0 {
			delete(s.opening, who)
		}
	}, nil
}

// serve starts what runs for a terminal.
func (s *Service) serve(x *session, o Open) (*Client, error) {
	if x.Recorded {
		x.record = s.recorder(x)
	}
	s.mu.Lock()
	s.open[x.ID] = x
	s.mu.Unlock()
	c, err := s.client(x, o)
	go s.pump(x)
	go s.watch(x)
	return c, err
}

func (s *Service) sessionOf(id string) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open[id]
}

func (s *Service) client(x *session, o Open) (*Client, error) {
	c := &Client{s: s, x: x, closed: make(chan struct{})}
	from := int64(0)
	if o.Run == x.run {
		from = max(o.From, 0)
	}
	at, end, ok := x.shown.join(c, from, mostClients)
	if !ok {
		return nil, &app.Error{Code: app.ERateLimit, RetryAfter: time.Minute, Message: "This terminal is open in 10 windows, which is the limit.",
			Hint: "Close one of them."}
	}
	c.at, c.old = at, end
	x.mu.Lock()
	x.left = time.Time{}
	x.mu.Unlock()
	return c, nil
}

// Terminal is what the client looks at.
func (c *Client) Terminal() Terminal { return c.x.Terminal }

// Run names the connection; what it shows counts from 0, and At is how far this client is.
func (c *Client) Run() string { return c.x.run }

// At is how many bytes the client has seen.
func (c *Client) At() int64 { return c.at }

// Old is where what was shown before this client came ends.
func (c *Client) Old() int64 { return c.old }

// Kept reports whether the terminal outlives this server.
func (c *Client) Kept() bool { return c.x.keeps }

// Next returns what the terminal shows next, at most that many bytes. It waits until there is something. Where the client is so far behind that what
// follows isn't kept, At jumps by more than what is returned. The error says why the terminal has ended.
func (c *Client) Next(ctx context.Context, most int) ([]byte, error) {
	for {
		p, next, over, wake := c.x.shown.after(c.at, most)
		if len(p) > 0 {
			c.at = next
			c.x.shown.follow(c, next)
			return p, nil
		}
		if over {
			return nil, c.Reason()
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Reason is why the terminal has ended; nil while it's open.
func (c *Client) Reason() error {
	c.x.mu.Lock()
	defer c.x.mu.Unlock()
	if c.x.reason == nil {
		return nil
	}
	return c.x.reason
}

// Write types.
func (c *Client) Write(p []byte) error {
	_, err := c.x.term.Write(p)
	return err
}

// Resize says how large the client's window is.
func (c *Client) Resize(size family.TerminalSize) error {
	size = checkSize(size)
	if c.x.record != nil {
		c.x.record.resize(size)
	}
	return c.x.term.Resize(size)
}

// Quit ends the terminal.
func (c *Client) Quit() { c.s.end(c.x, errClosed) }

// Close leaves the terminal, which waits for a while for someone to come back.
func (c *Client) Close() {
	if c.x.shown.leave(c) == 0 {
		c.x.mu.Lock()
		c.x.left = c.s.Now()
		c.x.mu.Unlock()
	}
}

// Terminals lists terminals of a cluster, or of the tenant: everyone's to admins, their own to others.
func (s *Service) Terminals(ctx context.Context, actor app.Actor, f Filter) ([]Terminal, error) {
	reach, err := actor.Reach("Terminals")
	if err != nil {
		return nil, err
	}
	if f.Cluster != "" {
		c, err := s.Clusters.AuthorizedCluster(ctx, actor, "Terminals", f.Cluster)
		if err != nil {
			return nil, err
		}
		f.Cluster = c.ID
	}
	if reach != app.All {
		f.User = actor.Name()
	}
	return s.Store.Terminals(ctx, actor.Tenant, f)
}

// EndTerminal ends a terminal: one's own, or as an admin anyone's of the tenant. On another server it ends within seconds.
func (s *Service) EndTerminal(ctx context.Context, actor app.Actor, id string) error {
	reach, err := actor.Reach("EndTerminal")
	if err != nil {
		return err
	}
	t, err := s.Store.Terminal(ctx, actor.Tenant, id)
	if err != nil || reach != app.All && t.User != actor.Name() {
		return app.Errorf(app.ENotFound, "There is no such terminal.")
	}
	if err := s.Store.EndTerminal(ctx, actor, id, actor.Name(), s.Now()); err != nil {
		return err
	}
	if x := s.sessionOf(id); x != nil {
		t.EndedBy = actor.Name()
		s.end(x, ended(t))
	} else if t.Open() {
		s.forget(actor, t)
	}
	return nil
}

// forget ends the shell of a terminal that isn't on this server, in the background: where no server has it, nothing else would.
func (s *Service) forget(actor app.Actor, t Terminal) {
	select {
	case s.forgets <- struct{}{}:
	default:
		return // the shell ends when it was left for an hour
	}
	go func() {
		defer func() { <-s.forgets }()
		ctx, cancel := context.WithTimeout(context.Background(), openTime)
		defer cancel()
		p, err := s.Nodes.Find(ctx, actor, "OpenTerminal", t.Cluster, t.Node)
		if err != nil {
			return
		}
		conn, err := s.Nodes.Connect(ctx, actor, p)
		if err != nil {
			return
		}
		defer conn.Close()
		_ = kill(ctx, conn, t)
	}()
}

// Close ends the terminals of this server, which stops. Those that nodes keep can be continued.
func (s *Service) Close() {
	s.mu.Lock()
	var all []*session
	for _, x := range s.open {
		all = append(all, x)
	}
	s.mu.Unlock()
	var ends sync.WaitGroup
	for _, x := range all {
		ends.Go(func() { s.end(x, errStops) })
	}
	ends.Wait()
}
