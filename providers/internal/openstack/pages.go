package openstack

import (
	"context"

	"github.com/gophercloud/gophercloud/v2/pagination"

	"muster/providers/internal/account"
)

// Bounded hands pages of a list to each, up to the limit that all clouds' lists have.
func Bounded(each func(context.Context, pagination.Page) (bool, error)) func(context.Context, pagination.Page) (bool, error) {
	pages := 0
	return func(ctx context.Context, page pagination.Page) (bool, error) {
		if pages++; pages > account.MaxPages {
			return false, account.EndlessList("OpenStack")
		}
		return each(ctx, page)
	}
}
