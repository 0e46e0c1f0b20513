package fleet

import (
	"slices"

	"muster/app"
	"muster/app/plugin"
)

func (t *storeTest) plugins() {
	changed, stop := t.Store.Watch(app.PluginsTopic())
	defer stop()
	who := app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleSuperadmin}
	one := plugin.Decision{Name: "muster-provider-lab", SHA256: "ab", ChangedBy: "root", ChangedAt: t.Clock.Now()}
	other := plugin.Decision{Name: "muster-automator-lab", SHA256: string(plugin.Gone), ChangedBy: "root", ChangedAt: t.Clock.Now()}
	for _, d := range []plugin.Decision{one, other} {
		t.Must(t.Store.DecidePlugin(t.Ctx, who, d))
		<-changed
	}
	one.SHA256 = string(plugin.Gone)
	t.Must(t.Store.DecidePlugin(t.Ctx, who, one))
	got, err := t.Store.Plugins(t.Ctx)
	t.Must(err)
	if !slices.EqualFunc(got, []plugin.Decision{other, one}, func(x, y plugin.Decision) bool {
		return x.ChangedAt.Equal(y.ChangedAt) && x.Name == y.Name && x.SHA256 == y.SHA256 && x.ChangedBy == y.ChangedBy
	}) {
		t.Errorf("decided: %+v", got)
	}
}
