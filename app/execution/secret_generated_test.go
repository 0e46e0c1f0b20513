package execution

import (
	"context"
	"regexp"
	"slices"
	"testing"

	"muster/app"
	"muster/app/cluster"
	"muster/app/secret"
	"muster/app/template"
)

func TestGeneratedSecretsDependOnClusterAndName(t *testing.T) {
	set, generated := secret.CutGenerated(app.SecretNames(map[string]any{"a": "${secret:DB}", "b": "x ${secret:generated/redis} y", "c": "${secret:generated/Redis}"}))
	if !slices.Equal(set, []string{"DB", "generated/Redis"}) || !slices.Equal(generated, []string{"generated/redis"}) {
		t.Errorf("set %v, generated %v", set, generated)
	}
	one := secret.GeneratedValues([]byte("key one"), []string{"generated/redis", "generated/sql"})
	again := secret.GeneratedValues([]byte("key one"), []string{"generated/redis"})
	other := secret.GeneratedValues([]byte("key two"), []string{"generated/redis"})
	v := one["generated/redis"]
	if !regexp.MustCompile(`^[a-z2-7]{26}$`).MatchString(v) {
		t.Errorf("a password should need no quotes: %q", v)
	}
	if v != again["generated/redis"] || v == one["generated/sql"] || v == other["generated/redis"] {
		t.Errorf("one and again should be the same, all else other: %v %v %v", one, again, other)
	}
	if got := secret.GeneratedValues(nil, []string{"generated/redis"}); len(got) != 0 {
		t.Errorf("without a key there is no secret, not %v", got)
	}
}

// Who runs the step gets the value, and hears that it may not be shown.
func TestStepsGetGeneratedSecrets(t *testing.T) {
	oc := &operationConfig{secrets: cluster.Secrets{PrivateKey: []byte("key")}, named: []string{"generated/redis"}}
	want := secret.GeneratedValues(oc.secrets.PrivateKey, oc.named)["generated/redis"]
	as := &Assignment{Call: &template.ServiceAction{Fields: map[string]string{"script": "auth ${secret:generated/redis}"}}, Config: map[string]any{"p": "${secret:generated/redis}"}}
	if err := (&Service{}).giveSecrets(context.Background(), as, oc); err != nil {
		t.Fatal(err)
	}
	if as.Call.Fields["script"] != "auth "+want || as.Config["p"] != want || !slices.Equal(as.Secrets, []string{want}) {
		t.Errorf("given %+v, %v, %v", as.Call.Fields, as.Config, as.Secrets)
	}
	check := &Assignment{Health: &template.HealthCheck{}}
	if err := (&Service{}).giveSecrets(context.Background(), check, oc); err != nil || !slices.Equal(check.Secrets, []string{want}) {
		t.Errorf("what a check says may not show it either: %v %v", check.Secrets, err)
	}
	if err := secret.MissingSecret("default", "generated/redis", "Provider p"); app.CodeOf(err) != app.EInvalid {
		t.Errorf("no account can have one: %v", err)
	}
}
