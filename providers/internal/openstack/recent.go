package openstack

import (
	"context"

	"muster/app/family"
	"muster/providers/internal/account"
)

func (o Order) intent() string {
	return o.Tags[family.TagInstallation] + "\x00" + o.Tags[family.TagIntent]
}

// standing returns the server of the intent; nil where there is none. Nova has no key of idempotency that would tell of one that lists lack yet.
func (o Order) standing(ctx context.Context, s *Session, p Pace) (*Server, error) {
	find := func() (*Server, error) { return find(ctx, s, o.Tags) }
	get := func(id string) (*Server, error) {
		one, err := Get(ctx, s, id)
		if Absent(err) || err == nil && one.going() {
			return nil, nil
		}
		return one, err
	}
	return account.Standing(ctx, o.Recent, o.intent(), p.Late, find, get)
}

// keep remembers what came of a call that makes something. One that a token's end has refused made nothing.
func keep(recent *account.Asked, intent, id string, err error, p Pace) {
	if err != nil {
		if Expired(err) {
			return
		}
		id, err = "", Coded(err)
	}
	recent.Keep(intent, id, err, p.Late)
}
