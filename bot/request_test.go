package bot

import (
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/cluster"
	"muster/app/layout"
	"muster/app/policy"
	"muster/app/template"
)

// TestWhatEachRoleSeesOfARequest shows a request in each state to each reader, and tries every button that is offered.
func TestWhatEachRoleSeesOfARequest(t *testing.T) {
	needs := []policy.RequiredApproval{{Policy: "big", Approval: policy.Approval{Count: 2, Group: "ops"}, Approved: []string{"cy"}}}
	risky := []policy.RequiredApproval{{Policy: "big", Approval: policy.Approval{Count: 1, Group: "ops", High: true}}}
	offer := &cluster.Offer{Terms: cluster.Terms{PlanHash: "offered", Lease: 2 * time.Hour, Layout: layout.Layout{Groups: []layout.NodeGroup{{Count: 2}}}}, By: "cy", Reason: "too big"}
	readers := map[string]app.Actor{
		"requester": {Tenant: "default", User: "ada", Role: app.RoleUser},
		"approver":  {Tenant: "default", User: "bob", Role: app.RoleUser, Groups: []string{"ops"}},
		"reviewed":  {Tenant: "default", User: "cy", Role: app.RoleUser, Groups: []string{"ops"}},
		"admin":     {Tenant: "default", User: "root", Role: app.RoleAdmin},
		"other":     {Tenant: "default", User: "dan", Role: app.RoleUser},
	}
	for _, c := range []struct {
		name, reader string
		status       cluster.RequestStatus
		needs        []policy.RequiredApproval
		says         string
		buttons      string // with what each does
	}{
		{"waiting", "requester", cluster.RequestWaiting, needs, "You can't approve your own request.", "Withdraw request: ada withdraws"},
		{"waiting", "approver", cluster.RequestWaiting, needs, "1 of 2 approvals from the group ops: cy", "Approve request: approve h"},
		{"waiting", "reviewed", cluster.RequestWaiting, needs, "Your approval isn't needed for this request.", ""},
		{"waiting", "admin", cluster.RequestWaiting, needs, "Your approval isn't needed for this request.", "Withdraw request: root withdraws"},
		{"waiting", "other", cluster.RequestWaiting, needs, "Your approval isn't needed for this request.", ""},
		{"risky", "approver", cluster.RequestWaiting, risky, "High risk: approve it in the portal", ""},
		{"offered", "requester", cluster.RequestOffered, needs, "cy offers 2 nodes with a lease of 2 h instead: too big", "Accept offer: ada confirms offered; Decline offer: ada withdraws"},
		{"offered", "approver", cluster.RequestOffered, needs, "Waiting for ada to accept or decline the offer.", ""},
		{"offered", "admin", cluster.RequestOffered, needs, "Waiting for ada to accept or decline the offer.", "Withdraw request: root withdraws"},
		{"offered", "other", cluster.RequestOffered, needs, "Waiting for ada to accept or decline the offer.", ""},
		{"denied", "requester", cluster.RequestDenied, needs, "Request 9 is already denied.", ""},
		{"denied", "approver", cluster.RequestDenied, needs, "Request 9 is already denied.", ""},
	} {
		t.Run(c.name+" for "+c.reader, func(t *testing.T) {
			b, s := talk(t)
			s.actor = readers[c.reader]
			s.request = &cluster.Request{ID: 9, Kind: app.OperationCreate, Requester: "ada", Status: c.status, Approvals: c.needs, Terms: cluster.Terms{PlanHash: "h"},
				Reviews: []cluster.Review{{Reviewer: "cy", Decision: cluster.VerdictApprove}}}
			if c.status == cluster.RequestOffered {
				s.request.Offer = offer
			}
			a := b.Say(t.Context(), ada, "approve 9")
			if !strings.Contains(a.text(), c.says) {
				t.Errorf("it says\n%s\nwithout %q", a.text(), c.says)
			}
			// A direct message and the form of a button show the same as the command does.
			notified := b.notices.message(t.Context(), b.request(ada, s.actor), app.Notice{Kind: app.NoticeApproval, Title: "x", Act: app.RequestSubject(9), ActionName: "Confirm", Request: 9})
			send(notified)
			if !slices.EqualFunc(notified.Buttons, a.Buttons, func(x, y Button) bool { return x.Name == y.Name && x.Value == y.Value }) {
				t.Errorf("a message offers %+v, the command %+v", notified.Buttons, a.Buttons)
			}
			var did []string
			for _, button := range a.Buttons {
				s.moves, s.reviews = nil, nil
				if got := b.Press(t.Context(), ada, button.Value); got.Wrong {
					t.Errorf("%s: %+v", button.Name, got)
				}
				for _, v := range s.reviews {
					s.moves = append(s.moves, string(v.Verdict)+" "+v.PlanHash)
				}
				did = append(did, button.Name+": "+strings.Join(s.moves, ", "))
			}
			if got := strings.Join(did, "; "); got != c.buttons {
				t.Errorf("it offers %q, want %q", got, c.buttons)
			}
		})
	}
}

// TestCreateInOneLine types creates without what the template knows by itself.
func TestCreateInOneLine(t *testing.T) {
	for _, c := range []struct {
		say, name string
		size      int
		lease     time.Duration // 0: the template's
	}{
		{"create web", "", 2, 0},
		{"create shop web", "shop", 2, 0},
		{"create db", "", 1, 0},
		{"create web 3 8h", "", 3, 8 * time.Hour},
		{"create shop web 3 1d12h", "shop", 3, 36 * time.Hour},
		{"create web 8h", "", 2, 8 * time.Hour},
		{"create web for 8h", "", 2, 8 * time.Hour},
		{"create shop web 5 for 8h", "shop", 5, 8 * time.Hour},
	} {
		b, s := talk(t)
		if a := b.Say(t.Context(), ada, c.say); a.Wrong || len(s.asked) != 1 {
			t.Errorf("%s: %+v", c.say, a)
			continue
		}
		q := s.asked[0]
		if q.Name != c.name || q.Size != c.size || (q.Lease == nil) != (c.lease == 0) || q.Lease != nil && *q.Lease != c.lease {
			t.Errorf("%s asks for %+v", c.say, q)
		}
		if p := b.Say(t.Context(), ada, strings.Replace(c.say, "create", "plan", 1)); c.name == "" && p.Wrong {
			t.Errorf("plan of %s: %+v", c.say, p)
		}
	}
	// A template that has to ask for more opens its form, with what was typed in it.
	b, s := talk(t)
	s.catalog.Templates["web"].Parameters = append(s.catalog.Templates["web"].Parameters, template.Parameter{Name: "zone", Type: template.ParameterText, Required: true})
	m := b.Say(t.Context(), ada, "create shop web 4 9h").Modal
	if m == nil || len(s.asked) > 0 {
		t.Fatalf("it opens %+v and asks for %+v", m, s.asked)
	}
	lease := fieldOf(t, *m, "lease@")
	if fieldOf(t, *m, "name").Values[0] != "shop" || fieldOf(t, *m, "size@").Values[0] != "4" || lease.Values[0] != "=9h0m0s" || lease.Choices[len(lease.Choices)-1].Name != "9 h" {
		t.Errorf("its fields are %+v", m)
	}
	if d := b.Submit(t.Context(), ada, b.Fill(t.Context(), ada, m.asForm(map[string]string{"p:zone": "b"})).asForm(nil)); d.Answer == nil || s.asked[0].Name != "shop" ||
		s.asked[0].Size != 4 || *s.asked[0].Lease != 9*time.Hour || s.asked[0].Parameters["zone"] != "b" {
		t.Errorf("it is answered %+v after %+v", d, s.asked)
	}
}
