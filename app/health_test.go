package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/health"
	"muster/app/template"
)

// A node's story, round by round: w is well, f a failure of web, b one of web and db, u unreachable, m the same as w on another machine.
func TestNodeHealth(t *testing.T) {
	for name, tc := range map[string]struct{ rounds, want string }{
		"well from the beginning":                 {"w", "healthy"},
		"one failure is none":                     {"wf", "healthy"},
		"two are":                                 {"wff", "unhealthy"},
		"one good one is enough":                  {"wffw", "healthy"},
		"it has to be in a row":                   {"wfwf", "healthy"},
		"unknown until it is known":               {"f", "unknown"},
		"unhealthy from the beginning":            {"ff", "unhealthy"},
		"another service is worse off":            {"wb", "unhealthy"},
		"not reached once":                        {"wuu", "healthy"},
		"unreachable":                             {"wuuu", "unreachable"},
		"reached again":                           {"wuuuw", "healthy"},
		"reached, and not quite well":             {"wuuuf", "healthy"},
		"unhealthy stays unhealthy while it goes": {"wffuu", "unhealthy"},
		"failures count over a gap":               {"wfuf", "unhealthy"},
		"another machine starts over":             {"wfmf", "healthy"},
	} {
		h := health.NodeHealth{Node: "n1", State: health.Unknown, Machine: "a"}
		machine := "a"
		at := time.Unix(1000, 0)
		changed := at
		for _, r := range tc.rounds {
			at = at.Add(time.Minute)
			f := health.NodeFinding{Node: "n1"}
			switch r {
			case 'f':
				f.Wrong = map[string]string{"web": "no answer"}
			case 'b':
				f.Wrong = map[string]string{"web": "no answer", "db": "no answer"}
			case 'u':
				f.Unreachable = "it does not answer"
			case 'm':
				machine = "b"
			}
			before := h.State
			h = h.After(f, machine, map[string]int{"web": 2, "db": 1}, 5, at)
			if h.State != before {
				changed = at
			}
			if h.State != before && !h.Since.Equal(at) || !h.Since.IsZero() && !h.Since.Equal(changed) {
				t.Errorf("%s: since %v, want %v", name, h.Since, changed)
			}
		}
		if string(h.State) != tc.want {
			t.Errorf("%s: %s, want %s (%+v)", name, h.State, tc.want, h)
		}
	}
}

// What is kept of a node that stays unhealthy stops growing, so that it is not written with every round.
func TestNodeHealthComesToRest(t *testing.T) {
	h := health.NodeHealth{State: health.Healthy, Machine: "a"}
	f := health.NodeFinding{Node: "n1", Wrong: map[string]string{"web": "no"}}
	var last string
	for i := range 20 {
		h = h.After(f, "a", map[string]int{"web": 3}, 4, time.Unix(int64(1000+i), 0))
		now := fmt.Sprintf("%+v", h)
		if i > 8 && now != last {
			t.Fatalf("round %d changes %s to %s", i, last, now)
		}
		last = now
	}
	if h.Checks != 4 || h.Counts["web"] != 3 || h.Plain() {
		t.Errorf("at rest: %+v", h)
	}
}

func TestClusterHealth(t *testing.T) {
	ill := func(node string, s health.State) health.NodeHealth {
		return health.NodeHealth{Node: node, State: s, Reasons: []string{"web: no"}}
	}
	many := []health.NodeHealth{}
	for i := range 7 {
		many = append(many, ill(app.NodeName(i+1), health.Unhealthy))
	}
	for name, tc := range map[string]struct {
		nodes  []health.NodeHealth
		of     int
		looked bool
		want   string
	}{
		"not looked at": {nil, 3, false, "unknown 0 0 0 3 "},
		"healthy":       {nil, 3, true, "healthy 3 0 0 0 "},
		"failing yet":   {[]health.NodeHealth{ill("n1", health.Healthy)}, 3, true, "healthy 3 0 0 0 "},
		"unhealthy":     {[]health.NodeHealth{ill("n2", health.Unhealthy)}, 3, true, "unhealthy 2 1 0 0 n2 is unhealthy: web: no."},
		"both": {[]health.NodeHealth{ill("n1", health.Unreachable), ill("n2", health.Unhealthy)}, 3, true,
			"unhealthy 1 1 1 0 n1 is unreachable: web: no; n2 is unhealthy: web: no."},
		"many": {many, 10, true, "unhealthy 3 7 0 0 n1 is unhealthy: web: no; n2 is unhealthy: web: no; n3 is unhealthy: web: no; n4 is unhealthy: web: no; n5 is unhealthy: web: no; and 2 more."},
	} {
		h := health.ClusterHealth{Nodes: tc.nodes}
		h.Sum(tc.of, tc.looked)
		if got := fmt.Sprintf("%s %d %d %d %d %s", h.State, h.Healthy, h.Unhealthy, h.Unreachable, h.Unknown, h.Reason); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func TestAutomaticRepair(t *testing.T) {
	auto := template.HealthPolicy{Repair: template.RepairAuto}
	ill := func(rounds ...int) (all []health.NodeHealth) {
		for i, r := range rounds {
			all = append(all, health.NodeHealth{Node: app.NodeName(i + 1), State: health.Unhealthy, Checks: r})
		}
		return all
	}
	due := func(change func(d *execution.RepairDue)) execution.RepairDue {
		d := execution.RepairDue{Policy: auto, Nodes: 10, Ill: ill(3), TenantNodes: 20, TenantIll: 1}
		change(&d)
		return d
	}
	for name, tc := range map[string]struct {
		due    execution.RepairDue
		nodes  string
		braked bool
		after  time.Duration
		note   string // how it begins
		fails  int
		judged bool
	}{
		"one":               {due: due(func(*execution.RepairDue) {}), nodes: "n1", after: 30 * time.Second},
		"not for long":      {due: due(func(d *execution.RepairDue) { d.Ill = ill(2) })},
		"not by itself":     {due: due(func(d *execution.RepairDue) { d.Policy.Repair = template.RepairOff })},
		"only the long ill": {due: due(func(d *execution.RepairDue) { d.Ill, d.TenantIll = ill(3, 1, 3), 3 }), nodes: "n1 n3", after: 30 * time.Second},
		"too many": {due: due(func(d *execution.RepairDue) { d.Ill, d.TenantIll = ill(3, 1, 3, 1), 4 }), braked: true, after: 30 * time.Second,
			note: "Automatic repair is paused: 4 of 10 nodes are unhealthy at once, more than the limit of 30%."},
		"as many as its own brake allows": {due: due(func(d *execution.RepairDue) { d.Ill, d.Policy.Brake, d.TenantIll = ill(3, 3, 3, 3, 3), 50, 5 }), nodes: "n1 n2 n3 n4 n5",
			after: 30 * time.Second},
		"one of few is never too many": {due: due(func(d *execution.RepairDue) { d.Nodes, d.TenantNodes = 1, 1 }), nodes: "n1", after: 30 * time.Second},
		"two of few are":               {due: due(func(d *execution.RepairDue) { d.Nodes, d.Ill = 3, ill(3, 3) }), braked: true, after: 30 * time.Second, note: "Automatic repair is paused: 2 of 3 nodes"},
		"too many of the tenant's": {due: due(func(d *execution.RepairDue) { d.TenantIll = 7 }), braked: true, after: 30 * time.Second,
			note: "Automatic repair is paused: 7 of the tenant's 20 nodes are unhealthy or were repaired within the last hour"},
		"another is being repaired": {due: due(func(d *execution.RepairDue) { d.Repairing = 9 }), after: 30 * time.Second, note: "Operation 9 is repairing another cluster"},
		"machines that are taken away don't wait": {nodes: "n4", after: 30 * time.Second,
			due: due(func(d *execution.RepairDue) { d.Ill, d.Interrupted, d.Repairing = nil, []string{"n4"}, 9 })},
		"taken away and not ill for long": {nodes: "n2", after: 30 * time.Second,
			due: due(func(d *execution.RepairDue) { d.Ill, d.Interrupted, d.TenantIll = ill(1, 1), []string{"n2"}, 2 })},
		"too many with those taken away": {braked: true, after: 30 * time.Second,
			due:  due(func(d *execution.RepairDue) { d.Ill, d.Interrupted = ill(3, 1, 1), []string{"n3", "n4"} }),
			note: "Automatic repair is paused: 4 of 10 nodes are unhealthy or about to be interrupted at once, more than the limit of 30%."},
		"taken away, but not by itself": {
			due: due(func(d *execution.RepairDue) {
				d.Ill, d.Interrupted, d.Policy.Repair = nil, []string{"n1"}, template.RepairOff
			})},
		"it is being repaired": {due: due(func(d *execution.RepairDue) { d.Repair, d.RepairStatus = 7, app.OperationRunning }), after: 30 * time.Second,
			note: "Operation 7 is repairing the cluster."},
		"it was repaired": {due: due(func(d *execution.RepairDue) {
			d.Repair, d.RepairStatus, d.Ill, d.Failures = 7, app.OperationSucceeded, nil, 2
		}), judged: true},
		"and is ill again": {due: due(func(d *execution.RepairDue) { d.Repair, d.RepairStatus = 7, app.OperationSucceeded }), nodes: "n1", judged: true,
			after: 30 * time.Second},
		"it failed": {due: due(func(d *execution.RepairDue) { d.Repair, d.RepairStatus = 7, app.OperationFailed }), judged: true, fails: 1, after: 10 * time.Minute,
			note: "Repair operation 7 is failed. Next attempt in 10 min."},
		"a hook said no": {due: due(func(d *execution.RepairDue) {
			d.Repair, d.RepairStatus, d.RepairVeto, d.Failures = 7, app.OperationCancelled, `Webhook "gate" vetoed the repair: no. Nothing was changed.`, 1
		}), judged: true, fails: 2, after: 20 * time.Minute,
			note: `Repair operation 7 is cancelled. Webhook "gate" vetoed the repair: no. Nothing was changed. Next attempt in 20 min.`},
		"again": {due: due(func(d *execution.RepairDue) { d.Repair, d.RepairStatus, d.Failures = 7, app.OperationFailed, 2 }), judged: true, fails: 3,
			after: 40 * time.Minute, note: "Repair operation 7"},
		"forever": {due: due(func(d *execution.RepairDue) { d.Repair, d.RepairStatus, d.Failures = 7, app.OperationFailed, 99 }), judged: true, fails: 100,
			after: 6 * time.Hour, note: "Repair operation 7"},
	} {
		c := tc.due.Choose()
		if strings.Join(c.Nodes, " ") != tc.nodes || c.Braked != tc.braked || c.After != tc.after || !strings.HasPrefix(c.Note, tc.note) || tc.note == "" && c.Note != "" ||
			c.Failure != tc.fails || c.Judged != tc.judged {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

func TestHealthCheckIsExpanded(t *testing.T) {
	n := app.Node{Name: "n2", Hostname: "c1-n2.internal", Services: []string{"web"}, Addresses: map[string]string{app.AddressBind: "10.0.0.2"}}
	cluster := template.NewMacroCluster("ada", []app.Node{{Name: "n1", Services: []string{"web"}}, n})
	config := map[string]any{"lb": map[string]any{"port": 8080, "path": "/up", "name": "it's", "key": "${secret:KEY}", "list": []any{1}}}
	for name, tc := range map[string]struct {
		check template.HealthCheck
		want  string // what it asks, or the error
	}{
		"plain":        {template.HealthCheck{TCP: "80"}, "TCP 10.0.0.2:80"},
		"other host":   {template.HealthCheck{TCP: "127.0.0.1:80"}, "TCP 127.0.0.1:80"},
		"of config":    {template.HealthCheck{TCP: "%ip.self%:%config.lb.port%"}, "TCP 10.0.0.2:8080"},
		"page":         {template.HealthCheck{HTTP: &template.HTTPHealth{Port: "%config.lb.port%", Path: "%config.lb.path%"}}, "GET :8080/up"},
		"command":      {template.HealthCheck{Command: "check %ip.self% %config.lb.name% %instance.self.service.web%"}, `command check 10.0.0.2 'it'\''s' 2`},
		"percent":      {template.HealthCheck{Command: "df | grep 100%"}, "command df | grep 100%"},
		"missing":      {template.HealthCheck{TCP: "%config.lb.prot%"}, "health.tcp: lb.prot isn't a plain value in the configuration."},
		"a list":       {template.HealthCheck{Command: "x %config.lb.list%"}, "health.command: lb.list isn't a plain value in the configuration."},
		"a secret":     {template.HealthCheck{Command: "x %config.lb.key%"}, "health.command: lb.key contains a secret, which health checks can't use."},
		"no port":      {template.HealthCheck{TCP: "%config.lb.name%"}, `health.tcp: invalid port "it's".`},
		"long command": {template.HealthCheck{Command: "a\nb"}, "command a …"},
	} {
		got, err := tc.check.Expand(cluster, n, config)
		var text string
		if err != nil {
			text = app.AsError(err).Message
		} else {
			text = got.Asks()
		}
		if text != tc.want {
			t.Errorf("%s: %s, want %s", name, text, tc.want)
		}
	}
	if config["lb"].(map[string]any)["port"] != 8080 {
		t.Error("the configuration was changed")
	}
}
