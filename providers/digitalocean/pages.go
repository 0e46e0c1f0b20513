package digitalocean

import (
	"context"

	"github.com/digitalocean/godo"

	"muster/providers/internal/account"
)

// perPage is the most that one page may hold.
const perPage = 200

// restarts is how often a list is read again from its beginning because it changed while it was read.
const restarts = 3

// pages reads all pages of a list. Pages are cut by position, so what is deleted meanwhile moves something from a page that comes into one that was read:
// where the total changes on the way, reading begins again.
func pages[T any](ctx context.Context, scope string, list func(context.Context, *godo.ListOptions) ([]T, *godo.Response, error)) ([]T, error) {
	for again := 0; ; again++ {
		all, steady, err := once(ctx, list)
		if err != nil {
			return nil, failure(scope, err)
		}
		if steady || again == restarts {
			return all, nil
		}
	}
}

func once[T any](ctx context.Context, list func(context.Context, *godo.ListOptions) ([]T, *godo.Response, error)) (all []T, steady bool, err error) {
	steady = true
	total := -1
	for page := 1; page <= account.MaxPages; page++ {
		some, r, err := list(ctx, &godo.ListOptions{Page: page, PerPage: perPage})
		if err != nil {
			return nil, false, err
		}
		all = append(all, some...)
		if r.Meta != nil {
			steady = steady && (total < 0 || total == r.Meta.Total)
			total = r.Meta.Total
		}
		if r.Links == nil || r.Links.IsLastPage() || len(some) == 0 {
			return all, steady, nil
		}
	}
	return nil, false, account.EndlessList("DigitalOcean")
}
