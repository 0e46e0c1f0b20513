package openstack

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/pagination"

	"muster/app"
	"muster/providers/internal/account"
)

// endless is a page that always has another one behind it.
type endless struct{ pagination.PageResult }

func (endless) NextPageURL() (string, error) { return "http://cloud.example/next", nil }
func (endless) IsEmpty() (bool, error)       { return false, nil }
func (endless) GetBody() any                 { return nil }

type always struct{}

func (always) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}, nil
}

func TestPaginationIsBounded(t *testing.T) {
	p := &gophercloud.ProviderClient{HTTPClient: http.Client{Transport: always{}}}
	list := pagination.NewPager(&gophercloud.ServiceClient{ProviderClient: p}, "http://cloud.example/first", func(r pagination.PageResult) pagination.Page { return endless{r} })
	asked := 0
	err := list.EachPage(t.Context(), Bounded(func(context.Context, pagination.Page) (bool, error) { asked++; return true, nil }))
	if app.CodeOf(err) != app.ETransient || asked != account.MaxPages {
		t.Errorf("%d pages, %v", asked, err)
	}
}
