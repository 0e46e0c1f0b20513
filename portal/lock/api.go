package lock

import (
	"context"

	"muster/app/lock"
	"muster/portal/site"
)

type list struct {
	Locks []lock.Item `json:"locks" nullable:"false"`
}

type lockInput struct {
	site.IDInput
	Body lock.Ask
}

type unlockInput struct {
	site.IDInput
	Node string `query:"node" maxLength:"20" doc:"Node to unlock; omitted for the cluster"`
}

func (p *Service) apiList(ctx context.Context, _ *struct{}) (*site.Body[list], error) {
	all, err := p.Locks.Locks(ctx, site.Caller(ctx))
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return &site.Body[list]{Body: list{site.OrEmpty(all)}}, nil
}

func (p *Service) apiLock(ctx context.Context, in *lockInput) (*struct{}, error) {
	return p.answer(ctx, p.Locks.LockCluster(ctx, site.Caller(ctx), in.ID, in.Body))
}

func (p *Service) apiUnlock(ctx context.Context, in *unlockInput) (*struct{}, error) {
	return p.answer(ctx, p.Locks.UnlockCluster(ctx, site.Caller(ctx), in.ID, in.Node))
}

func (p *Service) answer(ctx context.Context, err error) (*struct{}, error) {
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil //nolint:nilnil // no content
}
