package portal

import (
	"context"
	"net/http"
	"testing"

	"muster/app"
	"muster/app/plugin"
)

// fakePlugins is a fake Muster with one plugin.
type fakePlugins struct {
	fake *fake
	plugin.View
}

func (f *fakePlugins) Plugins(_ context.Context, a app.Actor) ([]plugin.View, error) {
	return []plugin.View{f.View}, a.Authorize("Plugins")
}

func (f *fakePlugins) RegisterPlugin(_ context.Context, a app.Actor, name, sum string) (plugin.View, error) {
	if name != f.Name {
		return plugin.View{}, app.Errorf(app.ENotFound, "Plugin %s doesn't exist.", name)
	}
	f.State, f.Pinned = plugin.Registered, sum
	return f.View, a.Authorize("RegisterPlugin")
}

func (f *fakePlugins) RemovePlugin(_ context.Context, a app.Actor, name string) (plugin.View, error) {
	f.State = plugin.Gone
	return f.View, a.Authorize("RemovePlugin")
}

func TestPluginAPI(t *testing.T) {
	s := visit(t, func(c *Config) {
		f := &fakePlugins{fakeOf(c), plugin.View{Name: "muster-provider-lab", Kind: plugin.Provider, Type: "lab", State: plugin.Unregistered}}
		c.UseCases = useCases(f.fake, f)
	})
	for _, c := range []struct {
		method, path, body, user string
		status                   int
		says                     string
	}{
		{"GET", "/plugins", "", "root", http.StatusOK, `"state":"unregistered"`},
		{"GET", "/plugins", "", "boss", http.StatusForbidden, "superadmin"},
		{"PUT", "/plugins/muster-provider-lab", `{"sha256":"ab"}`, "root", http.StatusOK, `"registered_sha256":"ab"`},
		{"PUT", "/plugins/muster-provider-lap", `{}`, "root", http.StatusNotFound, "doesn't exist"},
		{"DELETE", "/plugins/muster-provider-lab", "", "root", http.StatusOK, `"state":"removed"`},
		{"DELETE", "/plugins/muster-provider-lab", "", "boss", http.StatusForbidden, "superadmin"},
	} {
		a := s.call(c.method, c.path, c.body, "Authorization", "Bearer token-of-"+c.user, "Content-Type", "application/json")
		a.reads(c.status, c.says)
	}
}
