package app

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Allowance is a use case that an actor was allowed; with an owner, to something of that user's, with a cluster, to that one. With a
// cluster and no use case, the actor could see the cluster.
type Allowance struct {
	UseCase string `json:"use_case"`
	Owner   string `json:"owner,omitempty"`
	Cluster string `json:"cluster,omitempty"`
}

// Allowances are what an actor was allowed since Noting. They may be added to by several goroutines.
type Allowances struct {
	mu  sync.Mutex
	all []Allowance
}

func (n *Allowances) Add(x Allowance) {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.all, x) {
		n.all = append(n.all, x)
	}
}

// List returns them.
func (n *Allowances) List() []Allowance {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// Noting returns the actor for a request whose answer is kept, and what it will have been allowed.
func (a Actor) Noting() (Actor, *Allowances) {
	a.Noted = &Allowances{}
	return a, a.Noted
}

// A program that lost the answer to a request that changes something cannot know whether it was carried out. Where it sent a key of its
// own choice with the request, it may send the same again: what was carried out is not done twice, and the same answer is given.
// The rules are those of the IETF's draft "The Idempotency-Key HTTP Header Field".

// Idempotency limits.
const (
	IdempotencyKeep    = 24 * time.Hour  // for how long a key is known
	IdempotencyHold    = 2 * time.Minute // after which a request is given up for lost that was begun and has no answer
	MaxIdempotencyKey  = 255             // bytes of a key
	MaxIdempotencyKeys = 10_000          // of one user at a time
)

// IdempotencyKey is a key as one user of a tenant chose it.
type IdempotencyKey struct {
	Tenant string
	User   string
	Key    string
}

// KeptAnswer is the answer that a request got.
type KeptAnswer struct {
	Status      int    `json:"status"`
	ContentType string `json:"content_type,omitempty"`
	Body        []byte `json:"body,omitempty"`
	// Required is what the person who asked was allowed, and so what reading the answer requires.
	Required []Allowance `json:"required,omitempty"`
}

type onceKey struct{}

// Once returns a context whose first write notes, in its own transaction, that the request of the key has changed something.
func Once(ctx context.Context, k IdempotencyKey) context.Context {
	return context.WithValue(ctx, onceKey{}, k)
}

// OnceOf returns the key that a context carries.
func OnceOf(ctx context.Context) (k IdempotencyKey, ok bool) {
	k, ok = ctx.Value(onceKey{}).(IdempotencyKey)
	return k, ok
}
