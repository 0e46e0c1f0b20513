package main

import (
	"bytes"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/identity"
	"muster/cmd/demodata"
	"muster/cmd/muster/cli"
)

// formSite is a server with a superadmin's browser.
type formSite struct {
	*foreign
	actor  app.Actor
	url    string
	client *http.Client
}

func newFormSite(t *testing.T, tenant string) *formSite {
	t.Helper()
	f := newForeign(t)
	f.t = t
	site := httptest.NewServer(f.server.HTTP.Handler)
	t.Cleanup(site.Close)
	v := f.visitor(site.URL, tenant, app.RoleSuperadmin)
	return &formSite{foreign: f, actor: v.actor, url: site.URL, client: v.client}
}

// send asks for a page, or posts a form of the page from, with something in the fields for files.
func (s *formSite) send(method, path, from string, in url.Values, files ...string) (int, string, []byte) {
	s.t.Helper()
	body, kind := strings.NewReader(in.Encode()), "application/x-www-form-urlencoded"
	if len(files) > 0 {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for _, name := range append(slices.Sorted(maps.Keys(in)), files...) {
			if slices.Contains(files, name) {
				part, _ := w.CreateFormFile(name, "typed.yaml")
				_, _ = part.Write([]byte("kind: [wrong"))
				continue
			}
			for _, value := range in[name] {
				_ = w.WriteField(name, value)
			}
		}
		_ = w.Close()
		body, kind = strings.NewReader(b.String()), w.FormDataContentType()
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Referer", s.url+from)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", kind)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header.Get("Content-Type"), b
}

// unrefused are routes whose forms no page has here, or that take all that can be typed, with the reason.
var unrefused = map[string]string{
	"/account/email":                                "no mail server is set up here; the story of notifications and portal/email_change_test.go have it",
	"/account/email/cancel":                         "as /account/email",
	"/account/email/confirm":                        "as /account/email",
	"/account/email/resend":                         "as /account/email",
	"/clusters/{id}/action-schedules":               "the cluster's template has no actions; portal tests of runs have it",
	"/clusters/{id}/action-schedules/{name}/delete": "as /clusters/{id}/action-schedules",
	"/clusters/{id}/action-schedules/{name}/pause":  "as /clusters/{id}/action-schedules",
	"/clusters/{id}/action-schedules/{name}/resume": "as /clusters/{id}/action-schedules",
	"/clusters/{id}/unlock":                         "a button, for what is locked: TestClustersAreLockedOnTheirPage",
	"/clusters/{id}/nodes/{node}/files":             "its machines don't exist; portal/nodefile_test.go has it",
	"/signin":                                       "for people who are not signed in: TestSignIn",
	"/clusters/{id}/outputs":                        "buttons, for outputs that templates declare: TestOutputsAreShownAndRevealed",
	"/clusters/{id}/outputs/download":               "a button, for outputs that are files: TestOutputsAreShownAndRevealed",
	"/volumes/{volume}/extend":                      "a button, beside kept volumes: TestVolumesAreShown",
	"/volumes/{volume}/delete":                      "a button, for kept volumes: TestVolumesAreShown",
	"/volumes/{volume}/snapshots":                   "a button, beside volumes: TestVolumesAreShown",
	"/volumes/{volume}/schedule":                    "a list of choices, beside volumes: TestVolumesAreShown",
	"/snapshots/{snapshot}/delete":                  "a button, beside snapshots: TestVolumesAreShown",
	"/signin/second-factor":                         "for people who have signed in by half: TestSignInWithASecondFactor",
	"/signin/tenant":                                "for people who come back from an identity provider: TestSignInByProvider",
	"/account/second-factor/key":                    "a browser fills it: TestSecurityKeyInABrowser",
	"/account/second-factor/remove":                 "for accounts that have one: TestSignInWithASecondFactor",
	"/account/second-factor/codes":                  "for accounts that have one: TestSignInWithASecondFactor",
	"/admin/users/{user}/reset-second-factor":       "a button, for accounts that have one",
	"/device":                                             "for a code that a program has asked for: TestDeviceIsDenied",
	"/account/identities/remove":                          "a button, for accounts that are linked",
	"/admin/users/{user}/identities":                      "a button, for accounts that are linked",
	"/account/sign-ins/end":                               "a button, beside other sign-ins",
	"/account/sign-ins/end-all":                           "a button, beside other sign-ins",
	"/admin/users/{user}/sign-ins":                        "a button, beside sign-ins",
	"/requests/{request}/confirm":                         "a button, on requests that were approved on conditions",
	"/admin/slack/{team}/email-off":                       "a button, where people are known by their e-mail",
	"/admin/slack/channels/reset":                         "a button, on channels that have settings",
	"/admin/builds/{hook}/on":                             "a button, on hooks that are off",
	"/admin/builds/{hook}/end/{build}":                    "a button, on builds that run",
	"/admin/webhooks/{hook}/on":                           "a button, on hooks that are off",
	"/admin/webhooks/{hook}/deliveries/{delivery}/resend": "a button, on deliveries that failed",
	"/admin/resources/sync":                               "a button, where versions are staged",
	"/orphans/{orphan}/delete":                            "a button, beside orphaned machines",
	"/orphans/{orphan}/keep":                              "a button, beside orphaned machines",
	"/clusters/{id}/health/check":                         "a button, on clusters that have checks",
	"/clusters/{id}/pause":                                "a button, on operations that run",
	"/clusters/{id}/cancel":                               "a button, on operations that run",
	"/clusters/{id}/backfill":                             "a button, on clusters that lack nodes",
	"/clusters/{id}/idle":                                 "a button, on clusters with an idle policy",
	"/clusters/{id}/scaling/resume":                       "a button, on clusters whose scaling is paused: TestScalingIsShownAndSet",
	"/clusters/{id}/keep":                                 "a button, on clusters with an idle policy",
	"/admin/idle":                                         "without a policy, which is how it is sent here, nothing else counts: TestIdlePolicyIsSetOnThePage",
	"/clusters/{id}/provider-values":                      "where the provider has settings that users can set: TestProviderValuesOnPages",
	"/requests/{request}/run-now":                         "on requests that wait for a maintenance window: Scripts/maintenance",
}

// Every form of every page that people type into, or choose a file in, is posted with values that are wrong. Where it is refused, the answer is the
// form, with what was typed, what is
// wrong, and the status of a refusal; a page that says only what is wrong loses what was typed. Each route that takes a form is reached, or named above.
func TestRefusedFormsKeepWhatWasTyped(t *testing.T) {
	t.Parallel()
	f := newFormSite(t, there)
	send := f.send
	routes := map[string]*regexp.Regexp{}
	braces := regexp.MustCompile(`\{[^}:]+(?::([^}]*))?\}`)
	for _, r := range f.server.Portal.Routes() {
		if r.Method == http.MethodPost && !strings.HasPrefix(r.Pattern, "/api/") && !strings.HasPrefix(r.Pattern, "/hooks/") && !strings.HasPrefix(r.Pattern, "/slack/") {
			routes[r.Pattern] = regexp.MustCompile("^" + braces.ReplaceAllStringFunc(r.Pattern, func(b string) string {
				if words := braces.FindStringSubmatch(b)[1]; words != "" {
					return "(?:" + words + ")"
				}
				return "[^/]+"
			}) + "$")
		}
	}
	// Of several routes that fit, the one with the fewest parameters is it.
	routeOf := func(action string) (best string) {
		path, _, _ := strings.Cut(action, "?")
		for pattern, is := range routes {
			if is.MatchString(path) && (best == "" || strings.Count(pattern, "{") < strings.Count(best, "{")) {
				best = pattern
			}
		}
		return best
	}
	id := f.atRest("standing", 3)
	pages := []string{"/clusters/new?template=web", "/admin/catalog/template/new", "/admin/catalog/provider/new", "/account/password"}
	for _, p := range f.everyPage(id) {
		pages = append(pages, p.address)
	}
	robot := identity.NewUser{Name: "ci", Role: app.RoleRobot}
	if _, _, err := f.server.Services.Identity.Users.CreateUser(t.Context(), f.boss, robot); err != nil {
		t.Fatal(err)
	}
	asks := &scene{matrix: f.matrix, tenant: there, owner: f.actor.User, visibility: app.VisiblePrivate}
	running := asks.question().Cluster
	all, err := f.server.Services.Cluster.Views.Clusters(t.Context(), f.boss, app.ClusterFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		pages = append(pages, "/clusters/"+c.ID, "/clusters/"+c.ID+"/manage", "/clusters/"+c.ID+"/roll-back")
	}
	pages = append(pages, "/clusters/"+running+"/cancel", "/clusters/"+running)
	for _, kind := range []string{"resize&size=4", "add_services", "reconfigure", "repair"} {
		pages = append(pages, "/clusters/"+id+"/change?kind="+kind)
	}
	const wrong = "§ wrong <&"
	posted := map[string]bool{}
	found := map[string]string{} // the route: "buttons", "taken" or "refused"
	refusals := 0
	for _, from := range pages {
		status, kind, body := send(http.MethodGet, from, from, nil)
		if status != http.StatusOK || !strings.HasPrefix(kind, "text/html") {
			t.Logf("%s answers %d", from, status)
			continue
		}
		forms, err := demodata.Forms(from, body)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			if form.Method != http.MethodPost {
				continue
			}
			var typed, files []string
			passwords := false
			for _, field := range form.Fields {
				switch {
				case field.Name == "":
				case field.Type == "file":
					files = append(files, field.Name)
				case field.Type == "password":
					passwords = true
				case slices.Contains(typedInto, field.Type):
					typed = append(typed, field.Name)
				}
			}
			for _, button := range form.Words {
				pressed, err := form.Press(button)
				if err != nil {
					t.Fatal(err)
				}
				route := routeOf(pressed.Action)
				if route == "" {
					t.Errorf("%s: no route takes the form to %s", from, pressed.Action)
				}
				if len(typed)+len(files) == 0 && !passwords {
					if found[route] == "" {
						found[route] = "buttons"
					}
					continue
				}
				if route == "/signout" || posted[from+pressed.Action+button] {
					continue
				}
				posted[from+pressed.Action+button] = true
				if found[route] != "refused" {
					found[route] = "taken"
				}
				again := func(body []byte, path string) (demodata.Form, bool) {
					t.Helper()
					forms, err := demodata.Forms(from, body)
					if err != nil {
						t.Fatal(err)
					}
					forms = slices.DeleteFunc(forms, func(g demodata.Form) bool {
						to, _, _ := strings.Cut(g.Action, "?")
						return g.Method != http.MethodPost || to != path && len(typed) == 0 ||
							len(typed) > 0 && !slices.ContainsFunc(g.Fields, func(x demodata.Field) bool { return strings.Contains(x.Value, wrong) })
					})
					if len(forms) == 0 {
						return demodata.Form{}, false
					}
					next := forms[max(0, slices.IndexFunc(forms, func(g demodata.Form) bool { return slices.Contains(g.Words, button) }))]
					pressed := button
					if !slices.Contains(next.Words, button) { // such as to create what is refused
						pressed = next.Words[0]
					}
					if next, err = next.Press(pressed); err != nil {
						t.Fatal(err)
					}
					return next, true
				}
				for _, value := range []string{wrong, strings.Repeat(wrong+" ", 2000)} {
					form := pressed
					for _, name := range typed {
						form = form.Set(name, value)
					}
					for _, name := range files {
						form.Values.Del(name)
					}
					refused := false
					for round := range 2 { // the second one comes from the answer to the first
						status, _, body = send(http.MethodPost, form.Action, map[int]string{0: from, 1: form.Action}[round], form.Values, files...)
						if status < 400 {
							break
						}
						refused = true
						refusals++
						found[route] = "refused"
						path, _, _ := strings.Cut(form.Action, "?")
						next, kept := again(body, path)
						if !kept {
							_, _, now := send(http.MethodGet, from, from, nil)
							if !bytes.Contains(now, []byte(button)) {
								break // what the form is about has gone on, and the form with it
							}
							t.Errorf("%s: %q of the form that posts to %s, with %q, is answered %d, without what was typed: %.600s", from, button, form.Action, typed, status,
								strings.Join(cli.Readable(string(body)), " | "))
							break
						}
						form = next
						for _, name := range files {
							form.Values.Del(name)
						}
					}
					if refused {
						break
					}
				}
			}
		}
	}
	for pattern := range routes {
		reason, named := unrefused[pattern]
		switch found[pattern] {
		case "refused", "buttons":
			if named {
				t.Errorf("the form to %s is refused or has nothing to type, but is named: %s", pattern, reason)
			}
		case "taken":
			if !named {
				t.Errorf("the form to %s takes everything: refuse what is wrong, or name it with the reason", pattern)
			}
		default:
			if !named {
				t.Errorf("no page has the form to %s: show one here, or name it with the reason", pattern)
			}
		}
	}
	t.Logf("%d forms on %d pages, %d refusals", len(posted), len(pages), refusals)
}

// typedInto are the types of fields that people type into.
var typedInto = []string{"", "text", "number", "search", "email", "url", "tel", "textarea", "datetime-local", "date"}

// TestInvalidFormsAreExplained: whatever is in a field that people type into, in the new-cluster form as in all others, no answer
// names functions and types of Go. One field at a time is invalid, since only the first error may be reported.
func TestInvalidFormsAreExplained(t *testing.T) {
	t.Parallel()
	s := newFormSite(t, here)
	pages := []string{"/admin/catalog/template/new", "/admin/catalog/provider/new"}
	for _, r := range s.server.Portal.Routes() {
		if r.Method == http.MethodGet && strings.HasPrefix(r.Pattern, "/admin/") && !strings.Contains(r.Pattern, "{") {
			pages = append(pages, r.Pattern)
		}
	}
	n := apptest.NewCluster(here, "typed", 1, time.Now(), apptest.Chain(1))
	n.Cluster.ExpiresAt = time.Now().Add(time.Hour)
	(&scene{matrix: s.matrix, actor: s.actor, tenant: here, owner: s.actor.User, visibility: app.VisiblePrivate}).create(n)
	pages = append(pages, "/clusters/"+n.Cluster.ID, "/clusters/"+n.Cluster.ID+"/manage", "/account/tokens/new", "/account/password", "/clusters/new", "/usage", "/requests", "/search")
	asked, refused := 0, 0
	for _, from := range pages {
		status, kind, body := s.send(http.MethodGet, from, from, nil)
		if status != http.StatusOK || !strings.HasPrefix(kind, "text/html") {
			continue
		}
		forms, err := demodata.Forms(from, body)
		if err != nil {
			t.Fatal(err)
		}
		for _, form := range forms {
			if slices.ContainsFunc(form.Fields, func(f demodata.Field) bool { return f.Type == "file" }) {
				continue
			}
			for _, field := range form.Fields {
				if !slices.Contains(typedInto, field.Type) || field.Name == "" {
					continue
				}
				for _, nonsense := range []string{"wrong §", "99999999999999999999", "-1.5e400"} {
					in := url.Values{}
					for name, values := range form.Values {
						in[name] = values
					}
					in[field.Name] = []string{nonsense}
					path, sent := form.Action, in
					if form.Method == http.MethodGet {
						path, _, _ = strings.Cut(path, "?")
						path, sent = path+"?"+in.Encode(), nil
					}
					asked++
					status, _, answer := s.send(form.Method, path, from, sent)
					if status >= 400 {
						refused++
					}
					said := strings.Join(cli.Readable(string(answer)), "\n")
					if found := goish.FindString(said); found != "" || strings.Contains(said, "body.") || status >= 500 {
						t.Errorf("%s, %s %s with %s=%q is answered %d with %q:\n%s", from, form.Method, form.Action, field.Name, nonsense, status, found, said)
					}
				}
			}
		}
	}
	if refused < 50 {
		t.Errorf("only %d of %d answers are refusals", refused, asked)
	}
	t.Logf("%d forms sent, %d refused", asked, refused)
}
