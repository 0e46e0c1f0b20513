package portal

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/build"
	buildpage "muster/portal/build"
	"muster/portal/site"
)

// builds answers everything about builds in one state.
type builds struct {
	site.BuildCalls
	state app.BuildState
}

func (b builds) view(id int64) (build.View, error) {
	return build.View{Build: build.Build{ID: id, State: b.state, Cluster: "web-1"}}, nil
}

func (b builds) IngestBuild(context.Context, string, func(string) string, []byte, string) (build.IntakeResponse, error) {
	return build.IntakeResponse{Build: 7, Token: "mbt_x"}, nil
}

func (b builds) AwaitBuildBy(_ context.Context, k build.Key, _ time.Duration) (build.View, error) {
	return b.view(k.Build)
}

func (b builds) EndBuildBy(_ context.Context, k build.Key) (build.View, error) {
	return b.view(k.Build)
}

func (b builds) ExtendBuildBy(_ context.Context, k build.Key, _ time.Duration) (build.View, error) {
	return b.view(k.Build)
}

// Whatever is asked about a build, the answer says where its cluster can be opened with what was asked by.
func TestAddressesOfABuild(t *testing.T) {
	const open = `"inventory":"/hooks/h1/builds/7/inventory","ssh_key":"/hooks/h1/builds/7/key"`
	for _, tc := range []struct {
		method, path string
		state        app.BuildState
		has, hasNot  string
	}{
		{http.MethodPost, "/hooks/h1", app.BuildWaiting, `"url":"https://muster.example.com/hooks/h1/builds/7"`, "inventory"},
		{http.MethodGet, "/hooks/h1/builds/7", app.BuildReady, open, "/api/"},
		{http.MethodGet, "/hooks/h1/builds/7", app.BuildCreating, `"id":7`, "inventory"},
		{http.MethodPost, "/hooks/h1/builds/7/extend", app.BuildReady, open, "/api/"},
		{http.MethodPost, "/hooks/h1/builds/7/end", app.BuildEnding, `"id":7`, "inventory"},
	} {
		p := New(Config{UseCases: useCases(newFake(time.Now), builds{state: tc.state}), URL: "https://muster.example.com", Version: "1.2.3", Logger: quiet()})
		w := httptest.NewRecorder()
		r := httptest.NewRequest(tc.method, "https://muster.example.com"+tc.path, strings.NewReader("{}"))
		r.Header.Set("Authorization", "Bearer mbt_x")
		p.ServeHTTP(w, r)
		p.Close()
		if b := w.Body.String(); w.Code >= 300 || !strings.Contains(b, tc.has) || strings.Contains(b, tc.hasNot) {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, w.Code, b)
		}
	}
	v, _ := buildpage.APIBuild(builds{state: app.BuildReady}.view(7))
	if v.Inventory != "/api/v1/clusters/web-1/inventory" || v.SSHKey != "/api/v1/clusters/web-1/key" {
		t.Errorf("%q, %q", v.Inventory, v.SSHKey)
	}
}
