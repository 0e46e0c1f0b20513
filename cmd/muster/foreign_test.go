package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	appbuild "muster/app/build"
	"muster/app/chat"
	"muster/app/cluster"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/identity"
	"muster/app/layout"
	"muster/app/resource"
	portaladdress "muster/portal/address"
)

// foreignMark is in everything of the other tenant that may not be read from here, and in no name that is asked for.
const foreignMark = "zqmark"

// foreign is what the other tenant has: values for the parameters of routes, by the word before them.
type foreign struct {
	*matrix
	boss   app.Actor
	values map[string][]string
}

func (f *foreign) knows(noun string, values ...string) {
	f.values[noun] = append(f.values[noun], values...)
}

func newForeign(t testing.TB) *foreign {
	f := &foreign{matrix: newMatrix(t), values: map[string][]string{}}
	ctx := t.Context()
	n := apptest.NewCluster(there, "theirs", 2, time.Now(), apptest.Chain(2))
	n.Cluster.Owner, n.PrivateKey = foreignMark+"-owner", []byte(foreignMark+"-key")
	n.Operation.Operation.Requester = n.Cluster.Owner
	for i := range n.Nodes {
		n.Nodes[i].Node.Hardware = foreignMark + "-hardware"
	}
	op, err := f.server.Store.CreateCluster(ctx, n)
	if err != nil {
		t.Fatal(err)
	}
	f.knows("clusters", n.Cluster.ID, n.Cluster.Name)
	f.knows("operations", fmt.Sprint(op.ID), "0")
	f.knows("nodes", "n1")
	// What there is beside clusters is made as in the matrix, and then marked.
	s := &scene{matrix: f.matrix, tenant: there, owner: foreignMark + "-owner"}
	f.boss = s.boss()
	hook := s.hook()
	f.knows("webhooks", hook)
	f.knows("deliveries", fmt.Sprint(s.delivery(hook)))
	ci, delivery, build := s.delivered()
	f.knows("build-hooks", ci)
	f.knows("deliveries", fmt.Sprint(delivery))
	f.knows("builds", fmt.Sprint(build))
	f.knows("requests", fmt.Sprint(s.request()))
	f.knows("tenants", there)
	f.knows("tokens", fmt.Sprint(s.token()))
	f.knows("groups", s.group())
	f.knows("secrets", s.secret())
	f.knows("pools", s.pool())
	f.knows("images", fmt.Sprint(s.image()))
	f.knows("terminals", s.terminal(n.Cluster.ID).ID)
	f.knows("quotas", s.quota())
	own, err := f.server.Services.Catalog.ApplyCatalog(ctx, f.boss, yamlOf("kind: template\nname: their-own\ndescription: "+foreignMark+"-template\nextends: web\n"))
	s.must(err)
	f.knows("catalog", own.Changes[0].Name)
	f.knows("resources", s.resourceMarked(foreignMark+" inside").Path())
	f.knows("versions", "1", "2")
	// A workspace of Slack is named by its team, and so are its pages and routes.
	team := s.workspaceOf()
	s.must(f.server.Store.SaveWorkspace(ctx, f.boss, chat.Workspace{Kind: "slack", Team: team, Name: foreignMark + "-workspace", Tenant: there}, chat.ChatTokens{Access: foreignMark + "-xoxb"}, time.Now()))
	s.must(f.server.Services.Chat.Channels.SetApprovals(ctx, f.boss, chat.Approvals{Kind: "slack", Team: team, Channel: "C3"}))
	f.knows("slack", team)
	f.knows("workspaces", team)
	f.knows("channels", "C3")
	user, session := s.session()
	f.knows("sessions", fmt.Sprint(session))
	f.knows("users", user)
	policy, about, full := s.policy(), foreignMark+" about", foreignMark+" Ada"
	f.knows("policies", policy)
	marked := aPolicy("marked")
	marked.Reason = foreignMark + " reason"
	f.knows("policies", marked.Name)
	_, err = f.server.Services.Policy.Policies.SavePolicy(ctx, f.boss, marked)
	s.must(err)
	_, err = f.server.Services.Identity.Groups.SaveGroup(ctx, f.boss, identity.GroupChange{Name: "marked", About: &about})
	s.must(err)
	f.knows("groups", "marked")
	_, err = f.server.Services.Identity.Users.ChangeUser(ctx, f.boss, user, identity.UserChange{FullName: &full})
	s.must(err)
	return f
}

// visitor is someone of the first tenant, with a session and a token.
type visitor struct {
	actor  app.Actor
	client *http.Client
	token  string
}

func (f *foreign) visitor(site, tenant string, role app.Role) visitor {
	f.t.Helper()
	ctx := f.t.Context()
	name, password := "v-"+string(role), "correct horse battery staple"
	u := identity.User{Tenant: tenant, Name: name, Role: role, CreatedAt: time.Now()}
	if role != app.RoleRobot {
		u.PasswordHash = identity.HashPassword(password)
	}
	if err := f.server.Store.CreateUser(ctx, u); err != nil {
		f.t.Fatal(err)
	}
	v := visitor{actor: u.Actor(), client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	v.client.Jar, _ = cookiejar.New(nil)
	var err error
	if v.token, err = f.server.Services.Identity.Tokens.IssueToken(ctx, tenant, name, "test"); err != nil {
		f.t.Fatal(err)
	}
	if role == app.RoleRobot {
		return v
	}
	resp, err := v.client.PostForm(site+"/signin", url.Values{"tenant": {tenant}, "user": {name}, "password": {password}})
	if err != nil {
		f.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusSeeOther {
		f.t.Fatalf("%s cannot sign in: %s", name, resp.Status)
	}
	return v
}

var parameter = regexp.MustCompile(`([a-z-]+)/\{[a-z_]+\}`)

// fill puts values into a route: those of the other tenant, or, with noise, anything.
func (f *foreign) fill(pattern string, rnd *rand.Rand, noise bool) string {
	pattern = strings.ReplaceAll(pattern, "/catalog/{kind}/{name}", "/catalog/template/"+f.values["catalog"][0])
	return parameter.ReplaceAllStringFunc(pattern, func(p string) string {
		noun, _, _ := strings.Cut(p, "/")
		known := f.values[noun]
		switch {
		case noise && rnd.IntN(2) == 0:
			all := slices.Concat(slices.Collect(maps.Values(f.values))...)
			v := []byte(all[rnd.IntN(len(all))])
			v[rnd.IntN(len(v))] = byte(rnd.IntN(256))
			return noun + "/" + url.PathEscape(string(v))
		case len(known) == 0:
			return noun + "/theirs"
		}
		return noun + "/" + url.PathEscape(known[rnd.IntN(len(known))])
	})
}

// Requests from one tenant, by any route, for any id of another tenant, read nothing of it and change nothing.
func TestOtherTenantsDataIsHidden(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	site := httptest.NewServer(f.server.HTTP.Handler)
	defer site.Close()
	before := f.state()
	rounds := 8
	if testing.Short() {
		rounds = 2
	}
	seed := uint64(time.Now().UnixNano())
	rnd := rand.New(rand.NewPCG(seed, 1))
	asked, answered := 0, map[int]int{}
	for _, role := range app.Roles {
		if role == app.RoleSuperadmin { // may act in every tenant
			continue
		}
		v := f.visitor(site.URL, here, role)
		for _, r := range f.server.Portal.Routes() {
			if r.Pattern == "/signout" || strings.HasPrefix(r.Pattern, "/static/") {
				continue
			}
			for round := range rounds {
				path := f.fill(r.Pattern, rnd, round > rounds/2)
				status, body := f.ask(v, site.URL, r.Method, path, round%2 == 0)
				asked++
				answered[status]++
				if strings.Contains(body, foreignMark) {
					t.Errorf("seed %d: %s %s as %s returns %d with %q", seed, r.Method, path, role, status, around(body, foreignMark))
				}
				if status >= 500 {
					t.Errorf("seed %d: %s %s as %s returns %d: %.200s", seed, r.Method, path, role, status, body)
				}
				if !strings.Contains(r.Pattern, "{") {
					break
				}
			}
		}
	}
	if after := f.state(); after != before {
		t.Errorf("seed %d: the other tenant was changed:\n%s\nbefore:\n%s", seed, after, before)
	}
	// It can be found, by those whose it is: otherwise nothing of this would tell anything.
	found := map[string]bool{}
	owner := f.visitor(site.URL, there, app.RoleAdmin)
	for _, r := range f.server.Portal.Routes() {
		if r.Method == http.MethodGet && strings.Contains(r.Pattern, "{") {
			if _, body := f.ask(owner, site.URL, r.Method, f.fill(r.Pattern, rnd, false), false); strings.Contains(body, foreignMark) {
				found[r.Pattern] = true
			}
		}
	}
	if len(found) < 5 {
		t.Errorf("the mark is on %d pages of its own tenant only: %v", len(found), found)
	}
	t.Logf("%d routes, %d questions, 0 of them read anything foreign; its own tenant reads it at %d routes; answers by status: %v", len(f.server.Portal.Routes()), asked, len(found), answered)
}

func around(text, what string) string {
	i := strings.Index(text, what)
	return text[max(i-80, 0):min(i+80, len(text))]
}

// ask sends a request as a browser with its session, or as a program with its token.
func (f *foreign) ask(v visitor, site, method, path string, form bool) (status int, body string) {
	api := strings.HasPrefix(path, "/api/")
	send := "{}"
	if !api {
		send = "confirm=yes&reason=because+of+a+test&plan_hash="
	}
	// Long polls and streams end at once: what is there is said first.
	if api && method == http.MethodGet && strings.HasSuffix(path, "/events") && form {
		path += "?wait=0"
	}
	return f.send(v, site, method, path, send)
}

// send is ask with a body of the caller's.
func (f *foreign) send(v visitor, site, method, path, body string) (status int, answer string) {
	ctx, cancel := context.WithTimeout(f.t.Context(), hangs)
	defer cancel()
	var in io.Reader
	kind := ""
	api := strings.HasPrefix(path, "/api/")
	if method != http.MethodGet && method != http.MethodHead {
		in, kind = strings.NewReader(body), "application/json"
		if !api {
			kind = "application/x-www-form-urlencoded"
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, site+path, in)
	if err != nil {
		return 0, "" // noise that is no address
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	client := v.client
	if api {
		client = &http.Client{CheckRedirect: v.client.CheckRedirect}
		req.Header.Set("Authorization", "Bearer "+v.token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0, ""
	}
	defer resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		stop := time.AfterFunc(200*time.Millisecond, cancel)
		defer stop.Stop()
	}
	b, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	return resp.StatusCode, string(b) + fmt.Sprint(resp.Header)
}

// state is all that the other tenant has, as text.
func (f *foreign) state() string {
	ctx, s := f.t.Context(), f.server.Store
	v, err := s.View(ctx, there, "theirs-1")
	if err != nil {
		f.t.Fatal(err)
	}
	text := ""
	add := func(what any, err error) {
		if err != nil {
			f.t.Fatal(err)
		}
		b, err := json.MarshalIndent(what, "", " ")
		if err != nil {
			f.t.Fatal(err)
		}
		text += "\n" + string(b)
	}
	a := f.server.Services
	add(v, nil)
	requests, err := a.Operation.Requests.Requests(ctx, f.boss, cluster.RequestFilter{})
	add(requests, err)
	policies, err := a.Policy.Policies.PolicyList(ctx, f.boss)
	add(policies, err)
	groups, err := a.Identity.Groups.Groups(ctx, f.boss)
	add(groups, err)
	secrets, err := a.Secret.Secrets(ctx, f.boss)
	add(secrets, err)
	for _, r := range f.values["resources"] {
		id, err := resource.ParseResourceID(r)
		add(id, err)
		info, err := a.Resource.Resource(ctx, f.boss, id)
		add(info, err)
	}
	quotas, err := a.Policy.Quotas.Quotas(ctx, f.boss)
	add(len(quotas), err)
	workspaces, err := s.Workspaces(ctx, "slack", there)
	add(workspaces, err)
	approvals, err := s.Approvals(ctx, there)
	add(approvals, err)
	for _, hook := range f.values["webhooks"] {
		deliveries, err := a.Webhook.HookDeliveries(ctx, f.boss, hook, 0, 100)
		add(len(deliveries), err)
	}
	for _, user := range f.values["users"] {
		tokens, err := a.Identity.Tokens.Tokens(ctx, f.boss, user)
		add(len(tokens), err)
		sessions, err := a.Identity.Sessions.Sessions(ctx, f.boss, user)
		add(len(sessions), err)
	}
	return text
}

// routePage is a page of the route table, with the address of one that there is.
type routePage struct{ pattern, address string }

// everyPage returns every page that people open, with something on it. The id is that of a cluster at rest.
func (f *foreign) everyPage(id string) (all []routePage) {
	f.t.Helper()
	link, err := f.server.Services.Identity.Links.LinkStart(f.t.Context(), "slack", "T1/U1", "ada in Slack")
	if err != nil {
		f.t.Fatal(err)
	}
	special := map[string]string{
		"/link":                                     portaladdress.Of(link),
		"/templates/{template}":                     "/templates/web",
		"/clusters/bulk":                            "/clusters/bulk?action=extend&id=" + id + "&id=" + f.values["clusters"][0],
		"/clusters/{id}/clone":                      "/clusters/" + id + "/clone?name=another",
		"/clusters/{id}/diff":                       "/clusters/" + id + "/diff?with=" + f.values["clusters"][0],
		"/clusters/{id}/accept-partial":             "/clusters/" + f.atRest("short", 5) + "/accept-partial",
		"/clusters/{id}/{power:sleep|wake}":         "/clusters/" + id + "/sleep",
		"/account/second-factor/{act:remove|codes}": "/account/second-factor/codes",
	}
	// An own template of two versions, for the pages of the catalog.
	for _, size := range []string{"3", "4"} {
		if _, err := f.server.Services.Catalog.ApplyCatalog(f.t.Context(), f.boss, yamlOf("kind: template\nname: ours\nextends: web\nstate: draft\nconstraints: {size: {min: 3, max: "+size+"}}\n")); err != nil {
			f.t.Fatal(err)
		}
	}
	if _, err := f.server.Services.Catalog.ApplyCatalog(f.t.Context(), f.boss, yamlOf("kind: provider\nname: toy\ntype: fake\n")); err != nil {
		f.t.Fatal(err)
	}
	special["/admin/catalog/provider/{name}/check"], special["/admin/catalog/provider/{name}/offers"] = "/admin/catalog/provider/toy/check", "/admin/catalog/provider/toy/offers"
	build, delivery := f.buildHook("looked-at")
	special["/admin/builds/{hook}"], special["/admin/builds/{hook}/delete"], special["/admin/builds/{hook}/deliveries/{delivery}"] = build, build+"/delete", delivery
	const kind = "/admin/catalog/{kind:template|service|image|hardware|provider}"
	for pattern, address := range map[string]string{
		kind: "/admin/catalog/service", kind + "/new": "/admin/catalog/template/new", kind + "/{name}": "/admin/catalog/template/ours?from=1&to=2",
		kind + "/{name}/edit": "/admin/catalog/template/ours/edit", kind + "/{name}/remove": "/admin/catalog/template/ours/remove",
		kind + "/{name}/revert/{number}": "/admin/catalog/template/ours/revert/1", "/admin/catalog/{kind:template}/{name}/publish": "/admin/catalog/template/ours/publish",
	} {
		special[pattern] = address
	}
	for _, r := range f.server.Portal.Routes() {
		if r.Method != http.MethodGet || strings.HasPrefix(r.Pattern, "/api/") || r.Pattern == "/signin" ||
			slices.Contains([]string{"live", "key", "export", "spec", "content", "download", "inventory"}, path.Base(r.Pattern)) || // not pages
			strings.HasPrefix(r.Pattern, "/step-up/") || // leads away, to an identity provider
			strings.HasPrefix(r.Pattern, "/hooks/") || r.Pattern == "/metrics" || strings.HasPrefix(r.Pattern, "/.well-known/") || // for programs
			strings.HasPrefix(r.Pattern, "/slack/") || // leads away, to Slack, or comes back from there
			path.Base(r.Pattern) == "extend" { // opened by a signed link only
			continue
		}
		address := special[r.Pattern]
		if address == "" {
			address = f.first(r.Pattern)
		}
		all = append(all, routePage{r.Pattern, address})
	}
	return all
}

// buildHook creates a build hook with a delivery, and returns its page and the delivery's.
func (f *foreign) buildHook(name string) (page, delivery string) {
	f.t.Helper()
	owner := "builder"
	if err := f.server.Store.CreateUser(f.t.Context(), identity.User{Tenant: there, Name: owner, Role: app.RoleUser, PasswordHash: identity.HashPassword("correct horse battery"), CreatedAt: time.Now()}); err != nil {
		f.t.Fatal(err)
	}
	rules := []appbuild.Rule{{Name: "jobs", When: `event.event == "workflow_job"`, Do: appbuild.ActionCreate, Template: "web", Size: 3, Forks: appbuild.ForksAll}}
	saved, err := f.server.Services.Build.Hooks.SaveBuildHook(f.t.Context(), f.boss, appbuild.BuildHookRequest{Name: name, System: "github", Owner: &owner, Rules: &rules})
	if err != nil {
		f.t.Fatal(err)
	}
	body := []byte(`{"ref":"refs/heads/main","before":"1","after":"2","repository":{"full_name":"octo/web","fork":false},"sender":{"login":"octo"}}`)
	mac := hmac.New(sha256.New, []byte(saved.Secret))
	mac.Write(body)
	h := http.Header{}
	h.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	h.Set("X-GitHub-Event", "push")
	if _, err := f.server.Services.Build.Intake.IngestBuild(f.t.Context(), saved.ID, h.Get, body, "192.0.2.1"); err != nil {
		f.t.Fatal(err)
	}
	all, err := f.server.Services.Build.Intake.BuildDeliveries(f.t.Context(), f.boss, name, 0, 1)
	if err != nil || len(all) != 1 {
		f.t.Fatalf("%+v, %v", all, err)
	}
	page = "/admin/builds/" + name
	return page, fmt.Sprintf("%s/deliveries/%d", page, all[0].ID)
}

// atRest makes a cluster whose create is done, by the ledger alone. Of one that has two nodes alike, the machine of the second
// does not come, and the create fails.
func (f *foreign) atRest(name string, size int) string {
	f.t.Helper()
	ctx, now := f.t.Context(), time.Now()
	v, err := f.server.Services.Cluster.Creates.CreateCluster(ctx, f.boss, cluster.CreateRequest{Name: name, Request: layout.Request{Template: "web", Size: size}})
	if err != nil {
		f.t.Fatal(err)
	}
	lost, alike := "", map[string]bool{}
	for _, n := range v.Nodes {
		services := strings.Join(n.Services, " ")
		if alike[services] {
			lost = n.Name
		}
		alike[services] = true
	}
	w := app.WorkerID{Name: "idle", Tenant: there}
	for range 1000 {
		steps, err := f.server.Store.ClaimSteps(ctx, execution.ClaimQuery{Worker: w, Now: now, For: time.Minute, Most: 100})
		if err != nil {
			f.t.Fatal(err)
		}
		if c, err := f.server.Services.Cluster.Views.Cluster(ctx, f.boss, v.ID); err != nil || c.Status == app.ClusterActive || c.Status == app.ClusterFailed {
			return v.ID
		}
		var ends []execution.Finish
		for _, s := range steps {
			end := execution.Finish{Fence: app.Fence{Operation: s.Step.Operation, Index: s.Step.Index, Attempt: s.Step.Attempt}, Now: now}
			switch s.Step.Action {
			case app.ActionCreate:
				if s.Step.Node == lost {
					end.Err = app.Errorf(app.ECapacity, "There is no room for another machine.")
					break
				}
				end.Node = &execution.NodeUpdate{Status: app.NodeCreated, Machine: &family.Machine{ID: "m-" + s.Step.Node, Addresses: map[string]string{app.AddressAccess: "127.0.0.9"}}}
			case app.ActionConfirm:
				end.Node = &execution.NodeUpdate{Status: app.NodeReady}
			}
			ends = append(ends, end)
		}
		if _, err := f.server.Store.FinishSteps(ctx, w, ends); err != nil {
			f.t.Fatal(err)
		}
	}
	f.t.Fatal("creation does not come to its end")
	return ""
}

// first fills a route with the first thing that there is of each kind.
func (f *foreign) first(pattern string) string {
	return parameter.ReplaceAllStringFunc(pattern, func(p string) string {
		noun, _, _ := strings.Cut(p, "/")
		if known := f.values[noun]; len(known) > 0 {
			return noun + "/" + known[0]
		}
		return noun + "/theirs"
	})
}
