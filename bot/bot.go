package bot

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"muster/app"
)

// Config configures a bot. The use cases, URL and Pages must be set.
type Config struct {
	UseCases
	Tenant string                   // whose users it answers
	URL    func() string            // the portal's address
	Pages  func(app.Subject) string // a subject's path below URL
	Log    *slog.Logger             // nil: slog.Default()
	Now    func() time.Time         // nil: time.Now
}

// Bot answers people: it finds their account and the handler of the command, button or form. Create it with New; it keeps no state
// between answers.
type Bot struct {
	*site
	voice    voice // for people whose time zone is unknown
	commands []command
	actions  map[string]actionFunc

	accounts  accounts
	clusters  clusters
	creates   *creates
	runs      runs
	requests  requests
	questions questions
	homes     homes
	notices   notices
}

// New makes a bot. It panics if a use case is missing, which is a wiring mistake.
func New(c Config) *Bot {
	c.UseCases.Check()
	b := &Bot{
		site:      &site{url: c.URL, pages: c.Pages, log: c.Log, now: c.Now},
		accounts:  accounts{people: c.People, tenant: c.Tenant},
		clusters:  clusters{clusters: c.Clusters, activity: c.Activity, deletes: c.Deletes, queues: c.Queues, runs: c.Runs},
		creates:   &creates{catalogs: c.Catalogs, creates: c.Creates, quotas: c.Quotas},
		runs:      runs{runs: c.Runs, clusters: c.Clusters, updates: updates{c.Clusters, c.Updates}, operations: c.Operations},
		requests:  requests{requests: c.Requests, clusters: c.Clusters},
		questions: questions{questions: c.ManualSteps},
		homes:     homes{homes: c.Homes, questions: c.ManualSteps, requests: c.Requests, clusters: c.Clusters},
		notices:   notices{leases: c.Leases, idle: c.Idle, requests: c.Requests},
	}
	if b.log == nil {
		b.log = slog.Default()
	}
	if b.now == nil {
		b.now = time.Now
	}
	b.commands, b.actions = b.join(c.UseCases)
	return b
}

// Person is a chat user, authenticated by the chat.
type Person struct {
	Kind     string // of chat: "slack"
	External string // see app.Identity
	Label    string
	Command  string // the command they typed, such as "/muster"
	Team     string // the workspace that app knows, if it differs from External's; see app.ChatWorkspace
	Channel  string // "" outside channels, such as in a home
	Tenant   string // the place's tenant; "" is the bot's own
	Zone     string // time zone, such as Europe/Berlin; "" if unknown
}

// Answer is a reply to a person, as plain text without markup; the transport escapes it.
type Answer struct {
	Title   string
	Lines   []string
	Log     []string // lines as a program printed them
	Links   []Link
	Buttons []Button
	// Started are the operations to follow with a card.
	Started []Started
	// Pending are the requests waiting for approval; once one is approved, a card follows its operation.
	Pending []Pending
	Wrong   bool // it failed
	// Beside keeps the message with the pressed button and shows this answer beside it, to the person who pressed. Otherwise the answer
	// replaces the message.
	Beside bool
	// Modal is opened with the trigger of the command or button; the rest of the answer is shown only if that's too late.
	Modal *Modal
}

// Link leads to a page of the portal.
type Link struct{ Name, URL string }

// Button is a button; its Value comes back in Press.
type Button struct {
	Name, Value string
	Danger      bool // can't be undone
	Quiet       bool // not the main choice
	Fill        bool // within a modal: calls Fill instead of Press
	Confirm     *Confirm
}

// Started is an operation that was started.
type Started struct {
	Tenant, Cluster string
	Operation       int64
}

// Pending is a request waiting for approval.
type Pending struct {
	Tenant  string
	Request int64
}

// request is one command, button or form being handled.
type request struct {
	reader
	person  Person
	actor   app.Actor
	command command
	words   []string // the command's arguments
}

// reader is the person an answer is for.
type reader struct {
	voice
	*site
}

// request starts a request.
func (b *Bot) request(p Person, who app.Actor) request {
	return request{reader: reader{b.voice.to(p), b.site}, person: p, actor: who}
}

// Say answers a typed command.
func (b *Bot) Say(ctx context.Context, p Person, text string) Answer {
	words, err := split(text)
	if err != nil {
		return b.sorry(p, err)
	}
	word := "help"
	if len(words) > 0 {
		word, words = strings.ToLower(words[0]), words[1:]
	}
	c, err := b.find(p, word)
	if err != nil {
		return b.sorry(p, err)
	}
	r := b.request(p, app.Actor{})
	r.command, r.words = c, words
	if !c.anybody {
		if r.actor, err = b.accounts.actor(ctx, p); err != nil {
			return b.sorry(p, err)
		}
	}
	a, err := c.do(ctx, r)
	if err != nil {
		return b.sorry(p, err)
	}
	return a
}

// Press handles a button of an answer. The person who presses it needs the same permissions as for the command.
func (b *Bot) Press(ctx context.Context, p Person, value string) Answer {
	if a, did := b.unlinked(ctx, p, value); did {
		return a
	}
	actor, err := b.accounts.actor(ctx, p)
	if err != nil {
		return b.sorry(p, err)
	}
	a, err := b.press(ctx, b.request(p, actor), value)
	if err != nil {
		return b.sorry(p, err)
	}
	return a
}
