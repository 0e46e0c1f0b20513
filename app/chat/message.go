package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"muster/app"
)

// MessageStore keeps what was said, and what is to be.
type MessageStore interface {
	// BeginDM notes that something is being sent that is due and has been tried so often; false where someone else does so. Until
	// another time no one else will.
	BeginDM(ctx context.Context, t DM, now, until time.Time) (bool, error)
	// ChatOnce notes digests of what was said, and reports whether all of them were new. Those from before a time are forgotten.
	ChatOnce(ctx context.Context, keys []string, now, before time.Time) (first bool, err error)
	// ChatDMs returns what is due in a workspace ("" for all), oldest first.
	ChatDMs(ctx context.Context, kind, team string, now time.Time, limit int) ([]DM, error)
	// EndDM notes what happened to it; of what waits, until when.
	EndDM(ctx context.Context, id int64, s DMState, next time.Time) error
	// CollectChatNotices goes through what has happened since it was last asked. It notes what is to be reported to whom: each notice of the
	// kinds to each person of the chat who is linked to an account that it names, of a question also to the members of its groups; and it marks homes as
	// stale whose owners' clusters
	// or requests have changed. A notice of ThreadKinds is noted for the cards of its cluster instead, where there are any that
	// those who read them may see it. What is older than a time is dropped. Several may ask at once; each thing is noted once.
	CollectChatNotices(ctx context.Context, kind string, notices []app.NoticeKind, now, before time.Time) error
	// SaveAsk keeps where an open request was asked for. When it is accepted, a card is made there in the same transaction, and
	// the ask is forgotten when the request ends; one of a request that has ended already is not kept.
	SaveAsk(ctx context.Context, a Ask) error
}

// MessagesConfig is what Messages is created from. Only what says so may be nil.
type MessagesConfig struct {
	Store MessageStore
	Now   func() time.Time
}

// Messages are what people are notified in chat of what they asked for and of what happens, each once.
type Messages struct {
	MessagesConfig
}

// NewMessages returns them on top of what c holds.
func NewMessages(c MessagesConfig) *Messages { return &Messages{MessagesConfig: c} }

const (
	// dmRetention is how long it is known what someone was sent, and how late they are notified at most.
	dmRetention = 14 * 24 * time.Hour
	// chatDMLate is how old a notice may be that is still sent to someone directly.
	chatDMLate = 2 * 24 * time.Hour
	// chatHomeKept is how long a home is kept fresh after it was opened.
	chatHomeKept = 14 * 24 * time.Hour
	// mostChatSteps is how many steps an operation may have whose steps are reported one by one.
	mostChatSteps = 2000
)

// DMState is how far it is to tell someone something.
type DMState string

// The states.
const (
	ChatDMWaiting DMState = "waiting"
	ChatDMSending DMState = "sending" // it was begun, and it is not known whether it got there
	ChatDMSent    DMState = "told"
	ChatDMDropped DMState = "dropped" // it can't be sent, or is too late
)

// DM is a notice that someone is sent directly in a chat.
type DM struct {
	ID           int64
	Kind, Team   string
	Person       string // as the chat knows them there
	Tenant, User string // who they are
	State        DMState
	Tries        int
	BeganAt      time.Time // when it was first sent; zero: never
	// Thread is the message of the channel Person beneath which it is reported; "" where a person is notified directly.
	Thread string
	Notice app.Notice
}

// NoticeKinds are the notices that go directly to the people they name.
var NoticeKinds = []app.NoticeKind{app.NoticeLease, app.NoticeIdle, app.NoticeApproval, app.NoticeCluster, app.NoticeReady, app.NoticeFailed,
	app.NoticeLost, app.NoticeHealth, app.NoticeAlarm, app.NoticeBudget, app.NoticeManualStep}

// ThreadKinds are those of them that are reported beneath the cards of their cluster, for all who read them there; only where it
// has no card its owner is notified directly.
var ThreadKinds = []app.NoticeKind{app.NoticeReady, app.NoticeFailed, app.NoticeLost}

// CollectChatNotices looks through what has happened for what people of a chat are to see.
func (a *Messages) CollectChatNotices(ctx context.Context, kind string) error {
	now := a.Now()
	return a.Store.CollectChatNotices(ctx, kind, NoticeKinds, now, now.Add(-dmRetention))
}

// maxDMs is how many are looked at at once.
const maxDMs = 50

// ChatDMs returns what people of a workspace are to be sent now.
func (a *Messages) ChatDMs(ctx context.Context, kind, team string) ([]DM, error) {
	return a.Store.ChatDMs(ctx, kind, team, a.Now(), maxDMs)
}

// TooLate reports whether it would only confuse the reader.
func (t DM) TooLate(now time.Time) bool { return now.Sub(t.Notice.At) > chatDMLate }

// BeginDM notes that something is being sent, unless someone else does that already.
func (a *Messages) BeginDM(ctx context.Context, t DM, hold time.Duration) (bool, error) {
	now := a.Now()
	return a.Store.BeginDM(ctx, t, now, now.Add(hold))
}

// EndDM notes what happened to it; after is when it is tried again.
func (a *Messages) EndDM(ctx context.Context, id int64, s DMState, after time.Duration) error {
	return a.Store.EndDM(ctx, id, s, a.Now().Add(after))
}

// ChatFirst reports whether something that a chat sent, known by any of these names, comes for the first time, and remembers it:
// chats send again what they believe to be lost, people click twice, and strangers may send again what they have seen.
func (a *Messages) ChatFirst(ctx context.Context, kind string, names ...string) (bool, error) {
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

// Ask is where in a chat a request was asked for.
type Ask struct {
	Kind, Team      string
	Tenant          string
	Request         int64
	Channel, Person string
	At              time.Time
}

// RecordChatAsk has a chat show how far what was requested is, once it is approved.
func (a *Messages) RecordChatAsk(ctx context.Context, c Ask) error {
	c.At = a.Now()
	return a.Store.SaveAsk(ctx, c)
}
