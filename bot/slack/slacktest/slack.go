package slacktest

import (
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Config is the app as Slack knows it. What is empty there is not.
type Config struct {
	AppID         string // "A1" where empty
	ClientID      string
	ClientSecret  string
	SigningSecret string
	AppToken      string   // xapp-…, by which Socket Mode is opened
	Command       string   // "/muster" where empty
	Scopes        []string // of the bot; nil: all
	Events        []string // that the app has subscribed to; nil: all

	// The app's request URLs. Base is the prefix of all; the others are paths unless they're complete URLs.
	Base                                             string
	CommandPath, ActionPath, OptionsPath, EventsPath string
	Socket                                           bool // deliver through websockets instead
	Piped                                            bool // whose connections stay within the process: see Dialer

	Client *http.Client     // by which Slack calls the app; nil: http.DefaultClient
	Now    func() time.Time // nil: time.Now
	// WaitTime is how long people wait for what they expect to see; 60 seconds where 0.
	WaitTime time.Duration
	Look     time.Duration // between two looks while they wait; 10 milliseconds where 0
}

// Slack is one Slack with one app in it, whose parts play what an app sees of Slack. Make it with New. All methods may be called from
// several goroutines.
type Slack struct {
	*core
	*rates
	*viewAPI
	*chatAPI
	*conversationAPI
	*userAPI
	*oauthAPI
	*dispatcher
	*sockets
}

// core is what all parts share: the workspaces, the app's settings, the clock, and what was noted.
type core struct {
	t testing.TB
	c Config

	mu         sync.Mutex
	violations []Violation
	expected   map[string]bool
	teams      map[string]*Workspace
	serial     int
	lastTS     time.Time
	calls      []Call
	cut        bool

	done   chan struct{}
	closed bool
	work   sync.WaitGroup
}

// Call is one call of the API.
type Call struct {
	At             time.Time
	Method         string
	Team           string
	Channel, User  string
	Status         int
	Error          string // Slack's word; "" where all was well
	Text           string
	TS             string // of the message that it was about
	ViewID, Answer string
}

// New makes a Slack that ends with the test, which fails for each violation that was not expected.
func New(t testing.TB, c Config) *Slack {
	if c.AppID == "" {
		c.AppID = "A1"
	}
	if c.Command == "" {
		c.Command = "/muster"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Client == nil {
		c.Client = http.DefaultClient
	}
	if c.WaitTime == 0 {
		c.WaitTime = time.Minute
	}
	if c.Look == 0 {
		c.Look = 10 * time.Millisecond
	}
	k := &core{t: t, c: c, expected: map[string]bool{}, teams: map[string]*Workspace{}, done: make(chan struct{})}
	s := &Slack{core: k, rates: newRates(k), viewAPI: &viewAPI{core: k, triggers: map[string]*trigger{}, views: map[string]*View{}},
		conversationAPI: &conversationAPI{k}, userAPI: &userAPI{k}, oauthAPI: &oauthAPI{core: k, codes: map[string]*code{}},
		sockets: &sockets{core: k, tickets: map[string]time.Time{}, waiting: map[string]*waiting{}}}
	s.chatAPI = &chatAPI{core: k, rates: s.rates, views: s.viewAPI, responses: map[string]*response{}}
	s.dispatcher = &dispatcher{core: k, sockets: s.sockets}
	t.Cleanup(func() {
		s.Close()
		for _, v := range s.Violations() {
			t.Errorf("a limit of Slack: %s", v)
		}
	})
	return s
}

// Point tells Slack where the app is, as its settings page would.
func (s *core) Point(base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.c.Base = base
}

// Close ends deliveries and connections. Calling it twice does no harm.
func (s *Slack) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	s.mu.Unlock()
	s.sockets.close()
	s.work.Wait()
}

// Expect says that violations of these rules are meant.
func (s *core) Expect(rules ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range rules {
		s.expected[r] = true
	}
}

// Violations are those that no one expected.
func (s *core) Violations() (list []Violation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.violations {
		if !s.expected[v.Rule] {
			list = append(list, v)
		}
	}
	return list
}

// Broken returns all violations of a rule, expected or not.
func (s *core) Broken(rule string) (list []Violation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.violations {
		if v.Rule == rule {
			list = append(list, v)
		}
	}
	return list
}

// violate notes a violation; the lock is held.
func (s *core) violate(rule, where, format string, args ...any) {
	s.violations = append(s.violations, Violation{Rule: rule, Where: where, What: fmt.Sprintf(format, args...)})
}

func (s *core) now() time.Time { return s.c.Now() }

// next returns an id that was not given before; the lock is held.
func (s *core) next(prefix string) string {
	s.serial++
	return prefix + strconv.Itoa(s.serial)
}

// stamp is the time of a message, which names it within its channel; the lock is held.
func (s *core) stamp() string {
	at := s.now().Truncate(time.Microsecond)
	if !at.After(s.lastTS) {
		at = s.lastTS.Add(time.Microsecond)
	}
	s.lastTS = at
	return fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000)
}

// Wait looks until something is true; it fails the test where that takes longer than WaitTime.
func (s *core) Wait(what string, done func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(s.c.WaitTime); !done(); time.Sleep(s.c.Look) {
		if time.Now().After(deadline) {
			s.t.Fatalf("%s: not within %s\n%s", what, s.c.WaitTime, s.Tell())
		}
	}
}

// Calls are those that the app has made so far.
func (s *core) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Cut breaks all connections between Slack and the app, until Restore. Deliveries are retried as Slack does.
func (s *Slack) Cut() {
	s.mu.Lock()
	s.cut = true
	s.mu.Unlock()
	s.sockets.drop()
}

// Restore ends what Cut began.
func (s *Slack) Restore() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut = false
}
