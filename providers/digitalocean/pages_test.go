package digitalocean

import (
	"context"
	"testing"

	"github.com/digitalocean/godo"

	"muster/app"
	"muster/providers/internal/account"
)

func TestPaginationIsBounded(t *testing.T) {
	asked := 0
	_, err := pages(t.Context(), "droplet:read", func(context.Context, *godo.ListOptions) ([]int, *godo.Response, error) {
		asked++
		return []int{1}, &godo.Response{Links: &godo.Links{Pages: &godo.Pages{Next: "https://api.example/?page=2", Last: "https://api.example/?page=2"}}}, nil
	})
	if app.CodeOf(err) != app.ETransient || asked != account.MaxPages {
		t.Errorf("%d pages, %v", asked, err)
	}
}
