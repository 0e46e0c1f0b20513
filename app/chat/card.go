package chat

import (
	"context"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/catalog"
	"muster/app/cluster"
	appcluster "muster/app/cluster"
)

// CardStore keeps cards, and knows what they show.
type CardStore interface {
	// Cards returns those of a kind with their operations as they are now, oldest first.
	Cards(ctx context.Context, kind string, limit int) ([]Card, error)
	Cluster(ctx context.Context, tenant string, id string) (app.Cluster, error)
	// DropCard forgets a card; one that is gone is success.
	DropCard(ctx context.Context, id int64) error
	Logs(ctx context.Context, tenant string, cluster string, f cluster.LogFilter) ([]app.LogLine, error)
	// SaveCard keeps a card that is not posted yet. One of the same operation in the same channel stays as it is. Those made
	// before a time are dropped.
	SaveCard(ctx context.Context, c Card, before time.Time) error
	// ShownCard notes channel, messages, and what is shown since when. What is notified of the cluster later goes beneath the newest
	// card of a channel.
	ShownCard(ctx context.Context, c Card) error
	Steps(ctx context.Context, tenant string, operation int64) ([]app.Step, error)
	Unfinished(ctx context.Context, tenant string, operation int64) (cluster.Unfinished, error)
	View(ctx context.Context, tenant string, id string) (cluster.View, error)
}

// CardsConfig is what Cards is created from. Only what says so may be nil.
type CardsConfig struct {
	Store    CardStore
	Runs     RunStore
	Now      func() time.Time
	Catalogs *catalog.Service
	Masks    *cluster.Masks
}

// Cards are messages that follow a cluster.
type Cards struct {
	CardsConfig
}

// NewCards returns them on top of what c holds.
func NewCards(c CardsConfig) *Cards { return &Cards{CardsConfig: c} }

const (
	// chatOnceKept is how long what a chat has said is known, which is longer than any chat sends it again.
	chatOnceKept = 24 * time.Hour
	// chatCardKept is how long a card is tended at most. Operations that are paused for longer are looked up where they are.
	chatCardKept = 14 * 24 * time.Hour
	// failureLines are the last lines of a failed step that a card shows.
	failureLines = 6
)

// Card is a message of a chat that shows how far an operation is.
type Card struct {
	ID          int64
	Kind        string // of chat: "slack"
	Team        string // the workspace; "" of cards from before there were several
	Tenant      string
	Cluster     string // its id
	Operation   int64
	Channel     string
	Person      string // who asked, as the chat knows them
	Message     string // the chat's name of the message; "" until it was posted
	Shown       string // the state that it shows; see State
	ShownAt     time.Time
	Thread      string // the message beneath it; "" where there is none
	ThreadState string // the state that the message beneath it shows
	At          time.Time

	// How far the operation is.
	Status      app.OperationStatus
	Done, Total int
	HeldUntil   time.Time
}

// State is what a card has to show, in a few letters: two that are the same look the same.
func (c Card) State() string {
	held := ""
	if !c.HeldUntil.IsZero() {
		held = " held"
	}
	return fmt.Sprintf("%s %d/%d%s", c.Status, c.Done, c.Total, held)
}

// Progress is what a card tells.
type Progress struct {
	Cluster   app.Cluster
	Nodes     []app.Node
	Operation app.Operation
	Run       *Run // nil where the operation runs no command
	Latest    bool // nothing was asked of the cluster after it
	// Ways are the ways on where the cluster has failed with it, the best first.
	Ways []cluster.RecoveryOption
	// Failed is the first step that failed for good, with the last lines that it printed; nil where none has.
	Failed *app.Step
	Lines  []string
}

// FollowInChat has a chat show how far an operation is that was begun from there.
func (a *Cards) FollowInChat(ctx context.Context, c Card) error {
	c.At = a.Now()
	return a.Store.SaveCard(ctx, c, c.At.Add(-chatCardKept))
}

// mostCards is how many cards of a kind are tended at once.
const mostCards = 1000

// ChatCards returns the cards of a kind that are not at their end, oldest first.
func (a *Cards) ChatCards(ctx context.Context, kind string) ([]Card, error) {
	return a.Store.Cards(ctx, kind, mostCards)
}

// ChatShown notes what a card shows now. One that shows the end, and beneath it too, is done with.
func (a *Cards) ChatShown(ctx context.Context, c Card) error {
	if err := a.Store.ShownCard(ctx, c); err != nil || !c.Status.Ended() || c.Shown != c.State() || c.ThreadState != c.Shown {
		return err
	}
	return a.Store.DropCard(ctx, c.ID)
}

// DropCard ends a card that cannot be shown any more.
func (a *Cards) DropCard(ctx context.Context, id int64) error { return a.Store.DropCard(ctx, id) }

// Progress returns what a card tells now. Everyone in the channel sees it, so a card of a private
// cluster is sent only to the person who asked. Values of the configuration are hidden, since not everyone may read it.
func (a *Cards) ChatProgress(ctx context.Context, c Card) (p Progress, err error) {
	v, err := a.Store.View(ctx, c.Tenant, c.Cluster)
	if err != nil {
		return p, err
	}
	m, err := a.Masks.MaskOf(ctx, v.Cluster, false)
	if err != nil {
		return p, err
	}
	cluster.MaskView(m, &v)
	p.Cluster, p.Nodes = v.Cluster, app.Counting(v.Nodes)
	if p.Cluster.Currency, err = a.Catalogs.CurrencyOf(ctx, c.Tenant); err != nil {
		return p, err
	}
	found := false
	for _, o := range v.Operations {
		if o.ID == c.Operation {
			p.Operation, found = o, true
		}
	}
	p.Latest = !slices.ContainsFunc(v.Operations, func(o app.Operation) bool { return o.ID > c.Operation && (!o.StartedAt.IsZero() || !o.Status.Ended()) })
	if !found {
		return p, app.Errorf(app.ENotFound, "Operation %d no longer exists.", c.Operation)
	}
	var open cluster.Unfinished
	if p.Operation.Status == app.OperationFailed || p.Operation.Status == app.OperationCancelled {
		if open, err = a.Store.Unfinished(ctx, c.Tenant, c.Operation); err != nil {
			return p, err
		}
	}
	if p.Latest {
		if v.Problem = cluster.TroubleOf(v, cluster.Definition{}, open); v.Problem != nil {
			p.Ways = v.Problem.Options
		}
	}
	if p.Operation.Kind == app.OperationRun {
		return p, a.addRun(ctx, c, m, open.Failures, &p)
	}
	if p.Operation.Status != app.OperationFailed {
		return p, nil
	}
	if len(open.Failures) > 0 {
		s := open.Failures[0]
		s.Error = m.Hide(s.Error)
		p.Failed = &s
		lines, err := a.Store.Logs(ctx, c.Tenant, c.Cluster, cluster.LogFilter{Operation: c.Operation, Step: s.ID, Tail: true, Limit: failureLines})
		for _, l := range lines {
			p.Lines = append(p.Lines, m.Hide(l.Text))
		}
		return p, err
	}
	return p, nil
}

// ChatSteps returns the steps that a card's operation is through with, in plan order; none of an operation that has too many to be
// told one by one.
func (a *Cards) ChatSteps(ctx context.Context, c Card) ([]app.Step, error) {
	if c.Total > mostChatSteps {
		return nil, nil
	}
	steps, err := a.Store.Steps(ctx, c.Tenant, c.Operation)
	var done []app.Step
	for _, s := range steps {
		if !s.Join && (s.State == app.StepSucceeded || s.State == app.StepFailed) {
			done = append(done, s)
		}
	}
	if err != nil || !slices.ContainsFunc(done, func(s app.Step) bool { return s.Error != "" }) {
		return done, err
	}
	cluster, err := a.Store.Cluster(ctx, c.Tenant, c.Cluster)
	if err != nil {
		return nil, err
	}
	m, err := a.Masks.MaskOf(ctx, cluster, false)
	return appcluster.MaskSteps(m, done), err
}
