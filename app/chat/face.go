package chat

import (
	"context"
	"slices"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
)

const (
	// chatTellKept is how long it is known what somebody was told, and how late they are told at most.
	chatTellKept = 14 * 24 * time.Hour
	// chatTellLate is how old a notice may be that somebody is still told directly.
	chatTellLate = 2 * 24 * time.Hour
	// chatHomeKept is how long a home is kept fresh after it was opened.
	chatHomeKept = 14 * 24 * time.Hour
	// mostChatSteps is how many steps an operation may have whose steps are told one by one.
	mostChatSteps = 2000
)

// ChatTellState is how far it is to tell somebody something.
type ChatTellState string

// The states.
const (
	ChatTellWaiting ChatTellState = "waiting"
	ChatTellSending ChatTellState = "sending" // it was begun, and it is not known whether it got there
	ChatTellTold    ChatTellState = "told"
	ChatTellDropped ChatTellState = "dropped" // it cannot be told, or is too late
)

// ChatTell is a notice that somebody is to be told directly in a chat.
type ChatTell struct {
	ID           int64
	Kind, Team   string
	Person       string // as the chat knows them there
	Tenant, User string // who they are
	State        ChatTellState
	Tries        int
	BeganAt      time.Time // when it was first sent; zero: never
	// Thread is the message of the channel Person beneath which it is told; "" where a person is told directly.
	Thread string
	Notice app.Notice
}

// ChatHome is somebody's own page in a chat.
type ChatHome struct {
	Kind, Team, Person string
	Tenant, User       string // "" of those who are linked to no account
	Shown              string // a digest of what it shows
	ShownAt, OpenedAt  time.Time
	StaleAt            time.Time // since when something may have changed; zero: nothing has
}

// ChatNoticeKinds are the notices that those whom they name are told directly.
var ChatNoticeKinds = []app.NoticeKind{app.NoticeLease, app.NoticeApproval, app.NoticeCluster, app.NoticeReady, app.NoticeFailed, app.NoticeLost, app.NoticeHealth, app.NoticeAlarm, app.NoticeBudget, app.NoticeQuestion}

// ChatThreadKinds are those of them that are told beneath the cards of their cluster, for all who read them there; only where it
// has no card its owner is told directly.
var ChatThreadKinds = []app.NoticeKind{app.NoticeReady, app.NoticeFailed, app.NoticeLost}

// ChatFaceStore keeps what people are told directly, and which homes are to be kept fresh.
type ChatFaceStore interface {
	// GatherChat goes through what has happened since it was last asked. It notes what is to be told to whom: each notice of the
	// kinds to each person of the chat who is linked to an account that it names, of a question also to the members of its groups; and it marks homes as
	// stale whose owners' clusters
	// or requests have changed. A notice of ChatThreadKinds is noted for the cards of its cluster instead, where there are any that
	// those who read them may see it. What is older than a time is dropped. Several may ask at once; each thing is noted once.
	GatherChat(ctx context.Context, kind string, notices []app.NoticeKind, now, before time.Time) error
	// ChatTells gives what is due in a workspace ("" for all), oldest first.
	ChatTells(ctx context.Context, kind, team string, now time.Time, limit int) ([]ChatTell, error)
	// BeginTell notes that something is being sent that is due and has been tried so often; false where somebody else does so. Until
	// another time nobody else will.
	BeginTell(ctx context.Context, t ChatTell, now, until time.Time) (bool, error)
	// EndTell notes what became of it; of what waits, until when.
	EndTell(ctx context.Context, id int64, s ChatTellState, next time.Time) error
	// SaveHome keeps a home that was shown, and is stale no more if nothing has happened since a time.
	SaveHome(ctx context.Context, h ChatHome, since time.Time) error
	// StaleHomes gives those of a workspace ("" for all) that were opened after a time, the one shown longest ago first.
	StaleHomes(ctx context.Context, kind, team string, opened time.Time, limit int) ([]ChatHome, error)
	// DropHome forgets a home; one that is gone is success.
	DropHome(ctx context.Context, kind, team, person string) error
}

// GatherChat looks through what has happened for what people of a chat are to see.
func (a *Service) GatherChat(ctx context.Context, kind string) error {
	now := a.Now()
	return a.Store.GatherChat(ctx, kind, ChatNoticeKinds, now, now.Add(-chatTellKept))
}

// mostTells is how many are looked at at once.
const mostTells = 50

// ChatTells gives what people of a workspace are to be told now.
func (a *Service) ChatTells(ctx context.Context, kind, team string) ([]ChatTell, error) {
	return a.Store.ChatTells(ctx, kind, team, a.Now(), mostTells)
}

// TooLate tells whether it would only confuse whoever is told.
func (t ChatTell) TooLate(now time.Time) bool { return now.Sub(t.Notice.At) > chatTellLate }

// BeginTell notes that something is being sent, unless somebody else does that already.
func (a *Service) BeginTell(ctx context.Context, t ChatTell, hold time.Duration) (bool, error) {
	now := a.Now()
	return a.Store.BeginTell(ctx, t, now, now.Add(hold))
}

// EndTell notes what became of it; after is when it is tried again.
func (a *Service) EndTell(ctx context.Context, id int64, s ChatTellState, after time.Duration) error {
	return a.Store.EndTell(ctx, id, s, a.Now().Add(after))
}

// HomeShown notes what a home shows, as it was worked out at a time.
func (a *Service) HomeShown(ctx context.Context, h ChatHome, since time.Time) error {
	return a.Store.SaveHome(ctx, h, since)
}

// StaleHomes gives the homes of a workspace that may have changed.
func (a *Service) StaleHomes(ctx context.Context, kind, team string) ([]ChatHome, error) {
	return a.Store.StaleHomes(ctx, kind, team, a.Now().Add(-chatHomeKept), mostTells)
}

// DropHome forgets a home that cannot be shown.
func (a *Service) DropHome(ctx context.Context, h ChatHome) error {
	return a.Store.DropHome(ctx, h.Kind, h.Team, h.Person)
}

// ChatSteps gives the steps that a card's operation is through with, in plan order; none of an operation that has too many to be
// told one by one.
func (a *Service) ChatSteps(ctx context.Context, c ChatCard) ([]app.Step, error) {
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
