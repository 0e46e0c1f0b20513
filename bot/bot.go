package bot

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"muster/app"
)

// Config is what a bot is made of. The use cases, URL and Pages must be set.
type Config struct {
	UseCases
	Tenant   string                   // whose people it answers
	URL      func() string            // where the portal is reached
	Pages    func(app.Subject) string // where below URL a subject has its page
	Currency string                   // of all prices, such as EUR or $; "": plain amounts
	Log      *slog.Logger             // nil: slog.Default()
	Now      func() time.Time         // nil: time.Now
}

// Bot answers people: it finds who asks and which noun's part has the command, the button or the form. Make it with New; it keeps nothing
// between two answers.
type Bot struct {
	*site
	voice    voice // to those whose time zone is not known
	commands []command
	deeds    map[string]deedFunc

	accounts  accounts
	clusters  clusters
	creates   *creates
	requests  requests
	questions questions
	homes     homes
	notices   notices
}

// New makes a bot. It panics without a use case, which is a mistake in wiring.
func New(c Config) *Bot {
	c.UseCases.Check()
	b := &Bot{
		site:      &site{url: c.URL, pages: c.Pages, log: c.Log, now: c.Now},
		voice:     voice{currency: c.Currency},
		accounts:  accounts{people: c.People, tenant: c.Tenant},
		clusters:  clusters{clusters: c.Clusters, activity: c.Activity, deletes: c.Deletes, queues: c.Queues},
		creates:   &creates{catalogs: c.Catalogs, creates: c.Creates, quotas: c.Quotas},
		requests:  requests{requests: c.Requests, clusters: c.Clusters},
		questions: questions{questions: c.Questions},
		homes:     homes{homes: c.Homes, questions: c.Questions, requests: c.Requests, clusters: c.Clusters},
		notices:   notices{leases: c.Leases, requests: c.Requests},
	}
	if b.log == nil {
		b.log = slog.Default()
	}
	if b.now == nil {
		b.now = time.Now
	}
	b.commands, b.deeds = b.join(c.UseCases)
	return b
}

// Person is someone of a chat, who the chat has proved to us.
type Person struct {
	Kind     string // of chat: "slack"
	External string // see app.Identity
	Label    string
	Command  string // by which they call the bot, such as "/muster"
	Team     string // the workspace as app keeps it, where it is another than External says; see app.ChatWorkspace
	Channel  string // where they are; "" where they are in none, as in a home
	Tenant   string // in whose name that place speaks; "" is the bot's own
	Zone     string // in which time zone they are, such as Europe/Berlin; "" where that is not known
}

// Answer is what a person is told, as plain text. Nothing in it is markup: whoever shows it sees to that.
type Answer struct {
	Title   string
	Lines   []string
	Log     []string // lines as a program printed them
	Links   []Link
	Buttons []Button
	// Started are the operations that a card shall follow.
	Started []Started
	// Asked are the requests that wait for approval; once one is approved, a card follows what it asked for.
	Asked []Asked
	Wrong bool // it did not work
	// Beside says that the message with the button that was pressed stays: this is told beside it, to who pressed it. Else
	// it takes the message's place.
	Beside bool
	// Modal is to be opened with the trigger of what was said or pressed, and the rest is not shown then, unless it is too late.
	Modal *Modal
}

// Link leads to a page of the portal.
type Link struct{ Name, URL string }

// Button does something when it is pressed: Value comes back in Press.
type Button struct {
	Name, Value string
	Danger      bool // what it does cannot be undone
	Quiet       bool // not what is most likely wanted
	Fill        bool // within a modal: it calls Fill and not Press
	Confirm     *Confirm
}

// Started is an operation that was begun.
type Started struct {
	Tenant, Cluster string
	Operation       int64
}

// Asked is a request that waits for others.
type Asked struct {
	Tenant  string
	Request int64
}

// request is one thing that someone asks, on its way.
type request struct {
	reader
	person  Person
	actor   app.Actor
	command command
	words   []string // behind the command's own
}

// reader is who an answer is for.
type reader struct {
	voice
	*site
}

// request begins one.
func (b *Bot) request(p Person, who app.Actor) request {
	return request{reader: reader{b.voice.to(p), b.site}, person: p, actor: who}
}

// Say answers what someone typed behind the bot's name.
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

// Press does what stands behind a button of an answer. Whoever presses it needs the same rights as if they had asked themselves.
func (b *Bot) Press(ctx context.Context, p Person, value string) Answer {
	if a, did := b.ofStranger(ctx, p, value); did {
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
