package form

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

type healthDoc struct {
	Command  string         `yaml:"command" doc:"Command run with sh on the node as root. Exit code 0 means healthy. Macros such as %ip.self%, the node's address, and %config.lb.port%, a value of the configuration, are expanded."`
	TCP      port           `yaml:"tcp" doc:"TCP port, or host:port, that must accept connections. Default host: the node's own address."`
	HTTP     *httpHealthDoc `yaml:"http" doc:"HTTP request that the node sends to itself."`
	Timeout  duration       `yaml:"timeout" doc:"Timeout of one check, at most 1m. Default: 5s."`
	Wait     duration       `yaml:"wait" doc:"Time allowed for the service to become healthy after it starts, at most 1h. Default: 1m."`
	Failures int            `yaml:"failures" least:"0" doc:"Consecutive failures that make the service unhealthy. Default: 3."`
}

type httpHealthDoc struct {
	Port   port   `yaml:"port" need:"" doc:"The port."`
	Path   string `yaml:"path" doc:"Request path, with query. Default: /."`
	Status int    `yaml:"status" least:"0" doc:"Expected status code. Default: 200 to 399."`
}

// port is a number, or a text with macros such as %config.lb.port%.
type port string

func (p *port) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode {
		switch n.ShortTag() {
		case "!!int":
			if i, err := strconv.Atoi(n.Value); err == nil && i >= 1 {
				*p = port(n.Value)
				return
			}
		case "!!str":
			if n.Value != "" {
				*p = port(n.Value)
				return
			}
		}
	}
	d.Wrong(n, path, "a port from 1 to 65535", d.emptyHint(n))
}

func (port) schema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "integer", "minimum": 1},
		map[string]any{"type": "string", "minLength": 1},
	}}
}

type healthPolicyDoc struct {
	Interval duration   `yaml:"interval" doc:"Interval between health checks, 5s to 1d. Default: 1m."`
	Repair   repairWord `yaml:"repair" doc:"auto replaces nodes that stay unhealthy or are lost. Default: off."`
	After    int        `yaml:"after" least:"0" doc:"Consecutive checks that a node must be unhealthy or lost before Muster replaces it. Default: 3."`
	Brake    share      `yaml:"brake" doc:"Maximum share of nodes to repair at once, such as 30%. Above it, Muster only notifies. Default: 30%."`
}

type repairWord template.HealthRepair

const repairPattern = `^(auto|off)$`

func (r *repairWord) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && (n.Value == string(template.RepairAuto) || n.Value == string(template.RepairOff)) {
		*r = repairWord(n.Value)
		return
	}
	d.Wrong(n, path, "auto or off", DidYouMean(n.Value, []string{string(template.RepairAuto), string(template.RepairOff)}))
}

func (repairWord) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": repairPattern}
}

// share is a part of a hundred: 30%.
type share int

const sharePattern = `^([1-9][0-9]?|100)%$`

var shareShape = regexp.MustCompile(sharePattern)

func (s *share) fromNode(d *Decoder, n *yaml.Node, path string) {
	hint := ""
	if n.Kind == yaml.ScalarNode {
		if n.ShortTag() == "!!str" && shareShape.MatchString(n.Value) {
			v, _ := strconv.Atoi(strings.TrimSuffix(n.Value, "%")) // the pattern lets at most three digits through
			*s = share(v)
			return
		}
		if n.ShortTag() == "!!int" && shareShape.MatchString(n.Value+"%") {
			hint = "write " + n.Value + "%"
		}
	}
	d.Wrong(n, path, "a share from 1% to 100%", hint)
}

func (share) schema() map[string]any {
	return map[string]any{"type": "string", "pattern": sharePattern}
}

var (
	_ noder   = (*port)(nil)
	_ noder   = (*repairWord)(nil)
	_ noder   = (*share)(nil)
	_ schemer = port("")
	_ schemer = repairWord("")
	_ schemer = share(0)
)

func (h *healthDoc) check() *template.HealthCheck {
	if h == nil {
		return nil
	}
	out := &template.HealthCheck{
		Command: h.Command, TCP: string(h.TCP), Timeout: time.Duration(h.Timeout), Wait: time.Duration(h.Wait), Failures: h.Failures,
	}
	if h.HTTP != nil {
		out.HTTP = &template.HTTPHealth{Port: string(h.HTTP.Port), Path: h.HTTP.Path, Status: h.HTTP.Status}
	}
	return out
}

func (h *healthPolicyDoc) policy() *template.HealthPolicy {
	if h == nil {
		return nil
	}
	return &template.HealthPolicy{
		Interval: time.Duration(h.Interval), Repair: template.HealthRepair(h.Repair), After: h.After, Brake: int(h.Brake),
	}
}
