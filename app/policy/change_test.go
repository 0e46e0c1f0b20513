package policy_test

import (
	"encoding/json"
	"testing"
	"time"

	"muster/app/policy"
)

func TestChangesAreReadAsTheyWereWritten(t *testing.T) {
	for _, c := range []struct {
		change policy.Change
		text   string
	}{
		{policy.Change{Policy: "small-dev", Field: policy.FieldSize, From: 8, To: 5, Reason: "Five are enough."}, "Policy small-dev: size 8 → 5. Five are enough."},
		{policy.Change{Policy: "a", Field: policy.FieldLease, From: time.Duration(0), To: 200*24*time.Hour + 1}, "Policy a: lease no expiry → 200 d."},
		{policy.Change{Policy: policy.WebhookSource("cmdb"), Field: policy.FieldHardware, From: "", To: "4711"}, "Webhook cmdb: hardware any → 4711."},
	} {
		b, err := json.Marshal(c.change)
		if err != nil {
			t.Fatal(err)
		}
		var got policy.Change
		if err := json.Unmarshal(b, &got); err != nil || got != c.change {
			t.Errorf("%s is read as %#v, %v", b, got, err)
		}
		if got.Sentence() != c.text {
			t.Errorf("it says %q, not %q", got.Sentence(), c.text)
		}
	}
	// What was kept by earlier versions is of the lease.
	var old policy.Change
	if err := json.Unmarshal([]byte(`{"policy":"short","from":0,"to":14400000000000,"reason":"Enough."}`), &old); err != nil || old.Text() != "lease no expiry → 4 h" {
		t.Errorf("%+v, %v", old, err)
	}
	for _, bad := range []string{`{"from":1.5,"to":2}`, `{"from":null,"to":2}`, `{"from":[],"to":2}`} {
		if err := json.Unmarshal([]byte(bad), &old); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}
