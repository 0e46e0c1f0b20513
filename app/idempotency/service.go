package idempotency

import (
	"context"
	"time"

	"muster/app"
	"muster/app/cluster"
)

// Store is what Service needs of the database.
type Store interface {
	// BeginOnce takes a key for a request, which the fingerprint tells from others. Nil says: carry it out. What is kept is its answer, and
	// nothing is to be done. It is EInvalid, reason idempotency_key, where the key was used for another request, EConflict, reason
	// in_progress, while that is carried out, and EConflict, reason answer_lost, where it was carried out and no one kept the answer.
	BeginOnce(ctx context.Context, k app.IdempotencyKey, fingerprint []byte, now time.Time) (*app.KeptAnswer, error)
	// EndOnce keeps the answer.
	EndOnce(ctx context.Context, k app.IdempotencyKey, a app.KeptAnswer) error
	// ReleaseOnce forgets a key whose request has changed nothing; where it has, it does nothing.
	ReleaseOnce(ctx context.Context, k app.IdempotencyKey) error
}

// Config is what Service is created from.
type Config struct {
	Store    Store
	Now      func() time.Time
	Clusters *cluster.Finder
}

// Service carries out a request once that is sent twice.
type Service struct {
	Config
}

// New returns Service on top of their needs.
func New(c Config) *Service { return &Service{Config: c} }

// MayRepeat reports whether the actor may be given an answer that is kept: it must be allowed, now, all that was allowed to the one who got
// it first. The account is the same, but a token may have other scopes, the role may have changed, and the cluster may be another's by now.
func (a *Service) MayRepeat(ctx context.Context, actor app.Actor, k app.KeptAnswer) error {
	if err := actor.Authorize("MayRepeat"); err != nil {
		return err
	}
	if len(k.Required) == 0 { // kept by a version that did not note it
		return &app.Error{Code: app.EForbidden, Reason: "answer_kept", Message: "This request was carried out, but its response is no longer available.",
			Hint: "Check the result, such as the new cluster."}
	}
	for _, x := range k.Required {
		if err := a.mayRepeat(ctx, actor, x); err != nil {
			return err
		}
	}
	return nil
}

func (a *Service) mayRepeat(ctx context.Context, actor app.Actor, x app.Allowance) error {
	switch {
	case x.Cluster != "":
		c, err := a.Clusters.FindCluster(ctx, actor, x.Cluster)
		if err != nil || x.UseCase == "" {
			return err
		}
		return actor.MayChange(x.UseCase, c)
	case x.Owner != "":
		return actor.MayTouch(x.UseCase, x.Owner, "the subject of this request")
	}
	return actor.Authorize(x.UseCase)
}

// BeginOnce, EndOnce and ReleaseOnce are those of the store, for the actor's own keys. They ask nothing of the authorisation table: what is
// carried out asks by itself, and before an answer is given again, MayRepeat is to be asked.
func (a *Service) BeginOnce(ctx context.Context, k app.IdempotencyKey, fingerprint []byte) (*app.KeptAnswer, error) {
	if n := len(k.Key); n == 0 || n > app.MaxIdempotencyKey {
		return nil, &app.Error{Code: app.EInvalid, Reason: "idempotency_key", Field: "Idempotency-Key",
			Message: "An idempotency key must have 1 to 255 characters.", Hint: "Use a random UUID."}
	}
	for i := range len(k.Key) {
		if c := k.Key[i]; c < 0x20 || c > 0x7e {
			return nil, &app.Error{Code: app.EInvalid, Reason: "idempotency_key", Field: "Idempotency-Key",
				Message: "An idempotency key must contain only printable ASCII characters.", Hint: "Use a random UUID."}
		}
	}
	return a.Store.BeginOnce(ctx, k, fingerprint, a.Now())
}

// EndOnce keeps the answer of a request; see Store.
func (a *Service) EndOnce(ctx context.Context, k app.IdempotencyKey, answer app.KeptAnswer) error {
	return a.Store.EndOnce(ctx, k, answer)
}

// ReleaseOnce forgets a key whose request has changed nothing; see Store.
func (a *Service) ReleaseOnce(ctx context.Context, k app.IdempotencyKey) error {
	return a.Store.ReleaseOnce(ctx, k)
}
