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
	Command  string         `yaml:"command" doc:"A command line, run with sh on the node as root; the service is healthy where it ends with 0. %ip.self% and %config.lb.port% stand for the node's address and a value of the configuration."`
	TCP      port           `yaml:"tcp" doc:"A TCP port that must take a connection, or host:port; the host is the node's own address where absent."`
	HTTP     *httpHealthDoc `yaml:"http" doc:"An HTTP answer that the node must get of itself."`
	Timeout  duration       `yaml:"timeout" doc:"How long one check may take, at most 1m; 5s where absent or 0."`
	Wait     duration       `yaml:"wait" doc:"How long the service may take after its start until it is healthy, at most 1h; 1m where absent or 0."`
	Failures int            `yaml:"failures" least:"0" doc:"Failures in a row that make the service count as sick; 3 where absent or 0."`
}

type httpHealthDoc struct {
	Port   port   `yaml:"port" need:"" doc:"The port."`
	Path   string `yaml:"path" doc:"The path, with what is asked; / where absent."`
	Status int    `yaml:"status" least:"0" doc:"The status that is right; any from 200 to 399 where absent or 0."`
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
	Interval duration   `yaml:"interval" doc:"From one round of the services' health checks to the next, 5s to 1d; 1m where absent or 0."`
	Repair   repairWord `yaml:"repair" doc:"auto has nodes that stay sick, or are lost, made anew without anybody asking; off where absent."`
	After    int        `yaml:"after" least:"0" doc:"Rounds in a row that a node must be sick or lost before it is made anew; 3 where absent or 0."`
	Brake    share      `yaml:"brake" doc:"The share of nodes that may be in need of repair at once, such as 30%. Where there are more, Muster only tells. 30% where absent."`
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
