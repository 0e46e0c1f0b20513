//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/fleet"
	"muster/app/identity"
	"muster/app/layout"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/server"
	rest "muster/portal/client"
	"muster/providers/fake"
)

// planted are secrets that stand nowhere else in the world, by what they are.
type planted map[string]string

// find tells which of them, and in which form, stand in something: plain, base64 at each alignment, hex, escaped for a URL or
// JSON. Seven parts of ten are enough, so that one that was cut is found too.
func (p planted) find(b []byte) (found []string) {
	for _, name := range slices.Sorted(maps.Keys(p)) {
		for form, text := range formsOf(p[name]) {
			if bytes.Contains(b, []byte(text)) {
				found = append(found, name+" ("+form+")")
			}
		}
	}
	slices.Sort(found)
	return found
}

func formsOf(secret string) map[string]string {
	part := secret[len(secret)/10 : len(secret)-len(secret)/5]
	j, _ := json.Marshal(part)
	forms := map[string]string{"plain": part, "hex": hex.EncodeToString([]byte(part)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(part))),
		"URL": url.QueryEscape(part), "path": url.PathEscape(part), "JSON": strings.Trim(string(j), `"`)}
	for before := range 3 {
		text := base64.StdEncoding.EncodeToString(append(make([]byte, before), part...))
		forms[fmt.Sprintf("base64 at %d", before)] = text[[]int{0, 2, 3}[before] : (before+len(part))*8/6]
	}
	return forms
}

// search is where has been looked, and what was found there.
type search struct {
	test *testing.T
	planted
	leaks  []string
	places map[string]int // how many of each kind were looked into
	bytes  int
}

func (s *search) look(kind, where string, b []byte, except ...string) {
	s.places[kind]++
	s.bytes += len(b)
	for _, f := range s.find(b) {
		if !slices.ContainsFunc(except, func(e string) bool { return strings.HasPrefix(f, e+" ") }) {
			s.leaks = append(s.leaks, f+" in "+kind+" "+where)
		}
	}
}

// files looks into every file below a directory.
func (s *search) files(kind, dir string, skip ...string) {
	s.test.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || slices.Contains(skip, d.Name()) {
			return nil // what is gone meanwhile holds nothing
		}
		b, err := os.ReadFile(name)
		if err == nil {
			s.look(kind, name, b)
		}
		return nil
	})
	if err != nil {
		s.test.Fatal(err)
	}
}

// processes looks at what every process of this host shows to others: its arguments, and the environment of those that the run
// has started. A step is given its own configuration in its environment; that of the server's own process is not looked at.
func (s *search) processes(own ...string) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		if b, err := os.ReadFile(dir + "/cmdline"); err == nil {
			s.look("arguments", dir, b)
		}
		if dir == fmt.Sprintf("/proc/%d", os.Getpid()) {
			continue
		}
		if b, err := os.ReadFile(dir + "/environ"); err == nil {
			s.look("environment", dir+" "+readShort(dir+"/cmdline"), b, own...)
		}
	}
}

func readShort(file string) string {
	b, _ := os.ReadFile(file)
	return string(bytes.ReplaceAll(b[:min(len(b), 80)], []byte{0}, []byte{' '}))
}

// plantedRun is a whole run with secrets in every place where one can enter.
type plantedRun struct {
	*fleetServer
	search
	state, nodes string // directories
	cookies      *http.Client
}

const leakyService = `
kind: service
name: leaky
actions:
  start: |
    env | sort
    cat "$MUSTER_CONFIG"
    echo "$CONFIG_DB_PASSWORD" | base64
    printf 'user:%%s' "$CONFIG_DB_PASSWORD" | base64 -w0; echo
    echo "key in the script: ${secret:SCRIPT_KEY}"
    printf %%s "$CONFIG_DB_PASSWORD" | od -An -tx1 -v | tr -d ' \n'; echo
    echo "$CONFIG_DB_PASSWORD" >&2
    touch %[1]s/begun-$MUSTER_NODE
    n=0; while [ -e %[1]s/hold ] && [ $n -lt 300 ]; do sleep 0.1; n=$((n+1)); done
    if [ -e %[1]s/fail ]; then echo "failed with $CONFIG_DB_PASSWORD"; exit 3; fi
`

func newPlantedRun(t *testing.T, redis string) *plantedRun {
	t.Helper()
	p := planted{}
	for _, name := range []string{"secret.CLOUD_SECRET", "secret.SCRIPT_KEY", "secret.DB_PASSWORD", "secret.UNUSED", "env.OTHER_SECRET", "password", "key-encryption key"} {
		b := make([]byte, 21)
		_, _ = rand.Read(b)
		p[name] = "pl" + strings.NewReplacer("-", "a", "_", "b").Replace(base64.URLEncoding.EncodeToString(b)) + "ant"
	}
	kek := make([]byte, 32)
	_, _ = rand.Read(kek)
	p["key-encryption key"] = hex.EncodeToString(kek)
	dir := t.TempDir()
	r := &plantedRun{search: search{test: t, planted: p, places: map[string]int{}}, state: filepath.Join(dir, "server"), nodes: filepath.Join(dir, "nodes")}
	nodes := fake.NewNodes(r.nodes)
	t.Cleanup(func() { _ = nodes.Close() })
	cloud := fake.New("cloud")
	cloud.Bind(nodes.Bind)
	account := httptest.NewServer(cloud.Serve(p["secret.CLOUD_SECRET"]))
	t.Cleanup(account.Close)
	w := &fleetServer{T: t, effect: filepath.Join(dir, "effect"), log: &safeBuffer{}, redis: redis}
	r.fleetServer = w
	catalog := filepath.Join(dir, "catalog")
	for _, d := range []string{w.effect, catalog} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	text := "kind: provider\nname: cloud\ntype: fake\nsettings: {url: " + account.URL + ", secret: \"${secret:CLOUD_SECRET}\"}\n" +
		"---\nkind: provider\nname: other\ntype: fake\nsettings: {url: " + account.URL + ", secret: \"${env:OTHER_SECRET}\"}\n" + `---
kind: hardware
name: small
providers: {cloud: {flavor: s}}
---
kind: image
name: linux
providers: {cloud: {image: i}}
---` + fmt.Sprintf(leakyService, w.effect) + `---
kind: template
name: leaky
defaults: {services: [leaky], provider: cloud, config: {db: {password: "${secret:DB_PASSWORD}"}}}
constraints: {size: {min: 1, max: 20}}
`
	if err := os.WriteFile(filepath.Join(catalog, "all.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) { v, ok := p["env."+name]; return v, ok }
	var err error
	w.server, err = server.New(t.Context(), server.Config{Data: r.state, Listen: "127.0.0.1:0", Catalogs: []string{catalog}, RedisURL: redis,
		TLS: server.TLSConfig{Self: true}, Log: cli.NewLogger(w.log, slog.LevelDebug), Env: env, Password: p["password"], Key: p["key-encryption key"]})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan error, 1)
	go func() { ran <- w.server.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		_ = w.server.Close()
	})
	token, err := w.server.Services.Fleet.Provisioners.CreateProvisionerToken(t.Context(), w.admin(""), "test", fleet.AnyProvisionerGrant())
	if err != nil {
		t.Fatal(err)
	}
	p["provisioner token"] = token
	w.token = token + "." + w.server.Fingerprint
	if p["API token"], err = w.server.Services.Identity.Tokens.IssueToken(t.Context(), app.DefaultTenant, "admin", "planted"); err != nil {
		t.Fatal(err)
	}
	return r
}

// call asks the API, with the planted token.
func (r *plantedRun) call(method, path, body string) (int, []byte) {
	r.Helper()
	return r.callAs(r.planted["API token"], method, path, body)
}

func (r *plantedRun) callAs(token, method, path, body string) (int, []byte) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), method, r.server.URL+path, strings.NewReader(body))
	if err != nil {
		r.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" && strings.HasPrefix(body, "{") {
		req.Header.Set("Content-Type", "application/json")
	} else if body != "" {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	resp, err := r.cookies.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.Fatal(err)
	}
	head := new(bytes.Buffer)
	_ = resp.Header.Write(head)
	return resp.StatusCode, append(head.Bytes(), b...)
}

// signIn plants a session's cookie.
func (r *plantedRun) signIn() {
	r.Helper()
	trusted, err := rest.Trust(r.server.Fingerprint)
	if err != nil {
		r.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	r.cookies = &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: trusted}}
	r.Cleanup(r.cookies.CloseIdleConnections)
	resp, err := r.cookies.PostForm(r.server.URL+"/signin", url.Values{"user": {"admin"}, "password": {r.planted["password"]}})
	if err != nil {
		r.Fatal(err)
	}
	_ = resp.Body.Close()
	u, _ := url.Parse(r.server.URL)
	for i, c := range jar.Cookies(u) {
		r.planted[fmt.Sprintf("cookie %d", i)] = c.Value
	}
	if len(jar.Cookies(u)) == 0 {
		r.Fatal("no one is signed in")
	}
}

// open reads a page; of a stream, which does not end, it reads what comes within a moment.
func (r *plantedRun) open(path string) []byte {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), hangs)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.URL+path, nil)
	if err != nil {
		r.Fatal(err)
	}
	resp, err := r.cookies.Do(req)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	address, _, _ := strings.Cut(path, "?")
	stream := strings.HasSuffix(address, "/live")
	if stream {
		defer time.AfterFunc(500*time.Millisecond, cancel).Stop()
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil && !(stream && ctx.Err() != nil) {
		r.Fatal(err)
	}
	return b
}

// crawl reads every linked page, and every GET of the API with the existing ids.
func (r *plantedRun) crawl(cluster string) {
	r.Helper()
	seen, todo := map[string]bool{}, []string{"/", "/admin", "/admin/audit?verify=1", "/admin/audit/export?format=csv", "/admin/secrets", "/admin/webhooks/x", "/clusters/" + cluster}
	link := regexp.MustCompile(`(?:href|data-refresh|data-live|hx-get)="(/[^"#]*)"`)
	for len(todo) > 0 && len(seen) < 300 {
		path := todo[0]
		todo = todo[1:]
		if seen[path] || strings.HasSuffix(path, "/key") {
			continue // it returns a key to its owner, which is what it is for
		}
		seen[path] = true
		b := r.open(path)
		r.look("pages", path, b)
		for _, m := range link.FindAllStringSubmatch(string(b), -1) {
			todo = append(todo, strings.ReplaceAll(m[1], "&amp;", "&"))
		}
	}
	_, spec := r.call("GET", "/api/v1/openapi.json", "")
	var doc struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(spec[bytes.IndexByte(spec, '{'):], &doc); err != nil {
		r.Fatal(err)
	}
	fill := strings.NewReplacer("{id}", cluster, "{operation}", "1", "{node}", "node1", "{name}", "x", "{orphan}", "1")
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		if doc.Paths[path]["get"] == nil || strings.HasSuffix(path, "/key") {
			continue
		}
		for who, token := range r.planted {
			if strings.HasPrefix(who, "API token") {
				_, b := r.callAs(token, "GET", "/api/v1"+fill.Replace(path), "")
				r.look("API", path+" with "+who, b)
			}
		}
	}
}

// plantRoles makes an account with a token for every role.
func (r *plantedRun) plantRoles() {
	r.Helper()
	for _, role := range app.Roles {
		name := "as-" + string(role)
		err := r.server.Store.CreateUser(r.Context(), identity.User{Tenant: app.DefaultTenant, Name: name, Role: role, CreatedAt: time.Now()})
		if err != nil {
			r.Fatal(err)
		}
		if r.planted["API token of "+name], err = r.server.Services.Identity.Tokens.IssueToken(r.Context(), app.DefaultTenant, name, "planted"); err != nil {
			r.Fatal(err)
		}
	}
}

// plantHook makes a hook, whose address and secret are both secret. It is switched off: nothing is to be sent from here.
func (r *plantedRun) plantHook() {
	r.Helper()
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	r.planted["hook secret"], r.planted["hook address"] = base64.StdEncoding.EncodeToString(secret), "pl"+rand.Text()+"ant"
	body := fmt.Sprintf(`{"url": "https://hooks.example.com/services/%s", "secret": "whsec_%s", "enabled": false}`, r.planted["hook address"], r.planted["hook secret"])
	if status, b := r.call("PUT", "/api/v1/webhooks/x", body); status >= 300 {
		r.Fatalf("hook: %d %s", status, b)
	}
}

// create asks for a cluster and waits until its scripts run.
func (r *plantedRun) create(name string) appcluster.View {
	r.Helper()
	v, err := r.server.Services.Cluster.Creates.CreateCluster(r.Context(), r.admin(""), appcluster.CreateRequest{Name: name, Request: layout.Request{Template: "leaky", Size: 2}})
	if err != nil {
		r.Fatal(err)
	}
	k, err := r.server.Store.ClusterSecrets(r.Context(), v.Tenant, v.ID)
	if err != nil {
		r.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(k.PrivateKey)), "\n") {
		if i == 2 { // of an OpenSSH key's lines, those in the middle hold what is secret
			r.planted["SSH key of "+name] = line
		}
	}
	return v
}

func (r *plantedRun) await(what string, id string, done func(appcluster.View) bool) appcluster.View {
	r.Helper()
	for deadline := time.Now().Add(hangs); ; time.Sleep(50 * time.Millisecond) {
		v, err := r.server.Services.Cluster.Views.Cluster(r.Context(), r.admin(""), id)
		if err == nil && done(v) {
			return v
		}
		if time.Now().After(deadline) {
			r.Fatalf("%s: %+v, %v\n%s", what, v.Cluster, err, r.fleetServer.log)
		}
	}
}

// run plants, creates, fails, deletes, and looks everywhere.
func (r *plantedRun) run(during func()) {
	r.signIn()
	for name, v := range r.planted {
		if n, ok := strings.CutPrefix(name, "secret."); ok {
			if status, b := r.call("PUT", "/api/v1/secrets/"+n, v); status != http.StatusNoContent {
				r.Fatalf("%s: %d %s", n, status, b)
			}
		}
	}
	r.plantRoles()
	r.plantHook()
	hold, fail := filepath.Join(r.effect, "hold"), filepath.Join(r.effect, "fail")
	if err := os.WriteFile(hold, nil, 0o600); err != nil {
		r.Fatal(err)
	}
	h := r.start("one")
	good := r.create("good")
	r.await("the scripts do not run", good.ID, func(appcluster.View) bool {
		begun, _ := filepath.Glob(filepath.Join(r.effect, "begun-*"))
		return len(begun) == 2
	})
	// What a step's own script is given it has in its environment; and the provisioner its token.
	r.processes("secret.DB_PASSWORD", "provisioner token")
	if during != nil {
		during()
	}
	_ = os.Remove(hold)
	good = r.await("it is not created", good.ID, func(v appcluster.View) bool { return v.Status == app.ClusterActive })
	if err := os.WriteFile(fail, nil, 0o600); err != nil {
		r.Fatal(err)
	}
	bad := r.create("bad")
	r.await("it does not fail", bad.ID, func(v appcluster.View) bool { return v.Status == app.ClusterFailed })
	r.crawl(good.ID)
	r.crawl(bad.ID)
	r.files("nodes", r.nodes)
	for _, v := range []appcluster.View{good, bad} {
		if _, err := r.server.Services.Cluster.Deletes.DeleteCluster(r.Context(), r.admin(""), v.ID); err != nil {
			r.Fatal(err)
		}
		r.await("it is not deleted", v.ID, func(v appcluster.View) bool { return v.Status == app.ClusterDeleted })
	}
	r.crawl(good.ID)
	// The client's settings hold a token for the directory's owner, and the CA's key is a file of its own kind.
	r.files("data", r.state, cli.ClientFile)
	r.look("log", "of the server", []byte(r.fleetServer.log.String()))
	r.look("log", "of the provisioner and its workers", []byte(h.out.String()))
	logs, err := r.server.Store.Logs(r.Context(), app.DefaultTenant, good.ID, appcluster.LogFilter{Limit: 1000})
	if err != nil || len(logs) < 5 {
		r.Fatalf("the log of the cluster: %d lines, %v", len(logs), err)
	}
	hidden := 0
	for _, l := range logs {
		hidden += strings.Count(l.Text, "•••")
		r.look("lines", fmt.Sprint(l.Operation, ".", l.Index), []byte(l.Text))
	}
	if hidden < 10 {
		r.Errorf("only %d places of the log are hidden: did the scripts say anything?", hidden)
	}
	r.Logf("%d secrets in %d bytes of %v", len(r.planted), r.bytes, r.places)
}

func (r *plantedRun) check() {
	slices.Sort(r.leaks)
	for _, l := range slices.Compact(r.leaks) {
		r.Errorf("LEAK: %s", l)
	}
}

func TestPlantedSecretsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	r := newPlantedRun(t, "")
	r.run(nil)
	r.check()
}

// The test must be able to fail: a secret in any form, in a file, a page or an environment, is found.
func TestPlantedSecretsAreFound(t *testing.T) {
	secret := "plAbCdEfGhIjKlMnOpQrStUvWx/+ant"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plain": secret, "base64": base64.StdEncoding.EncodeToString([]byte("u:" + secret)), "hex": hex.EncodeToString([]byte(secret)),
		"url": url.QueryEscape(secret), "cut": secret[:len(secret)-3], "json": `{"a":"` + secret + `"}`,
	} {
		s := &search{test: t, planted: planted{"it": secret}, places: map[string]int{}}
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte("before "+text+" after"), 0o600); err != nil {
			t.Fatal(err)
		}
		s.files("files", dir)
		if len(s.leaks) == 0 {
			t.Errorf("%s is not found", name)
		}
	}
	s := &search{test: t, planted: planted{"it": secret}, places: map[string]int{}}
	s.look("pages", "/", []byte("nothing"))
	if len(s.leaks) != 0 {
		t.Error(s.leaks)
	}
}

// The preview reports a missing secret, with how to set it; and a request can't refer to one.
func TestSecretsAreAskedForAtThePreview(t *testing.T) {
	r := newPlantedRun(t, "")
	r.start("one") // missing workers would be reported first
	ask := func(config map[string]any) *app.Error {
		t.Helper()
		_, err := r.server.Services.Cluster.Creates.Preview(t.Context(), r.admin(""), appcluster.CreateRequest{Request: layout.Request{Template: "leaky", Size: 1}, Config: config})
		if err == nil {
			return nil
		}
		return app.AsError(err)
	}
	for _, name := range []string{"CLOUD_SECRET", "DB_PASSWORD", "SCRIPT_KEY"} {
		e := ask(nil)
		if e == nil || e.Code != app.EInvalid || !strings.Contains(e.Message, name) || !strings.Contains(e.Hint, "muster secret set "+name) {
			t.Fatalf("without %s: %+v", name, e)
		}
		if err := r.server.Services.Secret.SetSecret(t.Context(), r.admin(""), name, []byte("value")); err != nil {
			t.Fatal(err)
		}
	}
	if e := ask(nil); e != nil {
		t.Errorf("with all: %v", e)
	}
	if e := ask(map[string]any{"a": []any{map[string]any{"b": "${secret:DB_PASSWORD}"}}}); e == nil || e.Code != app.EInvalid || e.Field != "config" {
		t.Errorf("a request reads a secret: %+v", e)
	}
}
