package form

import (
	"bytes"
	"strings"
	"time"

	"muster/app"
	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// Text returns a document as YAML.
func Text(doc any) string {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	// Neither can fail: the nodes are ours, and so is the buffer.
	n := nodeOf(doc)
	n.Style = 0
	_ = enc.Encode(n)
	_ = enc.Close()
	return b.String()
}

func AboutDocOf(k Kind, a template.About) AboutDoc {
	return AboutDoc{Kind: string(k), Name: a.Name, Label: a.Label, Description: a.Description, Icon: a.Icon}
}

func HardwareDocOf(h *template.HardwareType) *hardwareDoc {
	d := &hardwareDoc{AboutDoc: AboutDocOf(KindHardware, h.About), Providers: map[string]flavorDoc{}}
	for name, f := range h.Providers {
		d.Providers[name] = flavorDocOf(f)
	}
	return d
}

func ImageDocOf(i *template.ImageType) *imageDoc {
	d := &imageDoc{AboutDoc: AboutDocOf(KindImage, i.About), Providers: map[string]imageOnDoc{}}
	for name, on := range i.Providers {
		d.Providers[name] = imageOnDocOf(on)
	}
	return d
}

func ServiceDocOf(s *template.Service) *serviceDoc {
	d := &serviceDoc{
		AboutDoc: AboutDocOf(KindService, s.About), Provides: s.Provides, Conflicts: s.Conflicts,
		Install: dependenciesDoc(s.Install), Runtime: dependenciesDoc(s.Runtime), Needs: resourcesDoc(s.Needs), Links: linkDocs(s.Links), Reads: s.Reads,
		Volumes: volumeDocs(s.Volumes),
	}
	if h := s.Health; h != nil {
		d.Health = &healthDoc{Command: h.Command, TCP: port(h.TCP), Timeout: duration(h.Timeout), Wait: duration(h.Wait), Failures: h.Failures}
		if h.HTTP != nil {
			d.Health.HTTP = &httpHealthDoc{Port: port(h.HTTP.Port), Path: h.HTTP.Path, Status: h.HTTP.Status}
		}
	}
	a := &d.Actions
	for action, into := range map[app.Action]**actionDoc{
		app.ActionInstall: &a.Install, app.ActionConfigure: &a.Configure, app.ActionInitialize: &a.Initialize, app.ActionStart: &a.Start,
		app.ActionReload: &a.Reload, app.ActionStop: &a.Stop, app.ActionRemove: &a.Remove,
	} {
		if act := s.Actions[action]; act != nil {
			*into = &actionDoc{Automator: act.Automator, Timeout: duration(act.Timeout), Fields: act.Fields, person: personDocOf(act.Person)}
			for _, r := range act.Resources {
				(*into).Resources = append((*into).Resources, r.String())
			}
		}
	}
	return d
}

func linkDocs(links []app.Link) (out []linkDoc) {
	for _, l := range links {
		out = append(out, linkDoc(l))
	}
	return out
}

func personDocOf(p *template.Person) *personDoc {
	if p == nil {
		return nil
	}
	d := &personDoc{Ask: p.Ask, Help: p.Help, Who: p.Who, Not: p.Not, Timeout: duration(p.Timeout), OnTimeout: string(p.OnTimeout), Once: p.Once}
	for _, f := range p.Fields {
		q := parameterDocOf(f.Parameter)
		d.Fields = append(d.Fields, personFieldDoc{Name: q.Name, Label: q.Label, Help: q.Help, Type: q.Type, Default: q.Default, Required: q.Required, Min: q.Min, Max: q.Max,
			Pattern: q.Pattern, Options: q.Options, Unit: q.Unit, Secret: f.Secret})
	}
	return d
}

func parameterDocOf(p template.Parameter) parameterDoc {
	d := parameterDoc{Name: p.Name, Label: p.Label, Help: p.Help, Type: parameterTypeDoc(p.Type), Default: scalarDoc{p.Default}, Required: p.Required,
		Min: limitDoc(p.Min), Max: limitDoc(p.Max), Pattern: p.Pattern, Unit: p.Unit, To: p.To}
	for _, o := range p.Options {
		d.Options = append(d.Options, optionDoc(o))
	}
	return d
}

// TemplateDocOf also writes single values that are the usual ones where the template says them itself: they count over what it
// extends.
func TemplateDocOf(t *template.Template) *templateDoc {
	says := func(path string) bool { return t.Lines[path] > 0 }
	d := &templateDoc{
		AboutDoc: AboutDocOf(KindTemplate, t.About), Extends: t.Extends, Includes: t.Includes, Partial: t.Partial, State: stateDoc(t.State),
		Version: t.Version, ReplacedBy: t.ReplacedBy, Immutable: immutableDoc{parts: t.Immutable}, Links: linkDocs(t.Links),
		Defaults: defaultsDoc{Provider: t.Defaults.Provider, Hardware: t.Defaults.Hardware, Image: t.Defaults.Image, DNSSuffix: t.Defaults.DNSSuffix,
			Prefer: preferWord(t.Defaults.Prefer), Config: t.Defaults.Config},
		Compatibility: compatDoc(t.Compatibility),
		Constraints:   constraintsDocOf(t.Constraints, says),
		Lease:         leaseDoc{Initial: duration(t.Lease.Initial), Max: duration(t.Lease.Max), Step: duration(t.Lease.Step)},
	}
	d.Lease.said = says("lease") && !strings.HasSuffix(t.Origin.File, ".json") // Coopr writes leases out that say nothing
	for _, s := range t.Defaults.Services {
		d.Defaults.Services = append(d.Defaults.Services, defaultServiceDoc{Name: s})
	}
	for _, p := range t.Parameters {
		d.Parameters = append(d.Parameters, parameterDocOf(p))
	}
	d.Outputs = outputDocs(t.Outputs)
	for _, h := range t.Hooks {
		doc := hookDoc{Name: h.Name, When: string(h.When), SendTo: h.SendTo, Timeout: duration(h.Timeout), OnTimeout: string(h.OnTimeout), Run: h.Script, Services: h.Services}
		for _, k := range h.Operations {
			doc.Operations = append(doc.Operations, string(k))
		}
		d.Hooks = append(d.Hooks, doc)
	}
	if p := t.Batches; p != nil {
		d.Batches = &batchesDoc{Ask: askDoc(p.Ask), Help: p.Help, Who: p.Who, Not: p.Not, Timeout: duration(p.Timeout), OnTimeout: string(p.OnTimeout)}
	}
	if h := t.Health; h != nil {
		d.Health = &healthPolicyDoc{Interval: duration(h.Interval), Repair: repairWord(h.Repair), After: h.After, Brake: share(h.Brake)}
	}
	d.Actions = savedActionDocs(t.Actions)
	d.Idle, d.Scaling = idleDocOf(t.Idle), scalingDocOf(t.Scaling)
	if f := t.Firewall; f != nil {
		d.Firewall = FirewallDocOf(f)
	}
	if l := t.Labels; l != nil {
		d.Labels = &labelsDoc{Defaults: l.Defaults, Required: l.Required}
	}
	d.FallbackHardware = t.FallbackHardware
	d.KeepFailed = keepTime(t.KeepFailed)
	d.Places, d.PlaceOrder = templatePlaceDocs(t.Places), string(t.PlaceOrder)
	if s := t.PartialResults; s != nil {
		d.PartialResults = &partialResultsDoc{MinAvailable: nodeShare(s.MinAvailable)}
		if s.NoBackfill {
			d.PartialResults.Backfill = switchedOff
		}
	}
	return d
}

func constraintsDocOf(c template.Constraints, says func(path string) bool) constraintsDoc {
	d := constraintsDoc{MustCoexist: c.MustCoexist, CantCoexist: c.CantCoexist, CantCoexistPairs: c.CantCoexistPairs}
	d.MixedHardware, d.mixed = c.MixedHardware, says("constraints.mixed_hardware")
	if d.Size.OneOf = c.Size.OneOf; len(c.Size.OneOf) == 0 {
		if c.Size.Min != 1 || says("constraints.size") {
			d.Size.Min = &c.Size.Min
		}
		d.Size.Max = limit(c.Size.Max)
	}
	for name, s := range c.Services {
		doc := constraintDoc{Hardware: s.Hardware, Images: s.Images, Max: limit(s.Max)}
		if s.MinSet {
			doc.Min = &s.Min
		}
		if d.Services == nil {
			d.Services = map[string]constraintDoc{}
		}
		d.Services[name] = doc
	}
	for _, r := range c.Ratios {
		d.Ratios = append(d.Ratios, ratioDoc(r))
	}
	if z := c.Zones; z != nil {
		d.Zones = &zonesDoc{MaxSkew: &z.MaxSkew, Services: z.Services}
	}
	for name, most := range c.Hardware {
		if d.Hardware == nil {
			d.Hardware = map[string]hardwareLimitDoc{}
		}
		d.Hardware[name] = hardwareLimitDoc{Max: most}
	}
	if h := c.Hosts; h != nil {
		d.Hosts = &hostRuleDoc{Alone: h.Alone, Separate: h.Separate}
		for _, a := range h.Apart {
			d.Hosts.Apart = append(d.Hosts.Apart, hostApartDoc(a))
		}
		if h.MaxNodes != 0 {
			d.Hosts.MaxNodes = &h.MaxNodes
		}
	}
	return d
}

// limit returns nil where there is none.
func limit(most int) *int {
	if most == template.Unlimited {
		return nil
	}
	return &most
}

// seconds rounds up to what our form can say: Coopr counts milliseconds.
func (x duration) seconds() int64 {
	return int64((time.Duration(x) + time.Second - 1) / time.Second)
}
