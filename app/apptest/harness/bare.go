package harness

import (
	"testing"

	"muster/app"
	appall "muster/app/all"
	"muster/app/apptest"
	"muster/app/fleet"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/template"
)

// Bare is an app with a store on disk and a clock that is stopped.
type Bare struct {
	*testing.T
	Services *appall.Services
	Store    *store.Store
	Clock    *apptest.Clock
	Catalog  *template.Catalog
	Balance  *fleet.Balancer
}

// Root is a superadmin.
var Root = app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin}

// NewBare opens one; the test closes its store.
func NewBare(t *testing.T) *Bare {
	t.Helper()
	s := storetest.Open(t)
	o := &Bare{T: t, Store: s, Clock: apptest.NewClock(), Catalog: template.NewCatalog()}
	o.Services = appall.New(appall.Config{Store: s, Now: o.Clock.Now, Catalog: func() *template.Catalog { return o.Catalog }})
	o.Balance = &fleet.Balancer{Store: s, Now: o.Clock.Now, Catalogs: o.Services.Catalog, Mono: o.Clock.Now}
	return o
}

func (o *Bare) Must(err error) {
	o.Helper()
	if err != nil {
		o.Fatal(err)
	}
}
