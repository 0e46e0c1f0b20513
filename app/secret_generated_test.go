package app

import (
	"context"
	"regexp"
	"slices"
	"testing"
)

func TestGeneratedSecretsAreOfTheirClusterAndName(t *testing.T) {
	set, generated := cutGenerated(secretNames(map[string]any{"a": "${secret:DB}", "b": "x ${secret:generated/redis} y", "c": "${secret:generated/Redis}"}))
	if !slices.Equal(set, []string{"DB", "generated/Redis"}) || !slices.Equal(generated, []string{"generated/redis"}) {
		t.Errorf("set %v, generated %v", set, generated)
	}
	one := generatedValues([]byte("key one"), []string{"generated/redis", "generated/sql"})
	again := generatedValues([]byte("key one"), []string{"generated/redis"})
	other := generatedValues([]byte("key two"), []string{"generated/redis"})
	v := one["generated/redis"]
	if !regexp.MustCompile(`^[a-z2-7]{26}$`).MatchString(v) {
		t.Errorf("a password should need no quotes: %q", v)
	}
	if v != again["generated/redis"] || v == one["generated/sql"] || v == other["generated/redis"] {
		t.Errorf("one and again should be the same, all else other: %v %v %v", one, again, other)
	}
	if got := generatedValues(nil, []string{"generated/redis"}); len(got) != 0 {
		t.Errorf("without a key there is no secret, not %v", got)
	}
}

// Who runs the step gets the value, and hears that it may not be shown.
func TestGeneratedSecretsAreGivenToSteps(t *testing.T) {
	oc := &operationConfig{secrets: ClusterSecrets{PrivateKey: []byte("key")}, named: []string{"generated/redis"}}
	want := generatedValues(oc.secrets.PrivateKey, oc.named)["generated/redis"]
	as := &Assignment{Call: &ServiceAction{Fields: map[string]string{"script": "auth ${secret:generated/redis}"}}, Config: map[string]any{"p": "${secret:generated/redis}"}}
	if err := (&App{}).giveSecrets(context.Background(), as, oc); err != nil {
		t.Fatal(err)
	}
	if as.Call.Fields["script"] != "auth "+want || as.Config["p"] != want || !slices.Equal(as.Secrets, []string{want}) {
		t.Errorf("given %+v, %v, %v", as.Call.Fields, as.Config, as.Secrets)
	}
	check := &Assignment{Health: &HealthCheck{}}
	if err := (&App{}).giveSecrets(context.Background(), check, oc); err != nil || !slices.Equal(check.Secrets, []string{want}) {
		t.Errorf("what a check says may not show it either: %v %v", check.Secrets, err)
	}
	if err := missingSecret("default", "generated/redis", "Provider p"); CodeOf(err) != EInvalid {
		t.Errorf("no account can have one: %v", err)
	}
}
