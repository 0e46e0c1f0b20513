package catalog

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
)

func TestHealthIsRead(t *testing.T) {
	c, err := Load(Options{Env: env(map[string]string{"CLOUD_TOKEN": "sesame"})}, "testdata/good")
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]any{
		"http": {c.Services["proxy"].Health, &template.HealthCheck{HTTP: &template.HTTPHealth{Port: "%config.lb.port%", Path: "/up", Status: 204},
			Timeout: 2 * time.Second, Wait: 30 * time.Second, Failures: 2}},
		"tcp":     {c.Services["queue"].Health, &template.HealthCheck{TCP: "5672"}},
		"command": {c.Services["store"].Health, &template.HealthCheck{Command: "pg_isready -h %ip.self%"}},
		"none":    {c.Services["base"].Health, (*template.HealthCheck)(nil)},
		"reads":   {c.Services["proxy"].Reads, []string{"lb", "proxy"}},
		"reload":  {c.Services["proxy"].Actions[app.ActionReload].Fields["script"], "echo reload"},
		"policy": {c.Templates["watched"].Health,
			&template.HealthPolicy{Interval: 30 * time.Second, Repair: template.RepairAuto, After: 2, Brake: 40}},
		"no policy": {c.Templates["bare"].Health, (*template.HealthPolicy)(nil)},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%s: got %+v, want %+v", name, pair[0], pair[1])
		}
	}
}

func TestHealthProblems(t *testing.T) {
	for name, tc := range map[string]struct{ entry, want string }{
		"nothing":      {"health: {wait: 1m}", `c/a.yaml:3:1: error: service "s": health: a health check needs command, tcp or http; add one of them`},
		"two":          {"health: {tcp: 1, command: x}", `c/a.yaml:3:1: error: service "s": health: a health check takes only one of command, tcp and http; keep one; a command can check several things`},
		"port":         {"health: {tcp: 70000}", `c/a.yaml:3:15: error: service "s": health.tcp: invalid port "70000"; use a number from 1 to 65535`},
		"no port":      {"health: {tcp: 0}", `c/a.yaml:3:15: error: service "s": health.tcp must be a port from 1 to 65535 (found 0)`},
		"host":         {"health: {tcp: 'a b:80'}", `c/a.yaml:3:15: error: service "s": health.tcp: invalid host "a b"; use a port, or host:port`},
		"path":         {"health: {http: {port: 80, path: up}}", `c/a.yaml:3:33: error: service "s": health.http.path: invalid path "up"; start it with / and leave out spaces`},
		"status":       {"health: {http: {port: 80, status: 99}}", `c/a.yaml:3:35: error: service "s": health.http.status: invalid HTTP status 99; leave out status to accept 200 to 399`},
		"timeout":      {"health: {tcp: 80, timeout: 2m}", `c/a.yaml:3:28: error: service "s": health.timeout: the timeout must be at most 1m`},
		"wait":         {"health: {tcp: 80, wait: 2h}", `c/a.yaml:3:25: error: service "s": health.wait: the wait must be at most 1h`},
		"others":       {"health: {tcp: '%ip.service.web%:80'}", `c/a.yaml:3:15: error: service "s": health.tcp: a health check can't name the address of web; use %ip.self%, the node's own address`},
		"macro":        {"health: {command: 'x %ip.slef% y'}", `c/a.yaml:3:19: error: service "s": health.command: "ip.slef" between two % signs isn't a macro: unknown macro.`},
		"mistyped key": {"helth: {tcp: 80}", `c/a.yaml:3:1: error: service "s": unknown key helth; did you mean "health"?`},
		"key below":    {"health: {tpc: 80}", `c/a.yaml:3:10: error: service "s": unknown key health.tpc; did you mean "tcp"?`},
		"good":         {"health: {tcp: '%ip.self%:%config.db.port%', wait: 1h}", ""},
	} {
		got := lint(Options{}, "a.yaml", "kind: service\nname: s\n"+tc.entry+"\n")
		if first, _, _ := strings.Cut(got, "\n"); tc.want == "" && got != "" || !strings.HasPrefix(first, tc.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tc.want)
		}
	}
	for name, tc := range map[string]struct{ entry, want string }{
		"interval": {"health: {interval: 1s}", `c/a.yaml:4:20: error: template "t": health.interval must be from 5s to 1d, not 1s`},
		"repair":   {"health: {repair: yes}", `c/a.yaml:4:18: error: template "t": health.repair must be auto or off (found "yes")`},
		"near":     {"health: {repair: atuo}", `c/a.yaml:4:18: error: template "t": health.repair must be auto or off (found "atuo"); did you mean "auto"?`},
		"brake":    {"health: {brake: 30}", `c/a.yaml:4:17: error: template "t": health.brake must be a share from 1% to 100% (found 30); write 30%`},
		"after":    {"health: {after: 101}", `c/a.yaml:4:17: error: template "t": health.after must be at most 100, not 101`},
		"usual":    {"health: {}", ""},
	} {
		got := lint(Options{}, "a.yaml", "kind: template\nname: t\ndefaults: {services: [x]}\n"+tc.entry+"\n---\nkind: service\nname: x\n")
		if tc.want == "" && got != "" || !strings.HasPrefix(got, tc.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tc.want)
		}
	}
}
