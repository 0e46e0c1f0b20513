package bot

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/lease"
	"muster/app/operation"
	"muster/app/plan"
	"muster/app/policy"
	"muster/app/run"
	"muster/app/template"
)

// stub is a Muster of a few clusters that notes what it is asked. What a test does not set panics when it is asked for.
type stub struct {
	unasked
	actor    app.Actor
	unknown  bool
	asked    []cluster.CreateRequest
	updated  []cluster.Update
	leases   []template.LeaseRequest
	reviews  []operation.ReviewRequest
	deleted  []string
	refuse   error
	catalog  *template.Catalog
	resumed  []int64
	undone   []string
	homes    []chat.Home
	outlook  lease.Outlook
	clusters []app.ClusterSummary
	inbox    []cluster.Request
	lines    []app.LogLine
	filters  []cluster.LogFilter
	previews int
	hash     string
	asks     []execution.ManualStep
	answers  []execution.StepAnswer
	actions  []run.Action
	status   app.ClusterStatus // of its cluster; "" is active
	stopped  []int64
	gone     bool // the second node of its cluster
	lone     bool // its run was on the second node only
	later    bool // something was run on its cluster meanwhile
	request  *cluster.Request
	moves    []string // what was done to it
}

func (s *stub) Confirm(_ context.Context, a app.Actor, id int64, hash string) (cluster.Request, error) {
	s.moves = append(s.moves, a.User+" confirms "+hash)
	return cluster.Request{ID: id, Kind: app.OperationCreate, Status: cluster.RequestAccepted, Cluster: "shop-7"}, s.refuse
}

func (s *stub) Withdraw(_ context.Context, a app.Actor, id int64, _ string) (cluster.Request, error) {
	s.moves = append(s.moves, a.User+" withdraws")
	return cluster.Request{ID: id, Kind: app.OperationCreate, Status: cluster.RequestWithdrawn}, s.refuse
}

func (s *stub) ActorOfIdentity(context.Context, string, string) (app.Actor, error) {
	if s.unknown {
		return app.Actor{}, &app.Error{Code: app.EUnauthorized, Reason: "not_linked", Message: "You aren't linked to a Muster account yet."}
	}
	return s.actor, nil
}

func (s *stub) LinkStart(_ context.Context, kind, external, _ string) (app.Subject, error) {
	return app.Subject{Kind: app.SubjectIdentityLink, Query: "token=" + kind + "-" + external}, nil
}

func view(name string) cluster.View {
	return cluster.View{Cluster: app.Cluster{ID: name + "-7", Tenant: "default", Name: name, Owner: "ada", Visibility: app.VisibleTenant, Template: "web", Size: 3, Status: app.ClusterActive, CostPerHour: 0.3, Currency: "USD"},
		Nodes:      []app.Node{{Name: "n1", Status: app.NodeReady}, {Name: "n2", Status: app.NodeReady}, {Name: "n3", Status: app.NodeCreated}},
		Operations: []app.Operation{{ID: 41, Kind: app.OperationCreate, Status: app.OperationRunning, Done: 1, Total: 4, Expected: time.Minute}}}
}

func (s *stub) Cluster(_ context.Context, _ app.Actor, id string) (cluster.View, error) {
	if !strings.HasPrefix(id, "shop") {
		return cluster.View{}, app.Errorf(app.ENotFound, "Cluster %q doesn't exist.", id)
	}
	v := view("shop")
	if strings.Contains(id, "-secret-") {
		v.Visibility = app.VisiblePrivate
	}
	if s.later {
		v.Operations = slices.Insert(v.Operations, 0, app.Operation{ID: 42, Kind: app.OperationRun, Status: app.OperationSucceeded})
	}
	if s.gone {
		v.Nodes = slices.Delete(v.Nodes, 1, 2)
	}
	if v.Status = cmp.Or(s.status, v.Status); v.Status == app.ClusterActive && s.actor.Role != app.RoleViewer {
		v.Actions.Cluster, v.Actions.Nodes = []app.OperationKind{app.OperationRun}, []app.OperationKind{app.OperationRun}
	}
	return v, nil
}

func (s *stub) Ask(_ context.Context, a app.Actor, r cluster.CreateRequest) (cluster.Answer, error) {
	if a.Via != app.ViaSlack {
		panic("the actor does not say where it asks from")
	}
	s.asked = append(s.asked, r)
	v := view("shop")
	return cluster.Answer{Cluster: &v}, s.refuse
}

func (s *stub) ExtendLease(_ context.Context, _ app.Actor, _ string, r template.LeaseRequest) (lease.Outlook, error) {
	s.leases = append(s.leases, r)
	o := s.outlook
	o.Until = o.Until.Add(r.By)
	return o, s.refuse
}

func (s *stub) PreviewUpdate(_ context.Context, _ app.Actor, _ string, m cluster.Update) (cluster.UpdatePreview, error) {
	if m.Kind == app.OperationRun {
		return s.previewRun(m)
	}
	return cluster.UpdatePreview{Kind: m.Kind, Before: cluster.Figures{Nodes: 3, CostPerHour: 0.3, Currency: "USD"}, After: cluster.Figures{Nodes: m.Size, CostPerHour: 0.1 * float64(m.Size), Currency: "USD"},
		Nodes: []cluster.UpdatedNode{{Name: "n4", Change: plan.NodeNew}}, PlanHash: "h1", Duration: 90 * time.Second}, nil
}

func (s *stub) Update(_ context.Context, _ app.Actor, _ string, m cluster.Update) (cluster.UpdateAnswer, error) {
	s.updated = append(s.updated, m)
	if s.request != nil {
		return cluster.UpdateAnswer{Request: s.request}, s.refuse
	}
	v := view("shop")
	return cluster.UpdateAnswer{Cluster: &v, Operation: 41}, s.refuse
}

func (s *stub) DeleteCluster(_ context.Context, _ app.Actor, id string) (cluster.View, error) {
	s.deleted = append(s.deleted, id)
	return view("shop"), s.refuse
}

func (s *stub) Request(_ context.Context, _ app.Actor, id int64) (cluster.Request, error) {
	if s.request != nil {
		return *s.request, nil
	}
	return cluster.Request{ID: id, Kind: app.OperationCreate, Requester: "bob", Status: cluster.RequestWaiting, Spec: cluster.CreateRequest{Name: "big"}, Terms: cluster.Terms{PlanHash: "h2"},
		Approvals: []policy.RequiredApproval{{Policy: "big", Approval: policy.Approval{Count: 1, Group: "ops"}}}}, nil
}

func (s *stub) Review(_ context.Context, _ app.Actor, id int64, v operation.ReviewRequest) (cluster.Request, error) {
	s.reviews = append(s.reviews, v)
	return cluster.Request{ID: id, Kind: app.OperationCreate, Status: cluster.RequestDenied}, s.refuse
}

var ada = Person{Kind: "slack", External: "T1/U1", Command: "/muster"}

func talk(t *testing.T) (checkedBot, *stub) {
	s := &stub{actor: app.Actor{Tenant: "default", User: "ada", Role: app.RoleUser, Groups: []string{"ops"}}, catalog: someCatalog(), actions: someActions(), hash: "h1",
		outlook: lease.Outlook{Cluster: "shop-7", Name: "shop", Owner: "ada", Until: time.Now().Add(time.Hour).Truncate(time.Second)}}
	return checkedBot{New(s.config(slog.New(slog.NewTextHandler(t.Output(), nil))))}, s
}

func (a Answer) text() string { return a.Title + "\n" + strings.Join(a.Lines, "\n") }

func TestWhatIsSaid(t *testing.T) {
	for _, c := range []struct{ say, want string }{
		{"", "Commands"},
		{"help create", "Example: /muster create shop web 3 8h"},
		{"help creat", "Did you mean “/muster create”?"},
		{"HELP", "/muster create [[NAME] TEMPLATE [NODES] [8h]]"},
		{"link", "Open this link within 10 min"},
		{"lst", "Did you mean “/muster list”?"},
		{"frobnicate", "“frobnicate” isn't a command."},
		{"status", "Usage: /muster status NAME"},
		{"status shop", "shop is active"},
		{"status nope", `Cluster "nope" doesn't exist.`},
		{"create", "Slack couldn't open the form."}, // said only where the form could not be opened
		{"create a b c d", "Usage: "},
		{"create web 0", "at least one node"},
		{"create web for ever", `Invalid duration "ever".`},
		{"create web for -4h", "The lease must be longer than 0."},
		{"create web 5 for 8h", "shop: creating"},
		{"extend shop 4h", "Lease of shop extended"},
		{"keep shop", "Use of shop"},
		{"keep shop 2h", "shop is kept"},
		{"keep shop soon", "Invalid duration"},
		{"extend shop soon", "Invalid duration"},
		{"resize shop many", "“many” isn't a valid number of nodes."},
		{"resize shop 5", "Cost: $0.50/h, was $0.30/h."},
		{"grow shop", "shop: Grow from 3 to 4 nodes"},
		{"grow shop 2", "shop: Grow from 3 to 5 nodes"},
		{"shrink shop 3", "must keep at least one"},
		{"shrink shop -1", "“-1” isn't a valid number of nodes."},
		{"grow", "Usage: /muster grow NAME [NODES]"},
		{"add shop", "Usage: /muster add NAME SERVICE…"},
		{"add shop db cache", "Takes about 1 min 30 s."},
		{"stop shop web", "Takes about 1 min 30 s."},
		{"start shop web", "shop: creating"},
		{"repair shop n2", "Takes about 1 min 30 s."},
		{"plan shop", "1 of 4 steps"},
		{"plan web 3", "Quota left: 2 of 5 clusters for the tenant."},
		{"plan nope", `Cluster "nope" doesn't exist.`},
		{"plan", "Usage: /muster plan"},
		{"logs", "Usage: /muster logs NAME [STEP or NODE]"},
		{"logs shop", "The log is empty."},
		{"logs shop n1", "Log of shop, n1"},
		{"logs shop n1.web.instal", "Did you mean “n1.web.install”?"},
		{"orphans", "m-17 at aws – unknown"},
		{"extend shop", "Expires "},
		{"exten shop", "Did you mean “/muster extend”?"},
		{"delete shop", "All data on its 3 nodes will be lost."},
		{"restart shop web", "shop: creating"},
		{"actions", "Usage: /muster actions NAME"},
		{"actions shop", "backup – Copies the database <!channel>. Parameters: keep, mode, full. On nodes with service=db."},
		{"actions shop", "rotate – Rotate. Requires approval."},
		{"actions shop", "wipe – Wipe. For admins."},
		{"run", "Usage: /muster run NAME [ACTION [PARAMETER=VALUE…]]"},
		{"run shop", "Slack couldn't open the form."},
		{"run shop backup", "Slack couldn't open the form."},
		{"run shop backup keep=7", "Runs on 2 nodes: n1 and n2.\nWith keep=7, mode=fast."},
		{"run shop backup keep=99", "is more than 30"},
		{"run shop backup mode=fast", "Backups to keep is required by action backup.\nA whole number from 1 to 30. Type it as keep=VALUE."},
		{"run shop backup keep", "“keep” isn't PARAMETER=VALUE, once for each parameter.\nFor values with spaces, open the form: /muster run shop backup"},
		{"run shop backup keep=1 keep=2", "once for each parameter"},
		{"run shop backup keep=1 kep=1", "Did you mean"},
		{"run shop rotate", "Requires 1 approval from approvers."},
		{"run shop bakcup", "The cluster has no action"},
		{"run shop wipe", "You can't run action wipe.\nOnly admins can run it."},
		{"approve x", "“x” isn't a request number."},
		{"approve 12 fine", "bob wants to create: big"},
		{"deny 12", "Usage: "},
		{"deny 12 too big", "Request 12 is denied"},
		{"list \x00", "control characters"},
		{strings.Repeat("x", 3000), "The command is too long"},
	} {
		b, _ := talk(t)
		if got := b.Say(t.Context(), ada, c.say).text(); !strings.Contains(got, c.want) {
			t.Errorf("%.40q is answered\n%s\nwithout %q", c.say, got, c.want)
		}
	}
}

func TestHelpIsGrouped(t *testing.T) {
	b, _ := talk(t)
	all := b.Say(t.Context(), ada, "help").Lines
	for _, g := range groups {
		if !slices.Contains(all, g) {
			t.Errorf("help has no group %s", g)
		}
	}
	for _, c := range b.commands {
		one := b.Say(t.Context(), ada, "help "+c.name)
		if !slices.Contains(groups, c.group) || !strings.Contains(strings.Join(all, "\n"), "/muster "+c.name) || len(one.Lines) > 5 || !strings.HasPrefix(one.Lines[0], "/muster "+c.name) {
			t.Errorf("%s of %q: help shows %q", c.name, c.group, one.Lines)
		}
	}
	for name, list := range examples {
		for _, e := range list {
			if a := b.Say(t.Context(), ada, e); strings.Contains(a.text(), "Usage: ") || strings.Contains(a.text(), "no command") || !strings.HasPrefix(e, name) {
				t.Errorf("the example %q is answered %s", e, a.text())
			}
		}
	}
}

// TestTimesAreInTheReadersZone has one answer said to people in several zones; prices are in the tenant's currency for all of them.
func TestTimesAreInTheReadersZone(t *testing.T) {
	_, s := talk(t)
	s.outlook.Until = time.Date(2026, 7, 1, 22, 30, 0, 0, time.UTC)
	for zone, until := range map[string]string{
		"": "1 Jul 2026 22:30 UTC", "Europe/Berlin": "2 Jul 2026 00:30 CEST", "America/New_York": "1 Jul 2026 18:30 EDT",
		"No/Where": "1 Jul 2026 22:30 UTC", "../../etc/passwd": "1 Jul 2026 22:30 UTC", strings.Repeat("x", 5000): "1 Jul 2026 22:30 UTC",
	} {
		b := checkedBot{New(s.config(slog.New(slog.DiscardHandler)))}
		p := ada
		p.Zone = zone
		if got := b.Say(t.Context(), p, "extend shop").text(); !strings.Contains(got, until) {
			t.Errorf("to %.20q a lease is said %s", zone, got)
		}
		if got := b.Say(t.Context(), p, "status shop").text(); !strings.Contains(got, "$0.30/h") {
			t.Errorf("to %.20q a price is said %s", zone, got)
		}
		if got := b.Say(t.Context(), p, "resize shop 5").text(); !strings.Contains(got, "$0.50/h, was $0.30/h") {
			t.Errorf("to %.20q a change is said %s", zone, got)
		}
	}
}

func TestWhatIsAskedFor(t *testing.T) {
	b, s := talk(t)
	b.Say(t.Context(), ada, "create shop web 5 for 8h")
	b.Say(t.Context(), ada, "create web")
	if len(s.asked) != 2 || s.asked[0].Name != "shop" || s.asked[0].Template != "web" || s.asked[0].Size != 5 || *s.asked[0].Lease != 8*time.Hour ||
		s.asked[1].Template != "web" || s.asked[1].Size != 2 || s.asked[1].Lease != nil {
		t.Errorf("asked: %+v", s.asked)
	}
	// Nothing that cannot be taken back is done by the word alone, and what is done is what was shown.
	resize, del, approve := b.Say(t.Context(), ada, "resize shop 5"), b.Say(t.Context(), ada, "delete shop"), b.Say(t.Context(), ada, "approve 12 fine by me")
	if len(s.updated)+len(s.deleted)+len(s.reviews) != 0 {
		t.Fatalf("done without a button: %+v %v %+v", s.updated, s.deleted, s.reviews)
	}
	a := b.Press(t.Context(), ada, resize.Buttons[0].Value)
	if len(s.updated) != 1 || s.updated[0].Size != 5 || s.updated[0].PlanHash != "h1" || len(a.Started) != 1 || a.Started[0] != (Started{"default", "shop-7", 41}) {
		t.Errorf("resized: %+v, %+v", s.updated, a)
	}
	b.Press(t.Context(), ada, del.Buttons[0].Value)
	b.Press(t.Context(), ada, approve.Buttons[0].Value)
	if len(s.deleted) != 1 || s.deleted[0] != "shop-7" || len(s.reviews) != 1 || s.reviews[0].PlanHash != "h2" || s.reviews[0].Reason != "fine by me" {
		t.Errorf("deleted %v, reviewed %+v", s.deleted, s.reviews)
	}
	for _, bad := range []string{"", "{", `{"do":"drop"}`, "null"} {
		if a := b.Press(t.Context(), ada, bad); !a.Wrong {
			t.Errorf("the button %q does %+v", bad, a)
		}
	}
}

func TestWhoMayNot(t *testing.T) {
	b, s := talk(t)
	s.unknown = true
	for _, a := range []Answer{b.Say(t.Context(), ada, "create web"), b.Press(t.Context(), ada, `{"do":"delete","cluster":"shop-7"}`)} {
		if !a.Wrong || !strings.Contains(a.text(), "Type “/muster link”") {
			t.Errorf("a stranger gets %s", a.text())
		}
	}
	s.unknown, s.actor.Tenant = false, "acme"
	if a := b.Say(t.Context(), ada, "create web"); !strings.Contains(a.text(), "another tenant") {
		t.Errorf("a user of another tenant gets %s", a.text())
	}
	if len(s.asked)+len(s.deleted) != 0 {
		t.Error("it was done all the same")
	}
	s.actor.Tenant, s.refuse = "default", &app.Error{Code: app.EForbidden, Reason: "step_up", Message: "Prove who you are."}
	if a := b.Say(t.Context(), ada, "deny 12 no"); len(a.Links) != 1 || a.Links[0].URL != "https://m.test/requests" {
		t.Errorf("a high risk is answered %+v", a)
	}
	s.refuse = context.DeadlineExceeded
	if a := b.Say(t.Context(), ada, "create web"); a.text() != "That didn't work\ninternal error" {
		t.Errorf("what is ours to know is told: %s", a.text())
	}
}

func FuzzSay(f *testing.F) {
	b := New(new(stub).config(nil))
	for _, c := range b.commands {
		f.Add(c.name + " shop 5 for 8h")
	}
	f.Add("create \u202e web")
	f.Add("approve #12 <!channel>")
	f.Fuzz(func(t *testing.T, text string) {
		q, ok, err := parseCreate(strings.Fields(text))
		if ok && (err != nil || q.Template == "" || q.Size < 0 || q.Lease != nil && *q.Lease <= 0) {
			t.Errorf("%q is read as %+v, %v", text, q, err)
		}
		words, err := split(text)
		if err == nil && len(words) > 0 {
			_, _ = b.find(ada, strings.ToLower(words[0]))
		}
	})
}
