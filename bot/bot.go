package bot

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/chat"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/fleet"
	appoperation "muster/app/operation"
	"muster/app/policy"
	"muster/app/template"
)

// Muster is what the bot asks for. Every method may be called from several goroutines.
type Muster interface {
	// LinkStart gives the path of a one-time link that ties somebody of a chat to an account.
	LinkStart(ctx context.Context, kind, external, label string) (app.Subject, error)
	// ActorOfIdentity gives who somebody of a chat is; EUnauthorized, reason "not_linked", where nobody.
	ActorOfIdentity(ctx context.Context, kind, external string) (app.Actor, error)

	Catalog(ctx context.Context, a app.Actor) (*template.Catalog, error)
	Ask(ctx context.Context, a app.Actor, r appcluster.ClusterRequest) (appcluster.Answer, error)
	Clusters(ctx context.Context, a app.Actor, f app.ClusterFilter) ([]app.ClusterSummary, error)
	Cluster(ctx context.Context, a app.Actor, id string) (appcluster.ClusterView, error)
	DeleteCluster(ctx context.Context, a app.Actor, id string) (appcluster.ClusterView, error)
	ExtendLease(ctx context.Context, a app.Actor, cluster string, r template.LeaseRequest) (appoperation.LeaseOutlook, error)
	PreviewAmend(ctx context.Context, a app.Actor, cluster string, m appcluster.Amendment) (appcluster.AmendPreview, error)
	Amend(ctx context.Context, a app.Actor, cluster string, m appcluster.Amendment) (appcluster.AmendAnswer, error)
	Waiting(ctx context.Context, a app.Actor, cluster string, f execution.WaitingFilter) (execution.Waiting, error)
	Steps(ctx context.Context, a app.Actor, cluster string, operation int64) ([]app.Step, error)
	Request(ctx context.Context, a app.Actor, id int64) (appcluster.Request, error)
	Review(ctx context.Context, a app.Actor, id int64, v appoperation.ReviewRequest) (appcluster.Request, error)
	Requests(ctx context.Context, a app.Actor, f appcluster.RequestFilter) ([]appcluster.Request, error)
	Confirm(ctx context.Context, a app.Actor, id int64, planHash string) (appcluster.Request, error)
	Withdraw(ctx context.Context, a app.Actor, id int64, reason string) (appcluster.Request, error)

	Preview(ctx context.Context, a app.Actor, r appcluster.ClusterRequest) (appcluster.Preview, error)
	QuotaLeft(ctx context.Context, a app.Actor) (policy.QuotaLeft, error)
	Logs(ctx context.Context, a app.Actor, cluster string, f appcluster.LogFilter) ([]app.LogLine, error)
	LeaseOutlook(ctx context.Context, a app.Actor, cluster string) (appoperation.LeaseOutlook, error)
	ResumeOperation(ctx context.Context, a app.Actor, cluster string, operation int64) (appcluster.ClusterView, error)
	PreviewRollBack(ctx context.Context, a app.Actor, cluster string, operation int64) (appoperation.RollBackPreview, error)
	RollBack(ctx context.Context, a app.Actor, cluster string, operation int64, planHash string) (appcluster.ClusterView, error)
	Orphans(ctx context.Context, a app.Actor, gone bool) (fleet.OrphanReport, error)
	Questions(ctx context.Context, a app.Actor, q execution.QuestionQuery) ([]execution.Question, error)
	AnswerStep(ctx context.Context, a app.Actor, cluster string, s execution.StepAnswer) (execution.Question, error)

	// HomeShown notes what somebody's home shows, as it was worked out at a time, and has it kept fresh.
	HomeShown(ctx context.Context, h chat.ChatHome, since time.Time) error
}

var _ Muster = (*all.App)(nil)

// Bot answers people. Make it with New; it keeps nothing between two answers.
type Bot struct {
	voice
	muster Muster
	tenant string
	url    func() string
	pages  func(app.Subject) string
	log    *slog.Logger
	now    func() time.Time
}

// New makes a bot for the people of one tenant. URL gives where the portal is reached, without a slash at its end, and pages where below it
// a subject has its page; currency is that of all prices, such as EUR or $, or "".
func New(m Muster, tenant string, url func() string, pages func(app.Subject) string, currency string, log *slog.Logger) *Bot {
	return &Bot{voice: voice{currency: currency}, muster: m, tenant: tenant, url: url, pages: pages, log: log, now: time.Now}
}

// Person is somebody of a chat, who the chat has proved to us.
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

// request is one thing that somebody asks, on its way.
type request struct {
	person Person
	actor  app.Actor
	words  []string // behind the command's own
}

// Say answers what somebody typed behind the bot's name.
func (b *Bot) Say(ctx context.Context, p Person, text string) Answer {
	b = b.to(p)
	words, err := split(text)
	if err != nil {
		return b.sorry(p, err)
	}
	word := "help"
	if len(words) > 0 {
		word, words = strings.ToLower(words[0]), words[1:]
	}
	c, err := find(p, word)
	if err != nil {
		return b.sorry(p, err)
	}
	r := request{person: p, words: words}
	if !c.anybody {
		if r.actor, err = b.actor(ctx, p); err != nil {
			return b.sorry(p, err)
		}
	}
	a, err := c.do(b, ctx, r)
	if err != nil {
		return b.sorry(p, err)
	}
	return a
}

// Press does what stands behind a button of an answer. Whoever presses it needs the same rights as if they had asked themselves.
func (b *Bot) Press(ctx context.Context, p Person, value string) Answer {
	b = b.to(p)
	if a, did := b.ofStranger(ctx, p, value); did {
		return a
	}
	actor, err := b.actor(ctx, p)
	if err != nil {
		return b.sorry(p, err)
	}
	a, err := b.press(ctx, request{person: p, actor: actor}, value)
	if err != nil {
		return b.sorry(p, err)
	}
	return a
}

// actor gives who somebody is. People of other tenants are turned away, whatever they may do at home: this chat is not theirs.
func (b *Bot) actor(ctx context.Context, p Person) (app.Actor, error) {
	a, err := b.muster.ActorOfIdentity(ctx, p.Kind, p.External)
	if err != nil {
		return a, err
	}
	if tenant := cmp.Or(p.Tenant, b.tenant); a.Tenant != tenant {
		return app.Actor{}, &app.Error{Code: app.EForbidden, Reason: "other_tenant", Message: "You are linked to an account of another tenant than the one of this workspace.",
			Hint: "Remove the link on your account page in the portal, and link an account of this workspace's tenant."}
	}
	a.Via = app.ViaSlack
	return a, nil
}

// sorry tells what went wrong.
func (b *Bot) sorry(p Person, err error) Answer {
	e := app.AsError(err)
	if e.Code == app.EInternal {
		b.log.Error("bot: an answer failed", "person", p.External, "error", err)
	}
	a := Answer{Title: "That did not work", Lines: []string{e.ForPeople()}, Wrong: true}
	hint := e.Hint
	switch {
	case e.Reason == "not_linked":
		a.Title, hint = "Who are you?", "Type “"+p.Command+" link”, open the link, and confirm it there."
	case e.Reason == "step_up":
		hint = "That takes a fresh proof of who you are, which only the portal can ask for."
		a.Links = append(a.Links, Link{Name: "Open the portal", URL: b.Page(app.Subject{Kind: app.SubjectRequests})})
	}
	if hint != "" {
		a.Lines = append(a.Lines, hint)
	}
	return a
}

// Page gives the address of the page of a subject; "" where there is none.
func (b *Bot) Page(s app.Subject) string {
	if path := b.pages(s); path != "" {
		return strings.TrimRight(b.url(), "/") + path
	}
	return ""
}
