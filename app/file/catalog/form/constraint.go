package form

import (
	"regexp"
	"slices"
	"strconv"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

type constraintsDoc struct {
	Size             SizeDoc                     `yaml:"size" doc:"Number of nodes that a cluster can have."`
	Services         map[string]constraintDoc    `yaml:"services" doc:"Limits for each service."`
	MustCoexist      [][]string                  `yaml:"must_coexist" doc:"Groups of services that must be on the same nodes."`
	CantCoexist      [][]string                  `yaml:"cant_coexist" doc:"Groups of services that can't all be on one node."`
	CantCoexistPairs [][]string                  `yaml:"cant_coexist_pairs" doc:"Groups of services of which no two can be on one node."`
	Ratios           []ratioDoc                  `yaml:"ratios" doc:"Minimum ratios between nodes with one service and nodes with another."`
	Zones            *zonesDoc                   `yaml:"zones" doc:"Even spread of nodes over the provider's zones."`
	Hardware         map[string]hardwareLimitDoc `yaml:"hardware" doc:"Limits for each hardware type."`
	Hosts            *hostRuleDoc                `yaml:"hosts" doc:"Rules for sharing the hosts of a pool. No effect at providers that create machines on demand."`
	mixed            bool                        // mixed_hardware is written even where it is false
	MixedHardware    bool                        `yaml:"mixed_hardware" doc:"Allow nodes with the same services to have different hardware and images. By default, they all have the same, which can be any that these services accept."`
}

type constraintDoc struct {
	Min      *int     `yaml:"min" least:"0" doc:"Minimum nodes with this service; 0 makes it optional. Default: 1."`
	Max      *int     `yaml:"max" least:"0" doc:"Maximum nodes with this service. Default: no limit."`
	Hardware []string `yaml:"hardware" doc:"Hardware that this service can use. Default: any."`
	Images   []string `yaml:"images" doc:"Images that this service can use. Default: any."`
}

type SizeDoc struct {
	Min *int `yaml:"min" least:"1" doc:"Minimum nodes. Default: 1."`
	Max *int `yaml:"max" least:"1" doc:"Maximum nodes. Default: no limit."`

	OneOf []int `yaml:"one_of" doc:"Allowed sizes, such as 3, 5 and 7. Replaces min and max."`
}

type zonesDoc struct {
	MaxSkew  *int     `yaml:"max_skew" least:"1" doc:"Maximum difference in nodes between two zones. Default: 1."`
	Services []string `yaml:"services" doc:"Services whose nodes are spread, each separately. Default: all nodes together."`
}

type hardwareLimitDoc struct {
	Max int `yaml:"max" need:"" least:"0" doc:"Maximum nodes with this hardware."`
}

type hostRuleDoc struct {
	Alone    []string       `yaml:"alone" doc:"Services whose nodes share no host with another cluster."`
	Apart    []hostApartDoc `yaml:"apart" doc:"Services whose nodes share no host with certain services of other clusters."`
	Separate []string       `yaml:"separate" doc:"Services whose nodes in a cluster must all be on different hosts."`
	MaxNodes *int           `yaml:"max_nodes" least:"1" doc:"Maximum nodes of a cluster on one host. Default: no limit."`
}

type hostApartDoc struct {
	Service string   `yaml:"service" need:"" doc:"Service of the cluster."`
	From    []string `yaml:"from" need:"" doc:"Services of other clusters to keep off the same host."`
}

// ratioDoc is "one proxy per 10 app", or the same in parts.
type ratioDoc struct {
	Service string `yaml:"service" need:"" doc:"Service that the ratio requires."`
	Per     int    `yaml:"per" need:"" least:"1" doc:"Maximum counted nodes for each node with the service; a remainder needs one more."`
	Of      string `yaml:"of" need:"" doc:"Service whose nodes are counted."`
}

// ratioPattern is also what the schema says.
const ratioPattern = `^(?:one|1) ([A-Za-z0-9_.-]{1,255}) per ([1-9][0-9]{0,8}) ([A-Za-z0-9_.-]{1,255})$`

var ratioShape = regexp.MustCompile(ratioPattern)

func (r *ratioDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.MappingNode {
		type mapping ratioDoc // without this method
		d.Value(n, ValueOf((*mapping)(r)), path)
		return
	}
	m := ratioShape.FindStringSubmatch(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || m == nil {
		d.Wrong(n, path, `a text such as "one proxy per 10 app", or a mapping with service, per and of`, d.emptyHint(n))
		return
	}
	r.Service, r.Of = m[1], m[3]
	r.Per, _ = strconv.Atoi(m[2]) // the pattern lets at most nine digits through
}

func (ratioDoc) schema() map[string]any {
	type mapping ratioDoc
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "string", "pattern": ratioPattern, "description": "For example: one proxy per 10 app."},
		schemaOf[mapping](),
	}}
}

// constraints turns what was written into the app's word for it.
func (c constraintsDoc) constraints() template.Constraints {
	out := template.Constraints{
		MustCoexist: c.MustCoexist, CantCoexist: c.CantCoexist, CantCoexistPairs: c.CantCoexistPairs,
		Services: make(map[string]template.ServiceConstraint, len(c.Services)),
		Size:     c.Size.Sizes(), MixedHardware: c.MixedHardware,
	}
	for name, s := range c.Services {
		out.Services[name] = serviceConstraint(s.Hardware, s.Images, s.Min, s.Max)
	}
	for _, r := range c.Ratios {
		out.Ratios = append(out.Ratios, template.Ratio(r))
	}
	if z := c.Zones; z != nil {
		out.Zones = &template.ZoneRule{MaxSkew: 1, Services: z.Services}
		if z.MaxSkew != nil {
			out.Zones.MaxSkew = *z.MaxSkew
		}
	}
	if h := c.Hosts; h != nil {
		out.Hosts = &template.HostRule{Alone: h.Alone, Separate: h.Separate}
		for _, a := range h.Apart {
			out.Hosts.Apart = append(out.Hosts.Apart, template.HostApart(a))
		}
		if h.MaxNodes != nil {
			out.Hosts.MaxNodes = *h.MaxNodes
		}
	}
	if len(c.Hardware) > 0 {
		out.Hardware = make(map[string]int, len(c.Hardware))
	}
	for name, h := range c.Hardware {
		out.Hardware[name] = h.Max
	}
	return out
}

func serviceConstraint(hardware, images []string, least, most *int) template.ServiceConstraint {
	c := template.ServiceConstraint{Hardware: hardware, Images: images, Max: template.Unlimited}
	if least != nil {
		c.Min, c.MinSet = *least, true
	}
	if most != nil {
		c.Max = *most
	}
	return c
}

func (d SizeDoc) Sizes() template.SizeRange {
	r := template.SizeRange{Min: 1, Max: template.Unlimited, OneOf: slices.Compact(slices.Sorted(slices.Values(d.OneOf)))}
	if n := len(r.OneOf); n > 0 {
		r.Min, r.Max = r.OneOf[0], r.OneOf[n-1]
	}
	if d.Min != nil {
		r.Min = *d.Min
	}
	if d.Max != nil {
		r.Max = *d.Max
	}
	return r
}
