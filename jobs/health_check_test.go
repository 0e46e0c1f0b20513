package jobs

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/app/family"
	"muster/app/template"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

func TestRunChecks(t *testing.T) {
	node := remotetest.Start(t, remotetest.Options{})
	sh, err := remote.Dial(t.Context(), node.Target())
	if err != nil {
		t.Fatal(err)
	}
	defer sh.Close()
	var asked []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/", http.StatusFound)
			return
		}
		if r.URL.Path == "/bad" {
			http.Error(w, "no", http.StatusServiceUnavailable)
			return
		}
		asked = append(asked, r.Method+" "+r.Host+" "+r.URL.RequestURI())
	}))
	defer web.Close()
	host, port, _ := net.SplitHostPort(web.Listener.Addr().String())
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, closed, _ := net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	_, silent, _ := net.SplitHostPort(mute.Addr().String())
	get := func(path string, status int) *template.HealthCheck {
		return &template.HealthCheck{HTTP: &template.HTTPHealth{Port: port, Path: path, Status: status}}
	}
	all := map[string]struct {
		check *template.HealthCheck
		want  string
	}{
		"works":              {&template.HealthCheck{Command: "true"}, ""},
		"names":              {&template.HealthCheck{Command: `[ "$MUSTER_SERVICE $MUSTER_NODE $MUSTER_CLUSTER $(basename "$MUSTER_STATE")" = "names n1 c1 names" ]`}, ""},
		"fails":              {&template.HealthCheck{Command: "echo it is \"'broken'\"; echo twice >&2; exit 3"}, `command echo it is "'broken'"; echo twice >&2; exit 3 failed with exit code 3: it is 'broken' twice`},
		"silent":             {&template.HealthCheck{Command: "false"}, "command false failed with exit code 1: no response"},
		"hangs":              {&template.HealthCheck{Command: "sleep 60", Timeout: time.Second}, "command sleep 60: no response within 1 s"},
		"much":               {&template.HealthCheck{Command: "head -c 3000000 /dev/zero | tr '\\0' x; exit 1", Timeout: template.MaxHealthTimeout}, "command head -c 3000000"},
		"reads":              {&template.HealthCheck{Command: "read x; [ -z \"$x\" ]"}, ""},
		"lies":               {&template.HealthCheck{Command: "echo muster- 0 0 fine; echo =0; exit 4"}, "command echo muster- 0 0 fine; echo =0; exit 4 failed with exit code 4: muster- 0 0 fine =0"},
		"port":               {&template.HealthCheck{TCP: net.JoinHostPort(host, port)}, ""},
		"port closed":        {&template.HealthCheck{TCP: net.JoinHostPort(host, closed)}, "TCP 127.0.0.1:" + closed + ": connection refused"},
		"page":               {get("/a?b=c&d", 0), ""},
		"page by its status": {get("/bad", 503), ""},
		"page moved":         {get("/moved", 0), ""},
		"other page":         {get("/bad", 0), "GET :" + port + "/bad: 503 Service Unavailable"},
		"other status":       {get("", 204), "GET :" + port + "/: 200 OK, expected 204"},
		"page closed":        {&template.HealthCheck{HTTP: &template.HTTPHealth{Port: closed}}, "GET :" + closed + "/: connection refused"},
		"no page":            {&template.HealthCheck{HTTP: &template.HTTPHealth{Port: silent}, Timeout: time.Second}, "GET :" + silent + "/: no response within 1 s"},
	}
	var checks []nodeCheck
	for name, c := range all {
		if c.check.Timeout == 0 {
			c.check.Timeout = template.MaxHealthTimeout
		}
		if err := c.check.CheckExpanded(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		checks = append(checks, nodeCheck{name, c.check})
	}
	found, err := look(t.Context(), sh, family.NodeContext{Tenant: "t", Cluster: "c1", Node: "n1", Hostname: "n1.internal"}, host, checks)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range all {
		got, ok := found[name]
		if !ok || c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || len(got) > 2*template.MaxHealthReason {
			t.Errorf("%s: %q (%t), want %q", name, got, ok, c.want)
		}
	}
	if want := fmt.Sprintf("[GET %s:%s /a?b=c&d GET %[1]s:%[2]s /]", host, port); fmt.Sprint(asked) != want && fmt.Sprint(asked) != fmt.Sprintf("[GET %s:%s / GET %[1]s:%[2]s /a?b=c&d]", host, port) {
		t.Errorf("the server was asked %v, want %s", asked, want)
	}
	if d := node.Dials(); d != 1 {
		t.Errorf("%d connections", d)
	}
}
