package demodata

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/identity"
	"muster/bot"
	"muster/cmd/muster/wiring/faces"
	"muster/portal/address"
)

// linked are the people of a chat in which everyone is one person.
type linked struct {
	bot.People
	who app.Actor
}

func (l linked) ActorOfIdentity(_ context.Context, _, _ string) (app.Actor, error) { return l.who, nil }

var (
	changeLink = regexp.MustCompile(`href="(/clusters/[^"/]+/(?:change|rollback|accept-partial|wake|sleep|delete|cancel)[^"]*)"`)
	nodeRow    = regexp.MustCompile(`(?s)<tr id="node-([^"]+)".*?</tr>`)
)

// Of what a failed cluster offers nothing is refused, whichever way people ask: in the portal, with the API, or in a chat. On a node whose
// machine is gone that's a repair only.
func TestNothingThatIsOfferedIsRefused(t *testing.T) {
	h, site := served(t)
	list, err := h.Services.Cluster.Views.Clusters(t.Context(), h.actor(Admin), app.ClusterFilter{Status: app.ClusterFailed})
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for _, c := range list {
		who := h.actor(c.Owner)
		v, err := h.Services.Cluster.Views.Cluster(t.Context(), who, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		lost += len(v.Problem.Lost)
		t.Run(c.Name, func(t *testing.T) {
			h.portalOffers(t, site, v)
			h.apiOffers(t, who, v)
			h.chatOffers(t, who, v)
		})
	}
	if len(list) < 4 || lost < 2 {
		t.Errorf("there are %d failed clusters with %d lost nodes", len(list), lost)
	}
}

func (h *Instance) portalOffers(t *testing.T, site *Site, v cluster.View) {
	t.Helper()
	visitor, err := site.SignIn(t.Context(), v.Owner)
	if err != nil {
		t.Fatal(err)
	}
	main, err := visitor.Get(t.Context(), "/clusters/"+v.ID)
	if err != nil {
		t.Fatal(err)
	}
	links := changeLink.FindAllSubmatch(main.Body, -1)
	for _, l := range links {
		to := html.UnescapeString(string(l[1]))
		p, err := visitor.Get(t.Context(), to)
		if err != nil {
			t.Fatal(err)
		}
		switch body := string(p.Body); {
		case p.Status != http.StatusOK:
			t.Errorf("the page offers %s, which answers %d", to, p.Status)
		case strings.Contains(to, "/change?") && !strings.Contains(to, "reconfigure") && !strings.Contains(body, `id="do"`) && !strings.Contains(body, `id="nothing"`):
			t.Errorf("the page offers %s, of which nothing comes", to)
		case strings.HasSuffix(to, "kind=repair") && v.Problem.Operation == 0 && !strings.Contains(body, `id="do" class="primary"`):
			t.Errorf("%s warns of replacing machines that are gone", to)
		}
	}
	if len(links) == 0 {
		t.Error("the page offers nothing")
	}
	rows := nodeRow.FindAllSubmatch(main.Body, -1)
	if len(rows) != len(v.Nodes) {
		t.Errorf("the page shows %d of %d nodes", len(rows), len(v.Nodes))
	}
	for _, r := range rows {
		node, offered := string(r[1]), changeLink.FindAllSubmatch(r[0], -1)
		want := len(v.Actions.Nodes)
		if slices.Contains(v.Problem.Lost, node) {
			want = len(v.Actions.LostNodes)
		}
		if len(offered) != want {
			t.Errorf("on %s the page offers %q, %d are wanted", node, offered, want)
		}
	}
}

func (h *Instance) apiOffers(t *testing.T, who app.Actor, v cluster.View) {
	t.Helper()
	_, secret, err := h.Services.Identity.Tokens.CreateToken(t.Context(), who, identity.NewAPIToken{Label: "offers of " + v.Name, Days: 1, Scopes: []app.Scope{app.ScopeRead, app.ScopeCluster}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, body string, into any) (status int, text string) {
		r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1/clusters/"+v.ID+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+secret)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.Portal.ServeHTTP(w, r)
		if into != nil {
			if err := json.NewDecoder(bytes.NewReader(w.Body.Bytes())).Decode(into); err != nil {
				t.Fatal(err)
			}
		}
		return w.Code, w.Body.String()
	}
	var seen cluster.View
	if status, text := ask(http.MethodGet, "", "", &seen); status != http.StatusOK || len(seen.Actions.Cluster) == 0 {
		t.Fatalf("the API answers %d: %.300s", status, text)
	}
	preview := func(k app.OperationKind, node string) {
		m := cluster.Update{Kind: k}
		if node != "" {
			m.Nodes = []string{node}
		}
		if k == app.OperationReconfigure {
			m.Parameters = map[string]any{"workers": 20}
		}
		body, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if status, text := ask(http.MethodPost, "/operations/preview", string(body), nil); status != http.StatusOK {
			t.Errorf("the API offers %s of %q and refuses it with %d: %.300s", k, node, status, text)
		}
	}
	for _, k := range seen.Actions.Cluster {
		preview(k, "")
	}
	for _, n := range seen.Nodes {
		for _, k := range seen.Actions.On(n) {
			preview(k, n.Name)
		}
	}
}

func (h *Instance) chatOffers(t *testing.T, who app.Actor, v cluster.View) {
	t.Helper()
	uses := faces.Bot(h.Services)
	uses.People = linked{uses.People, who}
	b := bot.New(bot.Config{UseCases: uses, Tenant: Tenant, URL: func() string { return "https://muster.example.com" }, Pages: address.Of,
		Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	p := bot.Person{Kind: "slack", External: "U1", Command: "/muster"}
	answer := b.Say(t.Context(), p, "status "+v.Name)
	text := strings.Join(answer.Lines, "\n")
	for _, want := range []string{v.Problem.Text, "Since "} {
		if !strings.Contains(text, want) {
			t.Errorf("the chat says %q, without %q", text, want)
		}
	}
	for _, n := range v.Problem.Lost {
		if !strings.Contains(text, n+" – lost") {
			t.Errorf("the chat doesn't say that %s is lost: %q", n, text)
		}
	}
	card := bot.NewCard(h.progress(t, v), "u", h.Clock.Now())
	asked := 0
	for _, button := range slices.Concat(answer.Buttons, card.Buttons) {
		if strings.Contains(button.Value, `"do":"resume"`) {
			if !slices.ContainsFunc(v.Problem.Options, func(w cluster.RecoveryOption) bool { return w.Kind == cluster.RecoveryResume }) {
				t.Errorf("the chat offers %q", button.Name)
			}
			continue // it's done at once
		}
		asked++
		if a := b.Press(t.Context(), p, button.Value); len(a.Buttons) == 0 && !strings.Contains(button.Value, `"do":"logs"`) {
			t.Errorf("the chat offers %q, and says then: %s %q", button.Name, a.Title, a.Lines)
		}
	}
	if asked == 0 {
		t.Errorf("the chat offers nothing")
	}
}

// progress is what a card of the cluster's latest operation tells.
func (h *Instance) progress(t *testing.T, v cluster.View) chat.Progress {
	t.Helper()
	p, err := h.Services.Chat.Cards.ChatProgress(t.Context(), chat.Card{Tenant: v.Tenant, Cluster: v.ID, Operation: v.Operations[0].ID})
	if err != nil {
		t.Fatal(fmt.Errorf("card: %w", err))
	}
	return p
}
