package store_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/all"
	"muster/app/apptest"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/secret"
	"muster/app/store/storetest"
	apptemplate "muster/app/template"
)

// The value of a secret reaches the step that needs it and no other place; where there is none, the step says how to set it.
func TestSecretsReachOnlyTheStepThatNeedsThem(t *testing.T) {
	ctx := t.Context()
	file := storetest.File(t)
	s := openBy(t, file, keeper(t, 1))
	catalog := apptemplate.NewCatalog()
	catalog.Providers["cloud"] = &apptemplate.ProviderSpec{About: apptemplate.About{Name: "cloud"}, Type: "fake", Settings: map[string]any{"token": "${secret:CLOUD_TOKEN}", "zone": "z"}}
	a := all.New(all.Config{Store: s, Now: time.Now, Catalog: func() *apptemplate.Catalog { return catalog }})
	// The network of a node's addresses is not needed here: the configuration has no macros.
	n := apptest.NewCluster("t", "web", 1, time.Now(), apptest.Chain(1))
	n.Definition.Config = map[string]any{"db": map[string]any{"password": "${secret:DB_PASSWORD}", "port": "80"}}
	n.Definition.Services["a"] = &apptemplate.Service{Actions: map[app.Action]*apptemplate.ServiceAction{app.ActionStart: {Automator: "shell",
		Fields: map[string]string{"script": "start", "key": "x-${secret:API_KEY}-y"}}}}
	n.Definition.Services["b"] = n.Definition.Services["a"]
	if _, err := s.CreateCluster(ctx, n); err != nil {
		t.Fatal(err)
	}
	w := app.WorkerID{Tenant: "t", Name: "w"}
	if as, err := a.Execution.Coordinator.Claim(ctx, w, 1); len(as) > 0 {
		t.Fatalf("a step is handed out without its secret: %+v, %v", as[0], err)
	}
	steps, err := s.Steps(ctx, "t", 1)
	if err != nil || !strings.Contains(steps[0].Error, "needs secret CLOUD_TOKEN") {
		t.Fatalf("the step says %q, %v", steps[0].Error, err)
	}

	values := map[string]string{"CLOUD_TOKEN": "planted-cloud-token", "DB_PASSWORD": "planted-${secret:API_KEY}", "API_KEY": "planted-api-key"}
	for name, v := range values {
		if err := a.Secret.SetSecret(ctx, admin, name, []byte(v)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Secret.SetSecret(ctx, app.Actor{Tenant: "u", User: "eve", Role: app.RoleAdmin}, "CLOUD_TOKEN", []byte("another-tenant")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.ControlOperation(ctx, app.Control{Tenant: "t", Operation: 1, Act: app.ControlResume, Who: "ada", Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	var as *execution.Assignment
	for range 3 {
		list, err := a.Execution.Coordinator.Claim(ctx, w, 1)
		if err != nil || len(list) != 1 {
			t.Fatal(list, err)
		}
		as = list[0]
		if as.Action == app.ActionStart {
			break
		}
		if as.Provider.Settings["token"] != "planted-cloud-token" || as.Provider.Settings["zone"] != "z" {
			t.Errorf("%s has the settings %v", as.StepID, as.Provider.Settings)
		}
		r := execution.Report{Fence: as.Fence, Action: as.Action, Machine: &family.Machine{ID: "m", State: family.MachineRunning}}
		if _, err := a.Execution.Coordinator.Report(ctx, w, []execution.Report{r}); err != nil {
			t.Fatal(err)
		}
	}
	db, _ := as.Config["db"].(map[string]any)
	if as.Call == nil || as.Call.Fields["key"] != "x-planted-api-key-y" || db["password"] != "planted-${secret:API_KEY}" || db["port"] != "80" {
		t.Errorf("the step is given %+v and %v", as.Call, as.Config)
	}
	if strings.Join(as.Secrets, " ") != "planted-${secret:API_KEY} planted-api-key" {
		t.Errorf("its worker is to hide %v", as.Secrets)
	}
	if spec := catalog.Providers["cloud"]; spec.Settings["token"] != "${secret:CLOUD_TOKEN}" {
		t.Error("the catalog itself was changed")
	}

	// No one reads them back, and the files of the database hold nothing of them.
	list, err := a.Secret.Secrets(ctx, admin)
	text, _ := json.Marshal(list)
	if err != nil || len(list) != 3 || list[0].UsedAt == nil || strings.Contains(string(text), "planted") {
		t.Errorf("%s, %v", text, err)
	}
	for _, f := range []string{file, file + "-wal"} {
		if b := readFile(t, f); bytes.Contains(b, []byte("planted-")) || bytes.Contains(b, []byte("another-tenant")) {
			t.Errorf("%s holds a secret", f)
		}
	}
	// One that is needed to give machines back stays; others go.
	if err := a.Secret.DeleteSecret(ctx, admin, "CLOUD_TOKEN"); app.CodeOf(err) != app.EConflict {
		t.Errorf("a secret that a cluster needs to be deleted: %v", err)
	}
	if err := a.Secret.DeleteSecret(ctx, admin, "API_KEY"); err != nil {
		t.Error(err)
	}
	if err := a.Secret.DeleteSecret(ctx, admin, "API_KEY"); app.CodeOf(err) != app.ENotFound {
		t.Error(err)
	}
}

func TestSecretsAreBounded(t *testing.T) {
	s := openBy(t, storetest.File(t), keeper(t, 1))
	a := all.New(all.Config{Store: s, Now: time.Now, Catalog: apptemplate.NewCatalog})
	for name, c := range map[string]struct {
		name  string
		value int
		code  app.Code
	}{
		"small letters": {"token", 5, app.EInvalid}, "a digit first": {"1A", 5, app.EInvalid}, "nothing": {"", 5, app.EInvalid},
		"too long a name": {strings.Repeat("A", 65), 5, app.EInvalid}, "a line end": {"A\n", 5, app.EInvalid},
		"empty": {"A", 0, app.EInvalid}, "too large": {"A", secret.MaxSecret + 1, app.ETooLarge},
		"the largest": {strings.Repeat("A", 64), secret.MaxSecret, ""},
	} {
		if err := a.Secret.SetSecret(t.Context(), admin, c.name, bytes.Repeat([]byte("v"), c.value)); app.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range app.Roles {
		actor := app.Actor{Tenant: "t", User: "x", Role: r}
		may := r == app.RoleSuperadmin || r == app.RoleAdmin
		if _, err := a.Secret.Secrets(t.Context(), actor); (err == nil) != may {
			t.Errorf("%s lists secrets: %v", r, err)
		}
	}
}
