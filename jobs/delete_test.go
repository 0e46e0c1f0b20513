package jobs

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/template"
	"muster/jobs/internal/loop"
	"muster/providers/fake"
)

// A deletion is tried for as long as time can help, ever more seldom, and says until when; what other steps do after a few tries is their own matter.
func TestDeletesKeepTrying(t *testing.T) {
	for name, e := range map[string]app.Error{
		"a broken cloud":       {Code: app.ETransient, Reason: app.ReasonCloudBroken, Message: "OpenStack isn't working properly right now: it responded 503 Service Unavailable"},
		"one out of reach":     {Code: app.ETransient, Reason: app.ReasonCloudBroken, Message: "cloud: delete", Err: errors.New("dial tcp 192.0.2.1:443: connect: connection refused")},
		"no answer in time":    {Code: app.ETimeout, Message: "The server is still being deleted."},
		"over its time limit":  {Code: app.ETimeout, Reason: reasonTimeLimit, Message: "It was not done in time."},
		"a conflict":           {Code: app.EConflict, Message: "The server is locked."},
		"asked too often":      {Code: app.ERateLimit, Message: "Too many requests."},
		"something unknown":    {Code: app.EInternal, Message: "This went wrong."},
		"no room for anything": {Code: app.ECapacity, Message: "There is no room."},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				as := &execution.Assignment{Action: app.ActionDelete, Provider: template.ProviderSpec{About: template.About{Name: "cloud"}}}
				began, last := time.Now(), time.Duration(0)
				until := "retrying until " + began.Add(patience).UTC().Format("15:04 UTC")
				for as.Age < patience {
					as.Tries++
					got := e
					r := retryOf(&got, as)
					if !r.Again || r.Elsewhere || r.After < last/3 || r.After > loop.LongestWait*5/4+1 {
						t.Fatalf("try %d, after %s: %+v, after a pause of %s", as.Tries, as.Age, r, last)
					}
					if text := got.ForPeople(); !strings.HasSuffix(text, "; "+until+".") || strings.Contains(text, "dial tcp") {
						t.Fatalf("people see %q", text)
					}
					if e.Reason == app.ReasonCloudBroken && !strings.Contains(got.Message, " isn't working properly right now") {
						t.Fatalf("people see %q", got.Message)
					}
					last = r.After
					time.Sleep(r.After)
					as.Age = time.Since(began)
				}
				if as.Tries < 100 || as.Tries > 600 {
					t.Errorf("%d tries in %s", as.Tries, patience)
				}
				if got := e; retryOf(&got, as).Again || !strings.Contains(got.Hint, "Resume") {
					t.Errorf("after %s it continues, or doesn't say how to: %q", as.Age, got.Hint)
				}
				as.Action, as.Age, as.Tries = app.ActionCreate, 0, 50
				if got := e; retryOf(&got, as).Again {
					t.Error("a creation continues as long")
				}
			})
		})
	}
}

// What is advised where a deletion is refused can be followed: the request of a deletion is never what has to change.
func TestAdviceForDeletes(t *testing.T) {
	for _, p := range policy {
		for _, age := range []time.Duration{0, patience} {
			e := &app.Error{Code: p.code, Reason: p.reason, Message: "It was refused."}
			retryOf(e, &execution.Assignment{Action: app.ActionDelete, Tries: 1, Age: age})
			if text := strings.ToLower(e.Hint); strings.Contains(text, "has to change") || strings.Contains(text, "request a new") || strings.Contains(text, "roll back and ask") || strings.Contains(text, "catalog") {
				t.Errorf("%s %s: %q", p.code, p.reason, e.Hint)
			}
			if v := ruleOf(e, app.ActionDelete).verdict; (e.Code == app.EInvalid || e.Code == app.ENotFound) && v == never && !strings.Contains(e.Hint, "resume") {
				t.Errorf("%s: nothing is advised that helps: %q", e.Code, e.Hint)
			}
		}
	}
}

// stumbling is a provider that refuses to delete machines that are gone, because of what went with them.
type stumbling struct {
	*fake.Cloud
	err error
}

func (s stumbling) Delete(ctx context.Context, id string) error {
	if _, err := s.Describe(ctx, id); app.CodeOf(err) == app.ENotFound || s.err.(*app.Error).Field == "always" {
		return s.err
	}
	return s.Cloud.Delete(ctx, id)
}

// A machine that is gone by other means is deleted as far as its node is concerned, whatever the provider says of its network interface; one that is
// there is not.
func TestDeleteOfMissingMachine(t *testing.T) {
	for name, c := range map[string]struct {
		err  *app.Error
		gone bool
		done bool
	}{
		"not found":                  {&app.Error{Code: app.ENotFound, Message: "There is no such server."}, true, true},
		"its interface is not found": {&app.Error{Code: app.EInvalid, Message: "The network interface 'eni-1' doesn't exist."}, true, true},
		"in a wrong state":           {&app.Error{Code: app.EConflict, Message: "The instance is terminated."}, true, true},
		"not understood":             {&app.Error{Code: app.EInternal, Message: "unexpected"}, true, true},
		"no credentials":             {&app.Error{Code: app.ECredentials, Message: "Refused."}, true, false},
		"out of order":               {&app.Error{Code: app.ETransient, Message: "Not now."}, true, false},
		"there, and refused":         {&app.Error{Code: app.EInvalid, Message: "It is protected.", Field: "always"}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := stumbling{fake.New("cloud"), c.err}
				spec := family.MachineSpec{Intent: "i1", Tags: map[string]string{family.TagInstallation: "test", family.TagIntent: "i1"}}
				m, err := p.Create(t.Context(), spec)
				if err != nil {
					t.Fatal(err)
				}
				if c.gone {
					p.Vanish(m.ID)
				}
				w := &actions{WorkerConfig: WorkerConfig{Providers: cloudOf{p}, Log: slog.New(slog.DiscardHandler)}}
				var r execution.Report
				err = w.delete(t.Context(), &execution.Assignment{Action: app.ActionDelete, Machine: spec, Node: app.Node{MachineID: m.ID}}, func(app.Stream, string) {}, &r)
				if (err == nil) != c.done {
					t.Errorf("%v", err)
				}
			})
		})
	}
}
