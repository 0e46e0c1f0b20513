package webhook

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"muster/app"
	"muster/app/netguard"
	"muster/app/policy"
	"muster/app/template"
	"muster/app/webhook"
)

type requestHooks []webhook.RequestHook

func (h requestHooks) RequestHooks(context.Context, string, time.Time) ([]webhook.RequestHook, error) {
	return append([]webhook.RequestHook{}, h...), nil
}

// askerOf returns an asker with hooks at a receiver, and the clock that it goes by.
func askerOf(r *receiver, hooks ...webhook.RequestHook) (*Asker, *time.Time) {
	for i := range hooks {
		hooks[i].Tenant, hooks[i].ID, hooks[i].State = "default", int64(i+1), webhook.HookActive
		if r != nil && hooks[i].Address == "" {
			key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.secret, "whsec_"))
			hooks[i].Address, hooks[i].Secrets = r.srv.URL+"/hook", append(hooks[i].Secrets, key)
		}
	}
	now := time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)
	return NewAsker(AskerConfig{Store: requestHooks(hooks), Log: quiet(), Now: func() time.Time { return now },
		Sender: NewSender(SenderConfig{Guard: &netguard.Guard{Allow: loopback}, Version: "test"})}), &now
}

func named(name string) webhook.RequestHook {
	return webhook.RequestHook{Endpoint: webhook.Endpoint{Name: name, When: template.HookRequest}}
}

func question(nodes int, dry bool) policy.WebhookQuestion {
	return policy.WebhookQuestion{DryRun: dry, Facts: policy.Input{Tenant: "default", User: "ada", Kind: app.OperationCreate, Nodes: nodes,
		Hardware: []string{"small"}, Now: time.Now()}}
}

func says(status int, body string) func(http.ResponseWriter, *http.Request, got) {
	return func(w http.ResponseWriter, _ *http.Request, _ got) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestWhatWebhooksAnswerAboutRequests(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   string // of the answer as JSON, without the name
		why    string // of no answer
	}{
		"nothing":                {204, "", `{}`, ""},
		"allow":                  {200, `{"decision": "allow"}`, `{}`, ""},
		"refuse":                 {200, `{"decision": "refuse", "reason": "No ticket"}`, `{"Refused":true,"Reason":"No ticket."}`, ""},
		"refuse without reason":  {200, `{"decision": "refuse"}`, `{"Refused":true,"Reason":"It gave no reason."}`, ""},
		"a veto":                 {422, `{"reason": "not on a Friday"}`, `{"Refused":true,"Reason":"not on a Friday."}`, ""},
		"changes":                {200, `{"set": {"size": 5, "hardware": "small", "provider": ["a", "b"], "lease": "3d"}, "reason": "So."}`, `{"Reason":"So.","Set":{"Size":5,"Hardware":["small"],"Provider":["a","b"],"Lease":259200000000000}}`, ""},
		"approvals":              {200, `{"approval": {"group": "ops"}}`, `{"Approval":{"count":1,"group":"ops"}}`, ""},
		"an unknown field":       {200, `{"set": {"sise": 5}}`, "", `unknown field "sise"`},
		"an unknown decision":    {200, `{"decision": "perhaps"}`, "", "decision must be allow or refuse"},
		"a negative size":        {200, `{"set": {"size": -1}}`, "", "the size must be positive"},
		"a wrong type":           {200, `{"set": {"size": "5"}}`, "", "its response isn't valid"},
		"a lease of nothing":     {200, `{"set": {"lease": "soon"}}`, "", "its response isn't valid"},
		"an empty name":          {200, `{"set": {"hardware": ""}}`, "", "names of 1 to 200 bytes"},
		"approvals by users":     {200, `{"approval": {"role": "user"}}`, "", "can't approve"},
		"no JSON":                {200, `fine`, "", "its response isn't valid"},
		"two values":             {200, `{} {}`, "", "there is text after the JSON"},
		"a huge answer":          {200, `{"reason": "` + strings.Repeat("x", 1<<20) + `"}`, "", "its response is larger than 16 KiB"},
		"a signature it refuses": {401, `wrong signature`, "", "it responded 401 Unauthorized"},
		"a redirect":             {302, ``, "", "it responded 302 Found"},
		"a failure":              {500, `oops`, "", "it responded 500 Internal Server Error"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t, says(c.status, c.body))
			ignored := named("b")
			ignored.OnTimeout = template.HookContinue
			a, _ := askerOf(r, named("a"), ignored)
			answers, err := a.AskAbout(t.Context(), question(3, false))
			if err != nil || len(answers) != 2 {
				t.Fatal(answers, err)
			}
			if c.why != "" {
				if !answers[0].Refused || !strings.Contains(answers[0].Reason, "couldn't be asked, so the request is refused: ") ||
					!strings.Contains(answers[0].Reason, c.why) || strings.Contains(answers[0].Reason, "127.0.0.1") {
					t.Errorf("it is %+v", answers[0])
				}
				if answers[1].Refused || !strings.HasPrefix(answers[1].Ignored, "Ignored, because ") || !strings.Contains(answers[1].Ignored, c.why) {
					t.Errorf("ignored it is %+v", answers[1])
				}
				return
			}
			want := policy.WebhookAnswer{}
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			for i, name := range []string{"a", "b"} {
				want.Webhook = name
				have, _ := json.Marshal(answers[i])
				if wanted, _ := json.Marshal(want); string(have) != string(wanted) {
					t.Errorf("it is %s, not %s", have, wanted)
				}
			}
		})
	}
}

func TestWebhooksThatAreDownOrSlow(t *testing.T) {
	free := make(chan struct{})
	r := newReceiver(t, func(w http.ResponseWriter, req *http.Request, _ got) {
		select {
		case <-free:
		case <-req.Context().Done():
		}
	})
	defer close(free)
	slow := named("slow")
	slow.Timeout = 100 * time.Millisecond
	down, private, stopped := named("down"), named("private"), named("stopped")
	down.Address, private.Address = "http://127.0.0.1:1/", "http://10.1.2.3/"
	a, _ := askerOf(r, down, private, slow)
	a.Store.(requestHooks)[0].OnTimeout = ""
	answers, err := a.AskAbout(t.Context(), question(3, false))
	if err != nil || len(answers) != 3 {
		t.Fatal(answers, err)
	}
	for i, want := range []string{"it can't be reached.", "its address isn't allowed.", "it didn't respond within 100 ms."} {
		if !answers[i].Refused || !strings.HasSuffix(answers[i].Reason, want) {
			t.Errorf("%+v, not %s", answers[i], want)
		}
	}
	b, _ := askerOf(r, stopped)
	b.Store.(requestHooks)[0].State = webhook.HookStopped
	if answers, _ := b.AskAbout(t.Context(), question(3, false)); !strings.HasSuffix(answers[0].Reason, "it was stopped because it had failed too often.") {
		t.Errorf("%+v", answers)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.AskAbout(gone, question(3, false)); err == nil {
		t.Error("who has left gets an answer")
	}
}

func TestPreviewsAskWebhooksOncePerContent(t *testing.T) {
	var calls, broken atomic.Int64
	var last atomic.Value
	r := newReceiver(t, func(w http.ResponseWriter, _ *http.Request, g got) {
		calls.Add(1)
		last.Store(string(g.body))
		if broken.Load() > 0 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	of := named("cmdb")
	of.Operations = []app.OperationKind{app.OperationCreate}
	a, now := askerOf(r, of)
	ask := func(q policy.WebhookQuestion, want int64) {
		t.Helper()
		if _, err := a.AskAbout(t.Context(), q); err != nil || calls.Load() != want {
			t.Fatalf("asked %d times, not %d: %v", calls.Load(), want, err)
		}
	}
	ask(question(3, true), 1)
	if text := last.Load().(string); !strings.Contains(text, `"type":"request.check"`) || !strings.Contains(text, `"dry_run":true`) || !strings.Contains(text, `"nodes":3`) || !strings.Contains(text, `"hook":"cmdb"`) {
		t.Errorf("it was sent %s", text)
	}
	ask(question(3, true), 1)  // the same
	ask(question(4, true), 2)  // another one
	ask(question(3, false), 3) // it is meant
	ask(question(3, false), 4) // and always asked then
	*now = now.Add(answerTime)
	ask(question(3, true), 5)
	other := question(3, true)
	other.Facts.Kind = app.OperationResize // not for it
	ask(other, 5)
	broken.Store(1)
	ask(question(5, true), 6)
	ask(question(6, true), 6) // it has just failed
	ask(question(6, false), 7)
	*now = now.Add(failureTime)
	ask(question(6, true), 8)
}
