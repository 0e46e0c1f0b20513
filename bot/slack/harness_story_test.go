package slack_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	appall "muster/app/all"
	appcluster "muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/policy/cel"
	"muster/app/store"
	"muster/app/store/storetest"
	"muster/app/template"
	"muster/bot/slack"
	"muster/bot/slack/slacktest"
	"muster/cmd/muster/wiring/faces"
	"muster/planner"
	"muster/portal/address"
	"muster/solver"
	"muster/solver/change"
)

const storySecret = "the secret of the harness"

// harness is Muster without machines within a bubble of time: app, store and the face for Slack are real, and steps end when the
// test says so.
type harness struct {
	*testing.T
	app   *appall.Services
	store *store.Store
	slack *slacktest.Slack
	team  *slacktest.Workspace
	ada   *slacktest.User

	socket bool
	mu     sync.Mutex
	server *slack.Server // nil while there is none
	stop   func()

	ended map[string]time.Time // clusters, when their operation did
}

type keys struct{}

func (keys) SignCertificate([]byte, app.CertificateOrder) (app.SignedCertificate, error) {
	return app.SignedCertificate{}, app.Errorf(app.EInternal, "no certificates here")
}

func (keys) NewKey(string) ([]byte, string, error) {
	return []byte("private"), "ssh-ed25519 AAAA test", nil
}

// newHarness begins a harness; file is a database that was made outside of the bubble.
func newHarness(t *testing.T, file string, socket bool) *harness {
	t.Helper()
	h := &harness{T: t, socket: socket, ended: map[string]time.Time{}}
	var err error
	if h.store, err = store.Open(t.Context(), file, make([]byte, store.KeySize)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.store.Close() })
	c := template.NewCatalog()
	c.Providers["cloud"] = &template.ProviderSpec{About: template.About{Name: "cloud"}, Type: "fake"}
	c.Hardware["small"] = &template.HardwareType{About: template.About{Name: "small"}, Providers: map[string]template.Flavor{"cloud": {Flavor: "s", CostPerHour: 0.5, CPU: 2}}}
	c.Images["linux"] = &template.ImageType{About: template.About{Name: "linux"}, Providers: map[string]template.Image{"cloud": {Image: "i", SSHUser: "ubuntu"}}}
	act := &template.ServiceAction{Automator: "shell", Fields: map[string]string{"script": "true"}}
	c.Services["web"] = &template.Service{About: template.About{Name: "web"}, Actions: map[app.Action]*template.ServiceAction{app.ActionInstall: act, app.ActionStart: act}}
	c.Templates["web"] = &template.Template{About: template.About{Name: "web"}, Constraints: template.Constraints{Size: template.SizeRange{Min: 1, Max: 50}},
		Defaults: template.Defaults{Provider: "cloud", Services: []string{"web"}},
		Actions: []template.SavedAction{
			{Name: "backup", Description: "Copies the data.", Run: "/opt/backup.sh",
				Parameters: []template.Parameter{{Name: "keep", Type: template.ParameterInteger, Required: true, Min: "1", Max: "30"}}},
			{Name: "rotate", Run: "/opt/rotate.sh", Approval: true}, {Name: "wipe", Run: "/opt/wipe.sh", Who: template.ActionAdmins}}}
	h.app = appall.New(appall.Config{Store: h.store, Solver: solver.New(), Changer: change.New(), Planner: planner.New(), Keys: keys{}, Policies: cel.New(),
		Catalog: func() *template.Catalog { return c }, Now: time.Now})
	h.slack = slacktest.New(t, slacktest.Config{SigningSecret: storySecret, AppToken: "xapp-story", Base: "http://muster", CommandPath: "/slack/commands", ActionPath: "/slack/actions",
		OptionsPath: "/slack/options", EventsPath: "/slack/events", Socket: socket, Piped: true, Client: slacktest.To(h), WaitTime: 30 * time.Minute, Look: time.Second})
	h.team = h.slack.Workspace("T1").Install("xoxb-story")
	h.start(true)
	t.Cleanup(h.end)
	h.ada = h.person("ada", app.RoleAdmin)
	return h
}

// ServeHTTP is where Slack finds the server of the moment.
func (h *harness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	s := h.server
	h.mu.Unlock()
	if s == nil {
		http.Error(w, "no server", http.StatusBadGateway)
		return
	}
	s.ServeHTTP(w, r)
}

// start begins a server. One of several updates messages.
func (h *harness) start(run bool) {
	c := slack.Config{UseCases: faces.Slack(h.app), Token: "xoxb-story", Tenant: app.DefaultTenant, URL: func() string { return "https://m.test" }, Pages: address.Of, Client: h.slack.HTTP(), Dialer: h.slack.Dialer(),
		Secret: storySecret, Log: slog.New(slog.NewTextHandler(h.Output(), &slog.HandlerOptions{Level: slog.LevelError}))}
	if h.socket {
		c.Secret, c.AppToken = "", "xapp-story"
	}
	s := slack.New(c)
	ctx, stop := context.WithCancel(context.WithoutCancel(h.Context()))
	var wg sync.WaitGroup
	if run {
		wg.Go(func() { s.Maintain(ctx) })
	}
	wg.Go(func() { s.Run(ctx) })
	h.mu.Lock()
	defer h.mu.Unlock()
	h.server, h.stop = s, func() { stop(); wg.Wait(); _ = s.Close() }
}

// end ends the server.
func (h *harness) end() {
	h.mu.Lock()
	stop := h.stop
	h.server, h.stop = nil, func() {}
	h.mu.Unlock()
	stop()
}

// person makes someone with an account, and links both.
func (h *harness) person(name string, role app.Role) *slacktest.User {
	h.Helper()
	if err := h.store.CreateUser(h.Context(), identity.User{Tenant: app.DefaultTenant, Name: name, Role: role, CreatedAt: time.Now()}); err != nil {
		h.Fatal(err)
	}
	// So that cards are shown in channels.
	if err := h.store.SetDefaultVisibility(h.Context(), app.Actor{Tenant: app.DefaultTenant, User: name}, app.VisibleTenant, time.Now()); err != nil {
		h.Fatal(err)
	}
	if h.socket {
		h.slack.Connected(1)
	}
	u := h.team.User(name)
	m := u.In(h.team.Channel("hall")).Says("/muster link").Answer("Open this link within 10 min")
	_, token, _ := strings.Cut(m.Link("Link account"), "token=")
	if _, err := h.store.UseLink(h.Context(), app.Actor{Tenant: app.DefaultTenant, User: name, Role: role}, identity.HashToken(token), time.Now()); err != nil {
		h.Fatal(err)
	}
	return u
}

// work ends up to so many steps; those of clusters that fails says fail for good.
func (h *harness) work(most int, fails func(cluster string) bool) (done int) {
	h.Helper()
	worker := app.WorkerID{Tenant: app.DefaultTenant, Name: "w"}
	for done < most {
		claimed, err := h.store.ClaimSteps(h.Context(), execution.ClaimQuery{Worker: worker, Now: time.Now(), For: execution.ClaimFor, Most: min(most-done, 20)})
		if err != nil {
			h.Fatal(err)
		}
		if len(claimed) == 0 {
			return done
		}
		var ends []execution.Finish
		for _, c := range claimed {
			f := execution.Finish{Fence: app.Fence{Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt}, Now: time.Now()}
			switch c.Step.Action {
			case app.ActionCreate:
				m := family.Machine{ID: "m-" + c.Intent}
				f.Node, f.Seen = &execution.NodeUpdate{Status: app.NodeCreated, Machine: &m}, []app.Seen{fleet.SeenMachine(m, 0.5)}
			case app.ActionConfirm:
				f.Node = &execution.NodeUpdate{Status: app.NodeReady, Machine: &family.Machine{ID: c.Node.MachineID, Addresses: map[string]string{app.AddressBind: "at " + c.Node.MachineID}}}
			case app.ActionDelete:
				f.Node = &execution.NodeUpdate{Status: app.NodeDeleted, Deleted: true}
				if c.Node.MachineID != "" {
					f.Seen = []app.Seen{{Kind: fleet.ResourceMachine, ID: c.Node.MachineID, Deleted: true}}
				}
			case app.ActionRun:
				exit := 0
				if fails != nil && fails(c.Cluster.Name) && c.Node.Name == "n2" {
					exit, f.Err = 3, &app.Error{Code: app.EScript, Message: "exit status 3"}
				}
				f.Exit = &exit
				if err := h.store.AppendLogs(h.Context(), app.DefaultTenant, []app.LogLine{{At: time.Now(),
					Operation: c.Step.Operation, Index: c.Step.Index, Attempt: c.Step.Attempt,
					Stream: family.StreamOut, Text: "said by " + c.Node.Name + " <!channel>"}}); err != nil {
					h.Fatal(err)
				}
			default:
				if fails != nil && fails(c.Cluster.Name) {
					f.Err = &app.Error{Code: app.EScript, Message: "it broke <!channel>"}
				}
			}
			ends = append(ends, f)
		}
		if _, err := h.store.FinishSteps(h.Context(), worker, ends); err != nil {
			h.Fatal(err)
		}
		done += len(ends)
	}
	return done
}

// clusters are all clusters as they are now, by their names.
func (h *harness) clusters() map[string]appcluster.View {
	h.Helper()
	list, err := h.app.Cluster.Views.Clusters(h.Context(), app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleAdmin}, app.ClusterFilter{Limit: 1000})
	if err != nil {
		h.Fatal(err)
	}
	all := map[string]appcluster.View{}
	for _, c := range list {
		v, err := h.app.Cluster.Views.Cluster(h.Context(), app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleAdmin}, c.ID)
		if err != nil {
			h.Fatal(err)
		}
		all[c.Name] = v
	}
	return all
}

// states are all clusters' states, by their names.
func (h *harness) states() map[string]app.ClusterStatus {
	h.Helper()
	list, err := h.app.Cluster.Views.Clusters(h.Context(), app.Actor{Tenant: app.DefaultTenant, User: "root", Role: app.RoleAdmin}, app.ClusterFilter{Limit: 1000})
	if err != nil {
		h.Fatal(err)
	}
	all := map[string]app.ClusterStatus{}
	for _, c := range list {
		all[c.Name] = c.Status
	}
	return all
}

// cards are the messages in all channels that are not beneath another one, by the first word of their titles.
func (h *harness) cards() map[string][]*slacktest.Message {
	all := map[string][]*slacktest.Message{}
	for _, c := range h.team.Channels() {
		for _, m := range c.Messages() {
			if m.Beneath() == "" {
				name, _, _ := strings.Cut(strings.TrimSpace(m.Text()), " ")
				name = strings.TrimSuffix(name, ":")
				all[name] = append(all[name], m)
			}
		}
	}
	return all
}

// left is how many cards are not done with.
func (h *harness) left() int {
	h.Helper()
	list, err := h.app.Chat.Cards.ChatCards(h.Context(), "slack")
	if err != nil {
		h.Fatal(err)
	}
	return len(list)
}

func body(b []byte) io.ReadCloser { return io.NopCloser(bytes.NewReader(b)) }

// database is a file for a harness, made outside of its bubble.
func database(t *testing.T) string { return storetest.File(t) }
