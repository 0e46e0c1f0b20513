package form

import (
	"regexp"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

type partialResultsDoc struct {
	MinAvailable nodeShare `yaml:"min_available" doc:"Minimum nodes to accept: a number such as 3, or a share of the requested nodes such as 60%. Default: as few as the constraints allow."`
	Backfill     onOff     `yaml:"backfill" doc:"off disables the backfill of missing nodes. Default: on."`
}

// nodeShare is a number of nodes, or a part of those that were asked for.
type nodeShare template.NodeShare

const nodeSharePattern = `^([1-9][0-9]{0,5}|([1-9][0-9]?|100)%)$`

var nodeShareShape = regexp.MustCompile(nodeSharePattern)

func (s *nodeShare) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!int" || n.ShortTag() == "!!str") && nodeShareShape.MatchString(n.Value) {
		*s = nodeShare(n.Value)
		return
	}
	d.Wrong(n, path, "a number of nodes, or a share from 1% to 100%", d.emptyHint(n))
}

func (nodeShare) schema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "integer", "minimum": 1},
		map[string]any{"type": "string", "pattern": nodeSharePattern},
	}}
}

// onOff is a choice that is on where nothing is said.
type onOff string

const (
	switchedOn  onOff = "on"
	switchedOff onOff = "off"
)

func (o *onOff) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode {
		switch n.Value {
		case "on", "true":
			*o = switchedOn
			return
		case "off", "false":
			*o = switchedOff
			return
		}
	}
	d.Wrong(n, path, "on or off", "")
}

func (onOff) schema() map[string]any {
	return map[string]any{"enum": []any{true, false, string(switchedOn), string(switchedOff)}}
}

// keepTime is for how long failed machines are kept, or off.
type keepTime template.KeepTime

func (k *keepTime) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && n.Value != "" && (n.ShortTag() == "!!str" || n.ShortTag() == "!!bool" && n.Value == "off") &&
		template.KeepTime(n.Value).Check() == nil {
		*k = keepTime(n.Value)
		return
	}
	d.Wrong(n, path, "a duration from 15m to 72h, such as 4h, or off", d.emptyHint(n))
}

func (keepTime) schema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "string", "pattern": durationPattern, "minLength": 2},
		map[string]any{"enum": []any{false, string(template.KeepOff)}},
	}}
}

var (
	_ noder   = (*nodeShare)(nil)
	_ noder   = (*keepTime)(nil)
	_ schemer = keepTime("")
	_ noder   = (*onOff)(nil)
	_ schemer = nodeShare("")
	_ schemer = onOff("")
)

func (s *partialResultsDoc) partialResults() *template.PartialResults {
	if s == nil {
		return nil
	}
	return &template.PartialResults{MinAvailable: template.NodeShare(s.MinAvailable), NoBackfill: s.Backfill == switchedOff}
}
