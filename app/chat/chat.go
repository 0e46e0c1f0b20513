package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/identity"
)

const (
	// chatOnceKept is how long what a chat has said is known, which is longer than any chat sends it again.
	chatOnceKept = 24 * time.Hour
	// chatCardKept is how long a card is tended at most. Operations that are paused for longer are looked up where they are.
	chatCardKept = 14 * 24 * time.Hour
	// failureLines are the last lines of a failed step that a card shows.
	failureLines = 6
)

// ChatCard is a message of a chat that shows how far an operation is.
type ChatCard struct {
	ID        int64
	Kind      string // of chat: "slack"
	Team      string // the workspace; "" of cards from before there were several
	Tenant    string
	Cluster   string // its id
	Operation int64
	Channel   string
	Person    string // who asked, as the chat knows them
	Message   string // the chat's name of the message; "" until it was posted
	Shown     string // the state that it shows; see State
	ShownAt   time.Time
	Thread    string // the message beneath it; "" where there is none
	Told      string // the state that the message beneath it shows
	At        time.Time

	// How far the operation is.
	Status      app.OperationStatus
	Done, Total int
	HeldUntil   time.Time
}

// State is what a card has to show, in a few letters: two that are the same look the same.
func (c ChatCard) State() string {
	held := ""
	if !c.HeldUntil.IsZero() {
		held = " held"
	}
	return fmt.Sprintf("%s %d/%d%s", c.Status, c.Done, c.Total, held)
}

// ChatProgress is what a card tells.
type ChatProgress struct {
	Cluster   app.Cluster
	Nodes     []app.Node
	Operation app.Operation
	Latest    bool // nothing was asked of the cluster after it
	// Ways are the ways on where the cluster has failed with it, the best first.
	Ways []cluster.Way
	// Failed is the first step that failed for good, with the last lines that it printed; nil where none has.
	Failed *app.Step
	Lines  []string
}

// ChatStore keeps what chats have said and shown.
type ChatStore interface {
	// ChatOnce notes digests of what was said, and tells whether all of them were new. Those from before a time are forgotten.
	ChatOnce(ctx context.Context, keys []string, now, before time.Time) (first bool, err error)
	// SaveCard keeps a card that is not posted yet. One of the same operation in the same channel stays as it is. Those made
	// before a time are dropped.
	SaveCard(ctx context.Context, c ChatCard, before time.Time) error
	// Cards gives those of a kind with their operations as they are now, oldest first.
	Cards(ctx context.Context, kind string, limit int) ([]ChatCard, error)
	// ShownCard notes channel, messages, and what is shown since when. What is told of the cluster later goes beneath the newest
	// card of a channel.
	ShownCard(ctx context.Context, c ChatCard) error
	// DropCard forgets a card; one that is gone is success.
	DropCard(ctx context.Context, id int64) error
	// SaveAsk keeps where an open request was asked for. When it is accepted, a card is made there in the same transaction, and
	// the ask is forgotten when the request ends; one of a request that has ended already is not kept.
	SaveAsk(ctx context.Context, a ChatAsk) error

	ChatWorkspaceStore
	ChatReviewStore
	// LinkByEmail ties an identity that is linked to nobody to the one account of its tenant that has an address from an identity
	// provider, unless it is disabled or of one of the roles, and gives whether it did.
	LinkByEmail(ctx context.Context, who app.Actor, i identity.Identity, email string, except []app.Role) (bool, error)
}

// ChatFirst tells whether something that a chat sent, known by any of these names, comes for the first time, and remembers it:
// chats send again what they believe to be lost, people click twice, and strangers may send again what they have seen.
func (a *Service) ChatFirst(ctx context.Context, kind string, names ...string) (bool, error) {
	var keys []string
	for _, n := range names {
		if n != "" {
			sum := sha256.Sum256([]byte(kind + "\x00" + n))
			keys = append(keys, hex.EncodeToString(sum[:]))
		}
	}
	now := a.Now()
	return a.Store.ChatOnce(ctx, keys, now, now.Add(-chatOnceKept))
}

// FollowInChat has a chat show how far an operation is that was begun from there.
func (a *Service) FollowInChat(ctx context.Context, c ChatCard) error {
	c.At = a.Now()
	return a.Store.SaveCard(ctx, c, c.At.Add(-chatCardKept))
}

// ChatAsk is where in a chat a request was asked for.
type ChatAsk struct {
	Kind, Team      string
	Tenant          string
	Request         int64
	Channel, Person string
	At              time.Time
}

// AskedInChat has a chat show how far what was requested is, once it is approved.
func (a *Service) AskedInChat(ctx context.Context, c ChatAsk) error {
	c.At = a.Now()
	return a.Store.SaveAsk(ctx, c)
}

// mostCards is how many cards of a kind are tended at once.
const mostCards = 1000

// ChatCards gives the cards of a kind that are not at their end, oldest first.
func (a *Service) ChatCards(ctx context.Context, kind string) ([]ChatCard, error) {
	return a.Store.Cards(ctx, kind, mostCards)
}

// ChatShown notes what a card shows now. One that shows the end, and beneath it too, is done with.
func (a *Service) ChatShown(ctx context.Context, c ChatCard) error {
	if err := a.Store.ShownCard(ctx, c); err != nil || !c.Status.Ended() || c.Shown != c.State() || c.Told != c.Shown {
		return err
	}
	return a.Store.DropCard(ctx, c.ID)
}

// DropCard ends a card that cannot be shown any more.
func (a *Service) DropCard(ctx context.Context, id int64) error { return a.Store.DropCard(ctx, id) }

// ChatProgress returns what a card tells now. Everyone in the channel sees it, so a card of a private
// cluster is sent only to the person who asked. Values of the configuration are hidden, since not everyone may read it.
func (a *Service) ChatProgress(ctx context.Context, c ChatCard) (p ChatProgress, err error) {
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
	found := false
	for _, o := range v.Operations {
		if o.ID == c.Operation {
			p.Operation, found = o, true
		}
	}
	p.Latest = !slices.ContainsFunc(v.Operations, func(o app.Operation) bool { return o.ID > c.Operation && (!o.StartedAt.IsZero() || !o.Status.Ended()) })
	if !found {
		return p, app.Errorf(app.ENotFound, "Operation %d is not known any more.", c.Operation)
	}
	var open cluster.Unfinished
	if p.Operation.Status == app.OperationFailed || p.Operation.Status == app.OperationCancelled {
		if open, err = a.Store.Unfinished(ctx, c.Tenant, c.Operation); err != nil {
			return p, err
		}
	}
	if p.Latest {
		if v.Trouble = cluster.TroubleOf(v, cluster.Definition{}, open); v.Trouble != nil {
			p.Ways = v.Trouble.Ways
		}
	}
	if p.Operation.Status != app.OperationFailed {
		return p, nil
	}
	for _, s := range open.Failures {
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
