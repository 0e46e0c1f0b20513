package form

import (
	"regexp"
	"slices"
	"strconv"

	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

type constraintsDoc struct {
	Size             SizeDoc                     `yaml:"size" doc:"How many nodes a cluster may have."`
	Services         map[string]constraintDoc    `yaml:"services" doc:"Limits by service."`
	MustCoexist      [][]string                  `yaml:"must_coexist" doc:"Groups of services of which a node has all or none."`
	CantCoexist      [][]string                  `yaml:"cant_coexist" doc:"Groups of services of which no node has all."`
	CantCoexistPairs [][]string                  `yaml:"cant_coexist_pairs" doc:"Groups of services of which no node has two."`
	Ratios           []ratioDoc                  `yaml:"ratios" doc:"At least one node with a service for every so many nodes with another."`
	Zones            *zonesDoc                   `yaml:"zones" doc:"Spreads the nodes evenly over the provider's zones."`
	Hardware         map[string]hardwareLimitDoc `yaml:"hardware" doc:"Limits by hardware."`
	Hosts            *hostRuleDoc                `yaml:"hosts" doc:"With whom nodes share a host of a pool. It says nothing where machines are made as they are needed."`
	mixed            bool                        // mixed_hardware is written even where it is false
	MixedHardware    bool                        `yaml:"mixed_hardware" doc:"Lets nodes with the same services have different hardware and images. Else nodes with the same services have the same, any that all of these services accept."`
}

type constraintDoc struct {
	Min      *int     `yaml:"min" least:"0" doc:"Fewest nodes with this service; 0 means that it may be left out. One where absent."`
	Max      *int     `yaml:"max" least:"0" doc:"Most nodes with this service. No limit where absent."`
	Hardware []string `yaml:"hardware" doc:"Hardware that this service may be on. Any where absent."`
	Images   []string `yaml:"images" doc:"Images that this service may be on. Any where absent."`
}

type SizeDoc struct {
	Min *int `yaml:"min" least:"1" doc:"Fewest nodes; 1 where absent."`
	Max *int `yaml:"max" least:"1" doc:"Most nodes; no limit where absent."`

	OneOf []int `yaml:"one_of" doc:"The only sizes that are allowed, such as 3, 5 and 7, instead of min and max."`
}

type zonesDoc struct {
	MaxSkew  *int     `yaml:"max_skew" least:"1" doc:"By how many nodes two zones may differ; 1 where absent."`
	Services []string `yaml:"services" doc:"Services whose nodes are spread, each by itself. All nodes together where absent."`
}

type hardwareLimitDoc struct {
	Max int `yaml:"max" need:"" least:"0" doc:"Most nodes of this hardware."`
}

type hostRuleDoc struct {
	Alone    []string       `yaml:"alone" doc:"Services whose nodes share a host with no other cluster."`
	Apart    []hostApartDoc `yaml:"apart" doc:"Services whose nodes share no host with some services of other clusters."`
	Separate []string       `yaml:"separate" doc:"Services of which no host has two nodes of the cluster."`
	MaxNodes *int           `yaml:"max_nodes" least:"1" doc:"Most nodes of the cluster on a host; any number where absent."`
}

type hostApartDoc struct {
	Service string   `yaml:"service" need:"" doc:"A service of the cluster."`
	From    []string `yaml:"from" need:"" doc:"Services of other clusters that it shares no host with."`
}

// ratioDoc is "one proxy per 10 app", or the same in parts.
type ratioDoc struct {
	Service string `yaml:"service" need:"" doc:"The service that there must be enough of."`
	Per     int    `yaml:"per" need:"" least:"1" doc:"For how many nodes one is enough. One more is needed for a rest."`
	Of      string `yaml:"of" need:"" doc:"The service whose nodes are counted."`
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
		map[string]any{"type": "string", "pattern": ratioPattern, "description": "Such as: one proxy per 10 app."},
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
