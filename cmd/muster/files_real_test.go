//go:build real

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"muster/app"
	appusage "muster/app/usage"
	"muster/cmd/muster/cluster"
)

// fileUses say of each function (by folder and name) and operation of the API that hands out a file, and of what others write for us, how the tool
// that the file is for
// uses it, and what that prints. Inventories of every form, the build script, and the files of deploy have tables of their own: TestRealInventories,
// TestRealBuildScript and deploy/check.
var fileUses = map[string][2]string{
	// Spreadsheets. sheet refuses cells that would be formulas.
	"cluster.export":      {`page "/clusters?format=csv" >f; sheet f; rows f "SELECT name, template, nodes, status FROM t WHERE name = 'web'"`, "web|web|3|active\n"},
	"quota.usageShow":     {`page "/usage?format=csv&by=template&step=none" >f; sheet f; rows f "SELECT template, node_hours + 0 > 0 FROM t WHERE template = 'web'"`, "web|1\n"},
	"list-usage":          {`api "/usage?format=csv&by=template&step=none" >f; sheet f; rows f "SELECT template, node_hours + 0 > 0 FROM t WHERE template = 'web'"`, "web|1\n"},
	"policy.UsageCommand": {`muster usage --csv --by template --step none >f; sheet f; rows f "SELECT template, node_hours + 0 > 0 FROM t WHERE template = 'web'"`, "web|1\n"},
	"audit.sendAudit": {`page "/admin/audit/export?format=csv" >f; sheet f; rows f "SELECT count(*) > 3, count(DISTINCT hash) = count(*), sum(token = '''=1+1') > 0 FROM t"
		page /admin/audit/export | jq -s 'length > 3 and all(.hash != "")'`, "1|1|1\ntrue\n"},
	"get-audit-export":            {`api "/audit/export?format=csv" >f; sheet f; rows f "SELECT count(*) > 3 FROM t"; api /audit/export | jq -s 'length > 3'`, "1\ntrue\n"},
	"identity.auditExportCommand": {`muster audit export --as csv >f; sheet f; rows f "SELECT count(*) > 3 FROM t"; muster audit export | jq -s 'length > 3'`, "1\ntrue\n"},
	"CSV":                         {`for f in ../hostile-*.csv; do sheet $f; done; rows ../hostile-clusters.csv "SELECT count(*) FROM t WHERE message LIKE '''%'"`, "9\n"},

	// Ways into machines: a key and host keys open one with nothing added.
	"cluster.Key": {`curl -fsS -b "$jar" -OJ "$site/clusters/$id/key"; page "/clusters/$id/inventory?format=known_hosts" >hosts; chmod 600 *.pem; ssh-keygen -y -P '' -f *.pem | cut -d' ' -f1
		ssh -F none -i *.pem -p "$port" -o BatchMode=yes -o IdentityAgent=none -o StrictHostKeyChecking=yes -o UserKnownHostsFile=hosts "$user@$address" echo opened`, "ssh-ed25519\nopened\n"},
	"cluster.Inventory":            {`page "/clusters/$id/inventory?format=known_hosts" >f; ssh-keygen -F "$host" -f f | grep -c '^[^#]'`, "1\n"},
	"get-clusters-by-id-inventory": {`api "/clusters/$id/inventory?format=known_hosts" >f; ssh-keygen -F "$host" -f f | grep -c '^[^#]'`, "1\n"},
	"cluster.InventoryCommand": {`muster cluster inventory web --format json >f; stat -c %a "$(jq -r .key_file f)"; ssh-keygen -F "$host" -f "$(jq -r .known_hosts f)" | grep -c '^[^#]'
		ssh-keygen -y -P '' -f "$(jq -r .key_file f)" | cut -d' ' -f1`, "600\n1\nssh-ed25519\n"},
	"cluster.keepCertificate": {`ssh-keygen -q -t ed25519 -N '' -f k; muster cluster certificate web --public-key k.pub >/dev/null; muster cluster certificate web --public-key - <k.pub >c
		for f in k-cert.pub c; do ssh-keygen -L -f $f | grep -c 'user certificate'; done`, "1\n1\n"},

	// What Muster reads again.
	"cluster.Spec": {`page "/clusters/$id/spec" >f; muster cluster export web --format json | jq -S . | cmp - <(jq -S . f); muster cluster create copied -f f --preview >/dev/null && echo read`, "read\n"},
	"cluster.clusterExportCommand": {`muster cluster export web >f.yaml; muster cluster create again -f f.yaml --wait >/dev/null; cmp <(muster cluster export web --format json | jq -S .) <(muster cluster export again --format json | jq -S '.name = "web"')
		muster cluster delete again --yes --wait >/dev/null; muster cluster receipt again --format json | jq '.remaining, (.resources | length)'; muster cluster receipt again | grep -c ', 0 left'`, "0\n3\n1\n"},
	"catalog.Export": {`page /admin/catalog/export >own.zip; page "/admin/catalog/export?all=true" >all.zip; unzip -tqq own.zip; unzip -qd own own.zip; unzip -qd all all.zip
		ls own; muster catalog diff -f own >/dev/null; muster catalog lint all | grep -c ' 0 errors'`, "template\n1\n"},
	"catalog.catalogExportCommand": {`muster catalog export own >/dev/null; muster catalog export >f.yaml; for f in own f.yaml; do muster catalog diff -f $f >/dev/null && echo same; done`, "same\nsame\n"},
	"catalog.catalogGetCommand":    {`muster catalog get template mine >f.yaml; muster catalog diff -f f.yaml >/dev/null && echo same`, "same\n"},
	"identity.tenantExportCommand": {`muster tenant export -o f.yaml >/dev/null; muster tenant export | cmp - f.yaml; stat -c %a f.yaml; muster tenant import f.yaml --dry-run >/dev/null && echo read`, "600\nread\n"},
	"database.takeBackup": {`muster backup b.tar.gz >/dev/null; muster backup - >c.tar.gz; stat -c %a b.tar.gz; tar -tzf c.tar.gz >/dev/null
		for f in b.tar.gz c.tar.gz; do muster restore --check $f >/dev/null && echo whole; done`, "600\nwhole\nwhole\n"},
	"resource.sendResource":                                 {`page /admin/resources/shell:archive:site/versions/1/content | cmp - ../site.tar.gz && echo same`, "same\n"},
	"get-resources-by-resource-versions-by-version-content": {`api /resources/shell:archive:site/versions/1/content | cmp - ../site.tar.gz && echo same`, "same\n"},
	"catalog.pull": {`muster resource pull shell/archive/site@1 -O - | tar -tz; muster resource pull shell/archive/site@1 -O f >/dev/null; cmp f ../site.tar.gz`, "site/index.html\n"},

	// What clusters hand out, and a recording of a terminal.
	"output.printOne":       {`curl -fsS "$(muster cluster outputs web site)" >f; test -s f && echo page`, "page\n"},
	"output.writeEnv":       {`muster cluster env web >f; . ./f; curl -fsS "$WEB_SITE" >page; test -s page && echo page`, "page\n"},
	"output.printFile":      {`muster cluster kubeconfig filed | jq -c .`, "[1,2]\n"},
	"nodefile.download":     {`muster cluster run web --on node=n1 -- 'echo kept >"$HOME/kept.txt"' >/dev/null 2>&1; curl -fsS -b "$jar" -OJ "$site/clusters/$id/nodes/n1/files/download?path=kept.txt"; cat kept.txt`, "kept\n"},
	"output.download":       {`curl -fsS -b "$jar" -OJ -d name=kubeconfig "$site/clusters/$(muster --format json cluster show filed | jq -r .id)/outputs/download"; jq -c . config.json`, "[1,2]\n"},
	"connect.streamCommand": {`muster cluster ssh web n1 --through-server -- echo opened`, "opened\n"},
	"terminal.Write": {`t=$(api /terminals | jq -r '.terminals[0].id'); page "/terminals/$t/recording?download" >f; head -n 1 f | jq .version
		tail -n +2 f | jq -s 'all(length == 3)'; tail -n +2 f | jq -sr 'map(.[2]) | join("")' | grep -q 'said 42' && echo said`, "2\ntrue\nsaid\n"},

	// What other programs read.
	"cluster.Download": {`curl -fsS -b "$jar" -OJ "$site/clusters/$id/logs/download"; test -s *.log; grep -cvE '^[0-9-]{10}T[0-9:]{8}Z [^ ]+ [a-z]+ \| ' *.log || true`, "0\n"},
	"/metrics":         {`curl -fsS -H "Authorization: Bearer $token" "$site/metrics" | promtool check metrics`, ""},
	"openapi":          {`curl -fsS "$site/api/v1/openapi.json" | jq -r '.openapi[:2], (.paths | length > 100)'`, "3.\ntrue\n"},
	"catalog schema":   {`muster catalog schema | jq -r '."$schema"[:8]'`, "https://\n"},
	"man":              {`muster man m >/dev/null; groff -man -ww -Tutf8 -z m/*.1 && ls m | wc -l | awk '{ print ($1 > 100) }'`, "1\n"},
	"completion": {`muster completion bash >f; bash -c '. ./f; complete -p muster' | grep -o '__start_muster muster'
		for s in zsh fish; do if command -v $s >/dev/null; then muster completion $s >f.$s; $s -n f.$s; fi; done`, "__start_muster muster\n"},
}

// filesPrelude is what the lines above may call.
const filesPrelude = `set -euo pipefail
page() { curl -fsS -b "$jar" "$site$1"; }
api() { curl -fsS -H "Authorization: Bearer $token" "$site/api/v1$1"; }
rows() { sqlite3 :memory: ".import --csv $1 t" "$2"; }
sheet() { python3 -c '
import csv, re, sys
rows = list(csv.reader(open(sys.argv[1], encoding="utf-8", newline=""), strict=True))
assert len(rows) > 1 and len({len(r) for r in rows}) == 1, rows
for cell in sum(rows, []):
    assert not re.match(r"[=+@\t\r\n＝＋－＠]|-(?!\d+(\.\d+)?$)", cell), cell
' "$1"; }
`

// describedFiles are the API's operations that answer with anything but JSON, by its description; a stream of events is no file.
func describedFiles(t *testing.T) (names []string) {
	t.Helper()
	b, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			Responses   map[string]struct{ Content map[string]any }
		}
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for _, methods := range doc.Paths {
		for _, op := range methods {
			for status, answer := range op.Responses {
				for kind := range answer.Content {
					if strings.HasPrefix(status, "2") && kind != "application/json" && kind != "text/event-stream" {
						names = append(names, op.OperationID)
					}
				}
			}
		}
	}
	return names
}

// handsOut are the functions of a package's folder that write a file for people to take away: those that name Content-Disposition, and those that
// write bytes to a command's output. They are found in the code, so that a new one is noticed.
func handsOut(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal(dir, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, is := d.(*ast.FuncDecl)
			if !is {
				continue // answers of the API are found in its description
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				found := false
				switch n := n.(type) {
				case *ast.BasicLit:
					found = strings.Contains(strings.ToLower(n.Value), "content-disposition")
				case *ast.SelectorExpr:
					x, is := n.X.(*ast.Ident)
					found = is && x.Name == "c" && n.Sel.Name == "Bytes"
				}
				if found {
					names = append(names, filepath.Base(dir)+"."+fn.Name.Name)
				}
				return true
			})
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Every file that is handed out is used by its own tool, as it comes.
func TestRealFiles(t *testing.T) {
	var doors []string
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case slices.Contains([]string{".git", "testdata", "node_modules", "docs", "bin", "providers"}, d.Name()): // clouds get what these write
			return filepath.SkipDir
		}
		if some, err := filepath.Glob(filepath.Join(path, "*.go")); err != nil || len(some) == 0 {
			return err
		}
		doors = append(doors, handsOut(t, path)...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if doors = append(doors, describedFiles(t)...); len(doors) < 20 {
		t.Errorf("only %q hand out files", doors)
	}
	for _, name := range doors {
		if fileUses[name][0] == "" {
			t.Errorf("%s hands out a file that nothing uses: say how its tool does in fileUses", name)
		}
	}

	p := newProcess(t, "MUSTER_ADMIN_PASSWORD="+storyPassword)
	v := p.await(p.create(3).ID)
	if v.Status != app.ClusterActive {
		t.Fatalf("%+v\n%s", v, p.out)
	}
	dir, n := t.TempDir(), v.Nodes[0]
	site := p.client().Settings().URL
	jar, _ := cookiejar.New(nil)
	browser := &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := browser.PostForm(site+"/signin", url.Values{"user": {"admin"}, "password": {storyPassword}})
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	var cookies []string
	for _, c := range resp.Cookies() {
		cookies = append(cookies, c.Name+"="+c.Value)
	}
	hostile := []string{"=1+1", "+1", "-1-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1+1", "－1"}
	var usage appusage.Usage
	var clusters []app.ClusterSummary
	for _, text := range hostile {
		usage.Lines = append(usage.Lines, appusage.Line{Key: text})
		c := app.ClusterSummary{}
		c.Name, c.Owner, c.Template, c.Provider, c.Message, c.Services = text, text, text, text, text, []string{text}
		clusters = append(clusters, c)
	}
	for name, b := range map[string][]byte{"hostile-usage.csv": usage.CSV(), "hostile-clusters.csv": app.ClustersCSV(clusters, true)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "MUSTER_DATA="+p.data, "HOME="+dir, "MUSTER_HOME="+filepath.Join(dir, "own"), "site="+site, "token="+p.client().Settings().Token, "jar="+strings.Join(cookies, "; "),
		"id="+v.ID, "host="+n.Hostname, "address="+n.Address(app.AddressAccess), "user="+n.SSHUser, fmt.Sprintf("port=%d", cluster.SSHPort(n)))
	run := func(t *testing.T, dir, lines string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), hangs)
		defer cancel()
		cmd := exec.CommandContext(ctx, "bash", "-c", filesPrelude+lines)
		cmd.Dir, cmd.Env = dir, env
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%v\n%s\n%s%s", err, lines, out, errs.String())
		}
		return string(out)
	}
	// What the files are of: an own template, a resource, and what was done with a token whose label is a formula.
	run(t, dir, `muster catalog get template web | sed 's/^name: web$/name: mine/; s/^outputs:$/&\n  - {name: kubeconfig, type: file, file: config.json, value: "[1,2]", description: A file}/' >mine.yaml
		muster catalog apply -f mine.yaml >/dev/null; muster cluster create filed --template mine --size 3 --wait >/dev/null
		mkdir site; echo hello >site/index.html; tar -czf site.tar.gz site/index.html; muster resource push shell/archive/site site.tar.gz >/dev/null
		muster user create robo --role robot >/dev/null; t=$(muster token create =1+1 --user robo --scope cluster); ! muster user create other --token "$t" >/dev/null 2>&1`)
	run(t, dir, `curl -fsS -X PUT -H "Authorization: Bearer $token" -H 'Content-Type: application/json' -d '{"record":true,"step_up":false}' "$site/api/v1/terminal-settings" >/dev/null`)
	recordTerminal(t, site, v.ID, jar)
	for _, name := range slices.Sorted(maps.Keys(fileUses)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			own := filepath.Join(dir, strings.ReplaceAll(name, "/", "-"))
			if err := os.Mkdir(own, 0o700); err != nil {
				t.Fatal(err)
			}
			if out := run(t, own, fileUses[name][0]); out != fileUses[name][1] {
				t.Errorf("%q, want %q", out, fileUses[name][1])
			}
		})
	}
}

// recordTerminal opens a terminal as the portal's page does, runs something in it, and closes it.
func recordTerminal(t *testing.T, site, id string, jar http.CookieJar) {
	t.Helper()
	d := websocket.Dialer{Jar: jar}
	at := "ws" + strings.TrimPrefix(site, "http") + "/clusters/" + id + "/nodes/n1/terminal/stream?cols=80&rows=24&announced=1"
	ws, _, err := d.DialContext(t.Context(), at, http.Header{"Origin": {site}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	var mu sync.Mutex
	send := func(kind int, text string) {
		mu.Lock()
		defer mu.Unlock()
		_ = ws.WriteMessage(kind, []byte(text)) // where it fails, reading does
	}
	done := make(chan struct{})
	defer close(done)
	go func() { // what is typed before the shell reads may be lost
		for {
			send(websocket.BinaryMessage, "echo said $((6*7))\n")
			select {
			case <-done:
				return
			case <-time.After(2 * time.Second):
			}
		}
	}()
	for shown := ""; ; {
		kind, b, err := ws.ReadMessage()
		if err != nil {
			return // it was closed
		}
		if kind == websocket.BinaryMessage {
			shown += string(b)
		}
		if strings.Contains(shown, "said 42") {
			shown = ""
			send(websocket.TextMessage, `{"type":"quit"}`)
		}
	}
}
