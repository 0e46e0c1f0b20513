package aws

import (
	"testing"

	"muster/app"
	"muster/providers/internal/account"
)

func TestPaginationIsBounded(t *testing.T) {
	asked := 0
	err := pages(func(*string) (*string, error) { asked++; return ref("more"), nil })
	if app.CodeOf(err) != app.ETransient || asked != account.MaxPages {
		t.Errorf("%d pages, %v", asked, err)
	}
}
