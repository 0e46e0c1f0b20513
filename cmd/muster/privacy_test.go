package main

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
)

// clusterRules says by which line of the authorisation table each operation and page about one cluster is decided. A route without a rule fails the test.
var clusterRules = map[string]string{
	"GET /api/v1/clusters/{id}":                                        "Cluster",
	"DELETE /api/v1/clusters/{id}":                                     "DeleteCluster",
	"POST /api/v1/clusters/{id}/answers":                               "AnswerStep",
	"POST /api/v1/clusters/{id}/certificate":                           "ClusterCertificate",
	"GET /api/v1/clusters/{id}/checks":                                 "NodeReports",
	"GET /api/v1/clusters/{id}/clone":                                  "PreviewClone",
	"POST /api/v1/clusters/{id}/clone":                                 "CloneCluster",
	"GET /api/v1/clusters/{id}/config":                                 "ClusterConfig",
	"GET /api/v1/clusters/{id}/drift":                                  "Drift",
	"GET /api/v1/clusters/{id}/events":                                 "Events",
	"GET /api/v1/clusters/{id}/facts":                                  "ClusterFacts",
	"GET /api/v1/clusters/{id}/health":                                 "Health",
	"POST /api/v1/clusters/{id}/health/check":                          "CheckHealth",
	"GET /api/v1/clusters/{id}/inventory":                              "Cluster",
	"GET /api/v1/clusters/{id}/nodes/{node}/ssh":                       "SSHStream",
	"GET /api/v1/clusters/{id}/key":                                    "ClusterKey",
	"GET /api/v1/clusters/{id}/lease":                                  "LeaseOutlook",
	"POST /api/v1/clusters/{id}/lease":                                 "ExtendLease",
	"GET /api/v1/clusters/{id}/logs":                                   "SearchLogs",
	"POST /api/v1/clusters/{id}/nodes/{node}/retry":                    "RetryNode",
	"POST /api/v1/clusters/{id}/operations":                            "UpdateServices",
	"PUT /api/v1/clusters/{id}/config":                                 "Update",
	"POST /api/v1/clusters/{id}/operations/preview":                    "PreviewUpdate",
	"POST /api/v1/clusters/{id}/operations/{operation}/cancel":         "CancelOperation",
	"GET /api/v1/clusters/{id}/operations/{operation}/accept-partial":  "PreviewAcceptPartial",
	"POST /api/v1/clusters/{id}/operations/{operation}/accept-partial": "AcceptPartial",
	"POST /api/v1/clusters/{id}/operations/{operation}/pause":          "PauseOperation",
	"POST /api/v1/clusters/{id}/operations/{operation}/resume":         "ResumeOperation",
	"GET /api/v1/clusters/{id}/operations/{operation}/roll-back":       "PreviewRollBack",
	"POST /api/v1/clusters/{id}/operations/{operation}/roll-back":      "RollBack",
	"GET /api/v1/clusters/{id}/places":                                 "Places",
	"GET /api/v1/clusters/{id}/receipt":                                "Receipt",
	"PATCH /api/v1/clusters/{id}/labels":                               "LabelCluster",
	"POST /api/v1/clusters/{id}/rename":                                "RenameCluster",
	"PUT /api/v1/clusters/{id}/lock":                                   "LockCluster",
	"DELETE /api/v1/clusters/{id}/lock":                                "UnlockCluster",
	"POST /api/v1/clusters/{id}/resume":                                "ResumeOperation",
	"GET /api/v1/clusters/{id}/idle":                                   "ClusterIdle",
	"PUT /api/v1/clusters/{id}/idle":                                   "SetClusterIdle",
	"POST /api/v1/clusters/{id}/keep":                                  "KeepCluster",
	"GET /api/v1/clusters/{id}/maintenance":                            "ClusterMaintenance",
	"PUT /api/v1/clusters/{id}/maintenance":                            "SetClusterMaintenance",
	"DELETE /api/v1/clusters/{id}/maintenance":                         "SetClusterMaintenance",
	"GET /api/v1/clusters/{id}/provider-values":                        "ClusterProviderValues",
	"PUT /api/v1/clusters/{id}/provider-values":                        "SetClusterProviderValues",
	"GET /api/v1/clusters/{id}/schedule":                               "Schedule",
	"GET /api/v1/clusters/{id}/actions":                                "Actions",
	"POST /api/v1/clusters/{id}/runs":                                  "RunCommand",
	"GET /api/v1/clusters/{id}/action-schedules":                       "ActionSchedules",
	"POST /api/v1/clusters/{id}/action-schedules":                      "CreateActionSchedule",
	"PATCH /api/v1/clusters/{id}/action-schedules/{name}":              "PauseActionSchedule",
	"DELETE /api/v1/clusters/{id}/action-schedules/{name}":             "DeleteActionSchedule",
	"GET /api/v1/clusters/{id}/runs/{operation}":                       "Run",
	"GET /api/v1/clusters/{id}/outputs":                                "ClusterOutputs",
	"POST /api/v1/clusters/{id}/outputs/reveal":                        "RevealOutputs",
	"GET /api/v1/clusters/{id}/scaling":                                "ClusterScaling",
	"PUT /api/v1/clusters/{id}/scaling":                                "SetClusterScaling",
	"DELETE /api/v1/clusters/{id}/scaling":                             "SetClusterScaling",
	"POST /api/v1/clusters/{id}/scaling/resume":                        "ResumeScaling",
	"PUT /api/v1/clusters/{id}/schedule":                               "SetSchedule",
	"GET /api/v1/clusters/{id}/sharing":                                "ClusterSharing",
	"PUT /api/v1/clusters/{id}/sharing":                                "ShareCluster",
	"GET /api/v1/clusters/{id}/sleep":                                  "PreviewSleep",
	"POST /api/v1/clusters/{id}/sleep":                                 "SleepCluster",
	"GET /api/v1/clusters/{id}/spec":                                   "ExportCluster",
	"GET /api/v1/clusters/{id}/steps":                                  "Steps",
	"PUT /api/v1/clusters/{id}/backfill":                               "SetBackfill",
	"POST /api/v1/clusters/{id}/transfer":                              "TransferCluster",
	"GET /api/v1/clusters/{id}/waiting":                                "Waiting",
	"GET /api/v1/clusters/{id}/wake":                                   "PreviewWake",
	"POST /api/v1/clusters/{id}/wake":                                  "WakeCluster",

	"GET /clusters/{id}":                                 "Cluster",
	"GET /clusters/{id}/access":                          "Cluster",
	"GET /clusters/{id}/answers":                         "Cluster",
	"POST /clusters/{id}/answers":                        "AnswerStep",
	"GET /clusters/{id}/cancel":                          "Cluster",
	"POST /clusters/{id}/cancel":                         "CancelOperation",
	"GET /clusters/{id}/change":                          "Cluster", // others than who may are led back
	"POST /clusters/{id}/change":                         "UpdateServices",
	"GET /clusters/{id}/change/preview":                  "Cluster",
	"POST /clusters/{id}/change/preview":                 "PreviewUpdate",
	"GET /clusters/{id}/checks":                          "NodeReports",
	"GET /clusters/{id}/clone":                           "PreviewClone",
	"POST /clusters/{id}/clone":                          "CloneCluster",
	"GET /clusters/{id}/delete":                          "Cluster",
	"POST /clusters/{id}/delete":                         "DeleteCluster",
	"GET /clusters/{id}/diff":                            "DiffClusters",
	"GET /clusters/{id}/extend":                          "LeaseLink",
	"GET /clusters/{id}/accept-partial":                  "PreviewAcceptPartial",
	"POST /clusters/{id}/accept-partial":                 "AcceptPartial",
	"GET /clusters/{id}/idle":                            "ClusterIdle",
	"POST /clusters/{id}/idle":                           "SetClusterIdle",
	"GET /clusters/{id}/actions":                         "Actions",
	"GET /clusters/{id}/runs/{operation}":                "Run",
	"POST /clusters/{id}/action-schedules":               "CreateActionSchedule",
	"POST /clusters/{id}/action-schedules/{name}/pause":  "PauseActionSchedule",
	"POST /clusters/{id}/action-schedules/{name}/resume": "PauseActionSchedule",
	"POST /clusters/{id}/action-schedules/{name}/delete": "DeleteActionSchedule",
	"GET /clusters/{id}/outputs":                         "ClusterOutputs",
	"POST /clusters/{id}/outputs":                        "RevealOutputs",
	"POST /clusters/{id}/outputs/download":               "RevealOutputs",
	"GET /clusters/{id}/scaling":                         "ClusterScaling",
	"POST /clusters/{id}/scaling":                        "SetClusterScaling",
	"POST /clusters/{id}/scaling/resume":                 "ResumeScaling",
	"POST /clusters/{id}/keep":                           "KeepCluster",
	"GET /clusters/{id}/health":                          "Health",
	"GET /clusters/{id}/health/check":                    "Health",
	"POST /clusters/{id}/health/check":                   "CheckHealth",
	"GET /clusters/{id}/history":                         "Cluster",
	"GET /clusters/{id}/inventory":                       "Cluster",
	"GET /clusters/{id}/key":                             "ClusterKey",
	"POST /clusters/{id}/lease":                          "ExtendLease",
	"GET /clusters/{id}/live":                            "Cluster",
	"GET /clusters/{id}/logs":                            "SearchLogs",
	"GET /clusters/{id}/logs/download":                   "SearchLogs",
	"GET /clusters/{id}/manage":                          "Cluster",
	"POST /clusters/{id}/nodes/{node}/retry":             "RetryNode",
	"GET /clusters/{id}/operations/{operation}":          "Steps",
	"POST /clusters/{id}/pause":                          "PauseOperation",
	"GET /clusters/{id}/plan":                            "StepGraph",
	"GET /clusters/{id}/receipt":                         "Receipt",
	"POST /clusters/{id}/labels":                         "LabelCluster",
	"POST /clusters/{id}/rename":                         "RenameCluster",
	"GET /clusters/{id}/locks":                           "LockCluster",
	"POST /clusters/{id}/lock":                           "LockCluster",
	"POST /clusters/{id}/unlock":                         "UnlockCluster",
	"POST /clusters/{id}/resume":                         "ResumeOperation",
	"GET /clusters/{id}/roll-back":                       "PreviewRollBack",
	"POST /clusters/{id}/roll-back":                      "RollBack",
	"GET /clusters/{id}/maintenance":                     "ClusterMaintenance",
	"POST /clusters/{id}/maintenance":                    "SetClusterMaintenance",
	"GET /clusters/{id}/provider-values":                 "ClusterProviderValues",
	"POST /clusters/{id}/provider-values":                "SetClusterProviderValues",
	"GET /clusters/{id}/nodes/{node}/terminal":           "OpenTerminal",
	"GET /clusters/{id}/nodes/{node}/terminal/stream":    "OpenTerminal",
	"POST /clusters/{id}/schedule":                       "SetSchedule",
	"GET /clusters/{id}/spec":                            "ExportCluster",
	"POST /clusters/{id}/backfill":                       "SetBackfill",
	"POST /clusters/{id}/sharing":                        "ShareCluster",
	"POST /clusters/{id}/transfer":                       "TransferCluster",
	"GET /clusters/{id}/waiting":                         "Waiting",
	"GET /clusters/{id}/{power:sleep|wake}":              "PreviewSleep",
	"POST /clusters/{id}/{power:sleep|wake}":             "SleepCluster",
	"GET /clusters/{id}/sharing":                         "ClusterSharing",
	"GET /clusters/{id}/nodes/{node}/files":              "NodeFiles",
	"POST /clusters/{id}/nodes/{node}/files":             "UploadNodeFile",
	"GET /clusters/{id}/nodes/{node}/files/download":     "DownloadNodeFile",
}

// clusterBodies are what is sent where an empty body is refused before the cluster is looked for.
var clusterBodies = map[string]string{
	"POST /api/v1/clusters/{id}/answers":            `{"operation":1,"index":0,"attempt":1}`,
	"POST /api/v1/clusters/{id}/certificate":        `{"public_key":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHKjxFmBBxHLmTsBQ7WdLRHmZPdrKjBW8m5cP0QFYtD6 ada"}`,
	"POST /api/v1/clusters/{id}/clone":              `{"name":"twin"}`,
	"POST /api/v1/clusters/{id}/operations":         `{"kind":"restart"}`,
	"PUT /api/v1/clusters/{id}/config":              `{"config":{}}`,
	"POST /api/v1/clusters/{id}/operations/preview": `{"kind":"restart"}`,
	"POST /api/v1/clusters/{id}/runs":               `{"command":"uptime"}`,
	"PATCH /api/v1/clusters/{id}/labels":            `{"set":{"team":"web"}}`,
	"POST /api/v1/clusters/{id}/rename":             `{"name":"other"}`,
	"POST /api/v1/clusters/{id}/transfer":           `{"to":"no-such-user"}`,
	"PUT /api/v1/clusters/{id}/backfill":            `{"on":false}`,
	"POST /clusters/{id}/answers":                   "operation=1&index=0&attempt=1&act=go",
	"POST /clusters/{id}/change":                    "kind=restart&confirm=yes",
	"POST /clusters/{id}/change/preview":            "kind=restart",
	"POST /clusters/{id}/clone":                     "name=twin&confirm=yes",
	"POST /api/v1/clusters/{id}/keep":               `{"for":"2h"}`,
	"PUT /api/v1/clusters/{id}/idle":                `{"off":true}`,
	"POST /clusters/{id}/keep":                      "for=2h",
	"POST /clusters/{id}/idle":                      "off=yes",
	"POST /clusters/{id}/lease":                     "by=1h",
	"POST /clusters/{id}/labels":                    "labels=team%3Dweb",
	"POST /clusters/{id}/rename":                    "name=other",
	"POST /clusters/{id}/transfer":                  "to=no-such-user",
	"POST /clusters/{id}/sharing":                   "visibility=tenant",
	"PUT /api/v1/clusters/{id}/scaling":             `{"off":true}`,
	"POST /clusters/{id}/scaling":                   "do=off",
	"PUT /api/v1/clusters/{id}/maintenance":         `{"windows":[]}`,
	"POST /clusters/{id}/maintenance":               "overrun=allow",
	"PUT /api/v1/clusters/{id}/provider-values":     `{"values":{}}`,
	"POST /clusters/{id}/provider-values":           "value.none=1",
	"POST /clusters/{id}/schedule":                  "sleep=0+19+*+*+*&wake=&zone=",
}

// queryRoutes name a cluster in their query. To a stranger, each says the same of a cluster that is private and of one that does not exist.
var queryRoutes = []string{"/api/v1/diff?a=CLUSTER&b=CLUSTER", "/api/v1/clusters?name=CLUSTER", "/api/v1/clusters?q=CLUSTER&deleted=true", "/api/v1/clusters?after=CLUSTER",
	"/api/v1/manual-steps?cluster=CLUSTER", "/api/v1/builds?cluster=CLUSTER", "/clusters?q=CLUSTER", "/clusters?after=CLUSTER",
	"/clusters/bulk?action=delete&id=CLUSTER",
	"/activity?cluster=CLUSTER", "/api/v1/activity?cluster=CLUSTER", "/search?q=CLUSTER",
	"/clusters/new?from=CLUSTER"}

// volatile is what differs between two answers to the same question: numbers of requests, times and random texts.
var volatile = regexp.MustCompile(`data-now="\d*"|(?:Date|X-Request-Id|Set-Cookie|Etag|Server-Timing):\[[^\]]*\]|nonce-[^' ]*|nonce="[^"]*"|[0-9A-F]{16,}|[0-9a-z]{20,}|[A-Za-z0-9+/_=-]{32,}`)

// Every operation and page about a cluster, for every role: what is its own, is shared, is seen by the tenant, is another's, or another tenant's. A
// private cluster that
// is not shared with the one who asks is answered, to the byte, as one that does not exist.
func TestClustersArePrivate(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	site := httptest.NewServer(f.server.HTTP.Handler)
	defer site.Close()
	reach := map[string]map[app.Role]string{}
	for _, p := range app.Permissions() {
		reach[p.UseCase] = p.Reach
	}
	visitors := map[app.Role]visitor{}
	for _, role := range app.Roles {
		visitors[role] = f.visitor(site.URL, here, role)
	}
	create := func(role app.Role, tenant, owner string, v app.Visibility, shared app.Access) string {
		t.Helper()
		s := &scene{matrix: f.matrix, actor: visitors[role].actor, tenant: tenant, owner: owner, visibility: v, shared: shared}
		n := apptest.NewCluster(tenant, fmt.Sprintf("k%06d", f.serial+1), 1, time.Now(), apptest.Chain(1))
		f.serial++
		n.Cluster.ExpiresAt = time.Now().Add(time.Hour)
		s.create(n)
		return n.Cluster.ID
	}
	read := map[string]string{} // clusters that are only read
	answered := map[string]int{}
	tried := map[string]bool{}
	for _, route := range f.server.Portal.Routes() {
		name := route.Method + " " + route.Pattern
		if !strings.Contains(route.Pattern, "/clusters/{id}") || route.Method == http.MethodHead {
			continue
		}
		rule := clusterRules[name]
		if reach[rule] == nil {
			t.Errorf("%s has no rule: add it to clusterRules in cmd/muster/privacy_test.go, with the use case that decides who may", name)
			continue
		}
		tried[name] = true
		body, ok := clusterBodies[name]
		if !ok && strings.HasPrefix(route.Pattern, "/api/") {
			body = "{}"
		}
		ask := func(role app.Role, cluster string) (int, string) {
			path := strings.NewReplacer("{id}", cluster, "{node}", "n1", "{operation}", "0", "{power:sleep|wake}", "sleep").Replace(route.Pattern)
			switch {
			case strings.HasSuffix(path, "/events"):
				path += "?wait=0"
			case strings.HasSuffix(path, "/diff"):
				path += "?with=" + cluster
			}
			status, answer := f.send(visitors[role], site.URL, route.Method, path, body)
			if status == 0 || status >= 500 {
				t.Errorf("%s as %s answers %d: %.300s", name, role, status, answer)
			}
			return status, answer
		}
		for _, role := range app.Roles {
			if role == app.RoleRobot && !strings.HasPrefix(route.Pattern, "/api/") {
				continue // robots have no sign-in
			}
			make := create
			if route.Method == http.MethodGet { // which changes nothing, so one cluster of each kind does for all
				make = func(role app.Role, tenant, owner string, v app.Visibility, shared app.Access) string {
					key := fmt.Sprint(role, tenant, owner, v, shared)
					if read[key] == "" {
						read[key] = create(role, tenant, owner, v, shared)
					}
					return read[key]
				}
			}
			same := func(what, cluster, none string) {
				t.Helper()
				answered[what]++
				missing, noAnswer := ask(role, none)
				status, answer := ask(role, cluster)
				if difference := tells(answer, cluster, noAnswer, none); status != missing || difference != "" {
					t.Errorf("%s as %s tells %s from a cluster that does not exist: %d and %d\n%s", name, role, what, status, missing, difference)
				}
			}
			same("another tenant's", make(role, there, "owner", app.VisibleTenant, app.AccessNone), "zzzzzzz-1")
			private := make(role, here, "owner", app.VisiblePrivate, app.AccessNone)
			if reach[rule][role] != app.ReachAll {
				same("another's private", private, "zzzzzzz-1")
				same("another's private, by its name", strings.TrimSuffix(private, "-1"), "zzzzzzz")
			}
			for _, c := range []struct {
				what    string
				cluster string
				has     app.Access
			}{
				{"its own", make(role, here, visitors[role].actor.User, app.VisiblePrivate, app.AccessNone), app.AccessOwner},
				{"shared as co-owner", make(role, here, "owner", app.VisiblePrivate, app.AccessCoOwner), app.AccessCoOwner},
				{"shared as user", make(role, here, "owner", app.VisiblePrivate, app.AccessUser), app.AccessUser},
				{"shared as reader", make(role, here, "owner", app.VisiblePrivate, app.AccessReader), app.AccessReader},
				{"another's that the tenant sees", make(role, here, "owner", app.VisibleTenant, app.AccessNone), app.AccessReader},
				{"another's private, for those who see all", private, app.AccessNone},
			} {
				r := reach[rule][role]
				may := r == app.ReachAll || r != app.ReachNone && c.has >= accessOfReach[r]
				if c.has == app.AccessNone && !may {
					continue
				}
				answered[c.what]++
				status, answer := ask(role, c.cluster)
				lost := strings.Contains(answer, "Cluster ") && strings.Contains(answer, "doesn't exist")
				switch {
				case may && (status == http.StatusForbidden || lost):
					t.Errorf("%s as %s with what is %s: %d %.400s", name, role, c.what, status, answer)
				case !may && r != app.ReachNone && lost:
					t.Errorf("%s as %s does not find what is %s: %d", name, role, c.what, status)
				case !may && status < 400:
					t.Errorf("%s as %s with what is %s is answered %d", name, role, c.what, status)
				}
			}
		}
	}
	for name := range clusterRules {
		if !tried[name] {
			t.Errorf("clusterRules has %s, which is no route", name)
		}
	}
	total := 0
	for _, n := range answered {
		total += n
	}
	t.Logf("%d operations and pages about a cluster x %d roles: %d answers, of these %v", len(tried), len(app.Roles), total, answered)
}

// tells returns how two answers differ, apart from the names of what they are about, and from what differs each time; "" where they don't.
// Only the elements of a page that differ are looked at closely: volatile takes milliseconds for a whole page.
func tells(answer, of, none, missing string) string {
	a, b := strings.Split(answer, "<"), strings.Split(none, "<")
	for i := range max(len(a), len(b)) {
		x, y := "(nothing)", "(nothing)"
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x == y {
			continue
		}
		if x, y = plain(x, of), plain(y, missing); x != y {
			return fmt.Sprintf("…<%.400q\n…<%.400q", x, y)
		}
	}
	return ""
}

// What belongs to a private cluster is on no page and in no answer to others: lists, searches, counts, requests, builds, questions.
func TestPrivateClustersStayHidden(t *testing.T) {
	t.Parallel()
	f := newForeign(t)
	site := httptest.NewServer(f.server.HTTP.Handler)
	defer site.Close()
	const mark = "qzhidden"
	s := &scene{matrix: f.matrix, tenant: here, owner: mark + "-owner", visibility: app.VisiblePrivate}
	n := apptest.NewCluster(here, mark, 1, time.Now(), apptest.Chain(1))
	n.Cluster.ExpiresAt = time.Now().Add(time.Hour)
	s.create(n)
	q := s.question()
	_, _, build := s.delivered()
	request := s.request()
	asked, marked, pages := 0, map[app.Role]int{}, 0
	for _, role := range []app.Role{app.RoleUser, app.RoleViewer, app.RoleRobot, app.RoleApprover, app.RoleAdmin} {
		v := f.visitor(site.URL, here, role)
		say := func(method, path string) string {
			asked++
			status, answer := f.ask(v, site.URL, method, path, true)
			if status >= 500 {
				t.Errorf("%s %s as %s answers %d: %.300s", method, path, role, status, answer)
			}
			return answer
		}
		for _, r := range f.server.Portal.Routes() {
			if r.Method != http.MethodGet || strings.Contains(r.Pattern, "{") || strings.HasPrefix(r.Pattern, "/static") || r.Pattern == "/signout" {
				continue
			}
			pages++
			answer := say(r.Method, r.Pattern)
			if !strings.Contains(answer, mark) {
				continue
			}
			// Approvers see what they decide on, and admins everything.
			marked[role]++
			if role != app.RoleAdmin && !(role == app.RoleApprover && (strings.Contains(answer, "asked") ||
				strings.Contains(r.Pattern, "/activity") && strings.Contains(answer, "requested approval"))) {
				t.Errorf("%s as %s has %q", r.Pattern, role, around(answer, mark))
			}
		}
		if role == app.RoleAdmin {
			continue
		}
		no := func(path string) bool { return role == app.RoleRobot && !strings.HasPrefix(path, "/api/") } // robots have no sign-in
		for _, one := range []struct {
			path, there string
		}{
			{"/api/v1/requests/CLUSTER", fmt.Sprint(request)}, {"/requests/CLUSTER", fmt.Sprint(request)}, {"/requests/CLUSTER/withdraw", fmt.Sprint(request)},
			{"/api/v1/builds/CLUSTER", fmt.Sprint(build)},
		} {
			if no(one.path) || role == app.RoleApprover && strings.Contains(one.path, "requests") {
				continue
			}
			queryRoute(t, one.path, string(role), one.there, func(path string) string { return say(http.MethodGet, path) })
		}
		for _, path := range queryRoutes {
			if no(path) {
				continue
			}
			for _, cluster := range []string{n.Cluster.ID, n.Cluster.Name, q.Cluster} {
				queryRoute(t, path, string(role), cluster, func(path string) string { return say(http.MethodGet, path) })
			}
		}
		for _, act := range []string{"confirm", "withdraw", "reviews", "break-glass"} {
			if role == app.RoleApprover {
				break
			}
			bodies := map[string]string{"reviews": `{"decision":"approve"}`, "break-glass": `{"reason":"because of a test"}`}
			queryRoute(t, "/api/v1/requests/CLUSTER/"+act, string(role), fmt.Sprint(request), func(path string) string {
				asked++
				_, answer := f.send(v, site.URL, http.MethodPost, path, cmp.Or(bodies[act], "{}"))
				return answer
			})
		}
	}
	if marked[app.RoleAdmin] < 3 {
		t.Errorf("an admin finds it on %d pages only", marked[app.RoleAdmin])
	}
	t.Logf("%d pages and answers without a parameter, %d questions in all; the private cluster is on %v of them by role", pages, asked, marked)
}

// queryRoute asks the same about what is there and what is not.
func queryRoute(t *testing.T, path, role, there string, say func(path string) string) {
	t.Helper()
	missing := strings.Repeat("z", len(there))
	if strings.Trim(there, "0123456789") == "" {
		missing = strings.Repeat("9", len(there))
	}
	none := say(strings.ReplaceAll(path, "CLUSTER", missing))
	if difference := tells(say(strings.ReplaceAll(path, "CLUSTER", there)), there, none, missing); difference != "" {
		t.Errorf("%s as %s tells %s from what does not exist:\n%s", path, role, there, difference)
	}
}

// plain is an answer about something, without its name, and without what differs each time.
func plain(answer, of string) string {
	name := `\b` + regexp.QuoteMeta(of) + `\b`
	if strings.Trim(of, "0123456789") == "" {
		name = `(?i)\b(request|build)s?[ /]` + name // other numbers say nothing of it
	}
	answer = regexp.MustCompile(name).ReplaceAllString(answer, "CLUSTER")
	return volatile.ReplaceAllString(answer, "~")
}
