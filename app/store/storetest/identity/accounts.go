package identity

import (
	"reflect"

	"muster/app"
	"muster/app/identity"
	"muster/app/store/storetest/kit"
)

func (t *storeTest) people() {
	u := identity.User{Tenant: kit.Tenant, Name: "ada", Role: app.RoleAdmin, PasswordHash: "x", CreatedAt: t.Clock.Now()}
	t.Must(t.Store.CreateUser(t.Ctx, u))
	t.Code(t.Store.CreateUser(t.Ctx, u), app.EConflict)
	got, err := t.Store.User(t.Ctx, kit.Tenant, "ada")
	t.Must(err)
	if !reflect.DeepEqual(got, u) {
		t.Errorf("user %+v, want %+v", got, u)
	}
	_, err = t.Store.User(t.Ctx, "t2", "ada")
	t.Code(err, app.ENotFound)
	laptop := identity.Token{Tenant: kit.Tenant, User: "ada", Label: "laptop", CreatedAt: t.Clock.Now(), CreatedBy: "ada"}
	t.Must(t.Store.ReplaceToken(t.Ctx, u.Actor(), laptop, []byte("one")))
	t.Must(t.Store.ReplaceToken(t.Ctx, u.Actor(), laptop, []byte("two")))
	_, _, err = t.Store.UserOfToken(t.Ctx, []byte("one"))
	t.Code(err, app.ENotFound)
	got, _, err = t.Store.UserOfToken(t.Ctx, []byte("two"))
	t.Must(err)
	if got.Name != "ada" {
		t.Errorf("the token belongs to %q", got.Name)
	}
	t.Must(t.Store.SetPassword(t.Ctx, u.Actor(), "ada", "y", t.Clock.Now()))
	n, err := t.Store.CountUsers(t.Ctx)
	t.Must(err)
	if n != 1 {
		t.Errorf("%d users", n)
	}
	id, err := t.Store.Installation(t.Ctx)
	t.Must(err)
	if id == "" {
		t.Error("the installation has no id")
	}
}
