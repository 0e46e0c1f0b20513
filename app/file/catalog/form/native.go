package form

import (
	"time"

	"muster/app"
	"muster/app/resource"
	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// The structs of Muster's own form. Their tags are all that the decoder and the schema know: yaml is the key, need
// marks it as required, least bounds a number, name asks for a catalog name, hide keeps values out of messages, doc is
// what an editor shows.

type AboutDoc struct {
	Kind        string `yaml:"kind" need:"" doc:"What this entry describes."`
	Name        string `yaml:"name" need:"" name:"" doc:"The name by which other entries and requests refer to it: letters, digits, '_', '.' and '-'."`
	Label       string `yaml:"label" doc:"A title for people; the name where absent."`
	Description string `yaml:"description" doc:"A sentence or two for the person who chooses."`
	Icon        string `yaml:"icon" doc:"The URL of a picture."`
}

type ProviderDoc struct {
	AboutDoc
	Type        string            `yaml:"type" need:"" doc:"The kind of cloud, such as sandbox or digitalocean."`
	Zones       []string          `yaml:"zones" doc:"Parts of the cloud that fail apart from each other, by the names that it gives them. A template can spread its nodes over them."`
	Rate        Rate              `yaml:"rate" doc:"How many calls the account takes from all of Muster together, such as 10/s, 600/m or 5000/h; what is usual for the kind of cloud where absent."`
	Currency    string            `yaml:"currency" doc:"Currency of this account's prices, by ISO 4217, such as EUR; the installation's where absent."`
	Exchange    float64           `yaml:"exchange_rate" least:"0" doc:"What one unit of the currency is worth in the installation's, such as 1.08. Required where the currencies differ."`
	Provisioner map[string]string `yaml:"provisioner" doc:"Tags that a provisioner must have to carry out steps of this provider, such as region: eu. Any provisioner does where absent."`
	Settings    map[string]any    `yaml:"settings" hide:"" doc:"What this kind of cloud needs to know. A text may hold ${env:NAME}, which stands for an environment variable of the server, so that secrets stay out of files."`
}

type hardwareDoc struct {
	AboutDoc
	Providers map[string]flavorDoc `yaml:"providers" need:"" doc:"What each provider, by name, calls this size of machine."`
}

type flavorDoc struct {
	Flavor            string               `yaml:"flavor" need:"" doc:"The provider's own name for the size."`
	CostPerHour       float64              `yaml:"cost_per_hour" least:"0" doc:"Price of one machine for an hour, in the provider's currency."`
	AsleepCostPerHour *float64             `yaml:"asleep_cost_per_hour" least:"0" doc:"Price of one machine for an hour while it is stopped because its cluster sleeps; cost_per_hour where absent."`
	CPU               float64              `yaml:"cpu" least:"0" doc:"Virtual cores."`
	MemoryGB          float64              `yaml:"memory_gb" least:"0" doc:"Memory in GiB."`
	DiskGB            float64              `yaml:"disk_gb" least:"0" doc:"Disk in GiB."`
	Extra             map[string]plainText `yaml:"extra" doc:"Anything else that the provider understands, such as root_disk_gb; see its page."`
}

type imageDoc struct {
	AboutDoc
	Providers map[string]imageOnDoc `yaml:"providers" need:"" doc:"What each provider, by name, calls this operating system."`
}

type imageOnDoc struct {
	Image   string               `yaml:"image" need:"" doc:"The provider's own name for the image."`
	SSHUser string               `yaml:"ssh_user" doc:"The user that the image lets in over SSH; root where absent."`
	Extra   map[string]plainText `yaml:"extra" doc:"Anything else that the provider understands, and os, os_version and firewall, to which machines are held."`
}

type serviceDoc struct {
	AboutDoc
	Provides  []string        `yaml:"provides" doc:"Other names that this service can stand for in requires and uses."`
	Conflicts []string        `yaml:"conflicts" doc:"Services that may not be on the same cluster."`
	Install   dependenciesDoc `yaml:"install" doc:"What must be installed before this service is."`
	Runtime   dependenciesDoc `yaml:"runtime" doc:"What must run before this service starts."`
	Needs     resourcesDoc    `yaml:"needs" doc:"What this service takes of its node. All services of a node together take no more than its hardware offers; what hardware does not state is not limited."`
	Actions   ActionsDoc      `yaml:"actions" doc:"How each act is carried out on a node. An act that is absent does nothing."`
	Links     []linkDoc       `yaml:"links" doc:"Pages of this service, shown with the cluster."`
	Health    *healthDoc      `yaml:"health" doc:"How to see whether the service works. Where absent, its start is all that is known."`
	Reads     []string        `yaml:"reads" doc:"The keys of the configuration, at its top, that the service is set up by. Where absent, all but those that have the name of another service."`
}

type dependenciesDoc struct {
	Requires []string `yaml:"requires" doc:"Services that must be on the cluster."`
	Uses     []string `yaml:"uses" doc:"Services that go first where they are on the cluster."`
}

type resourcesDoc struct {
	CPU      float64 `yaml:"cpu" least:"0" doc:"Virtual cores."`
	MemoryGB float64 `yaml:"memory_gb" least:"0" doc:"Memory in GiB."`
	DiskGB   float64 `yaml:"disk_gb" least:"0" doc:"Disk in GiB."`
}

type ActionsDoc struct {
	Install    *actionDoc `yaml:"install" doc:"Put the software on the node."`
	Configure  *actionDoc `yaml:"configure" doc:"Write its configuration; run again whenever that changes."`
	Initialize *actionDoc `yaml:"initialize" doc:"Prepare its data, once, before the first start."`
	Start      *actionDoc `yaml:"start" doc:"Start it and wait until it answers."`
	Reload     *actionDoc `yaml:"reload" doc:"Have it read its configuration anew without stopping. Where absent, it is stopped and started instead."`
	Stop       *actionDoc `yaml:"stop" doc:"Stop it; harmless when it does not run."`
	Remove     *actionDoc `yaml:"remove" doc:"Take it off the node, with its data."`
}

type actionDoc struct {
	Automator string            `yaml:"automator" need:"" doc:"The tool that carries it out, such as shell."`
	Timeout   duration          `yaml:"timeout" doc:"How long one try may take; the automator's own limit where absent or 0."`
	Fields    map[string]string `yaml:"fields" doc:"What the tool needs to know. For shell: script, and optionally args."`
	Resources []string          `yaml:"resources" doc:"Archives and files that admins have pushed for the tool, and that the node gets: name, name@version or type/name."`
	person    *personDoc        // who carries it out instead
}

// fromNode takes plain text as a shell script.
func (a *actionDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if n.Value == "" {
			d.Wrong(n, path, "a shell script", "leave the key out where there is nothing to do")
			return
		}
		*a = actionDoc{Automator: "shell", Fields: map[string]string{"script": n.Value}}
		return
	}
	if n.Kind != yaml.MappingNode {
		d.Wrong(n, path, "a shell script, or a mapping with automator, timeout and fields, or with person", d.emptyHint(n))
		return
	}
	if asksPerson(n) {
		var doc personActionDoc
		d.Value(n, ValueOf(&doc), path)
		a.person = &doc.Person
		return
	}
	type mapping actionDoc // without this method
	d.Value(n, ValueOf((*mapping)(a)), path)
}

func (actionDoc) schema() map[string]any {
	type mapping actionDoc
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "string", "minLength": 1, "description": "A script, run with sh -eu."},
		schemaOf[mapping](),
		schemaOf[personActionDoc](),
	}}
}

type linkDoc struct {
	Label string `yaml:"label" need:"" doc:"The text of the link."`
	URL   string `yaml:"url" need:"" doc:"The address; may hold macros such as %ip.service.web[0]%."`
}

type templateDoc struct {
	AboutDoc
	Extends       string         `yaml:"extends" doc:"A template to take everything from that is not said here."`
	Includes      []string       `yaml:"includes" doc:"Partial templates whose parts are added, the later over the earlier."`
	Partial       bool           `yaml:"partial" doc:"Whether this is only a part of other templates, which nobody makes clusters of."`
	State         stateDoc       `yaml:"state" doc:"draft: admins alone see it and may try it; deprecated: whoever uses it is told so, and what to use instead. published where absent."`
	Version       string         `yaml:"version" doc:"Any text that tells people which version this is. Muster counts by itself, too."`
	ReplacedBy    string         `yaml:"replaced_by" doc:"The template to use instead of this one, which is deprecated."`
	Parameters    []parameterDoc `yaml:"parameters" doc:"Values that people set; forms have a field for each."`
	Immutable     immutableDoc   `yaml:"immutable" doc:"Parts that neither requests nor templates made from this one may say otherwise: config, paths such as config.ssl, services, provider, hardware, image, dns_suffix, lease. true stands for each key of the configuration that is written here."`
	Defaults      defaultsDoc    `yaml:"defaults" doc:"What a cluster gets where the request says nothing."`
	Compatibility compatDoc      `yaml:"compatibility" doc:"What a request may use instead. An absent list allows everything."`
	Constraints   constraintsDoc `yaml:"constraints" doc:"What holds for every layout of this template."`
	Lease         leaseDoc       `yaml:"lease" doc:"How long clusters live."`
	Links         []linkDoc      `yaml:"links" doc:"Pages shown with the cluster."`
	Hooks         []hookDoc      `yaml:"hooks" doc:"What is asked before operations, told after them, or run on nodes then. Scripts of the same time run in this order."`

	Batches *batchesDoc      `yaml:"batches" doc:"A person looks between the batches in which nodes are changed. Where absent, only where the change asks for it."`
	Health  *healthPolicyDoc `yaml:"health" doc:"How often clusters are looked at, and what is done where nodes are sick. Where absent, nobody looks."`

	Firewall *firewallDoc `yaml:"firewall" doc:"What reaches the machines from outside, beside SSH: where it stands, the provider makes a firewall for each cluster and removes it with it. Where absent, whatever the account does by itself."`

	FallbackHardware map[string][]string `yaml:"fallback_hardware" doc:"What machines may be made of instead, by the hardware of which the provider has none to be had in any zone: in this order. What a preview says names it with the highest price, which is what policies look at."`

	Survivors *survivorsDoc `yaml:"survivors" doc:"Goes on with the machines that come where a create or a growth does not get all of them, unless a request says otherwise. Where absent, such an operation fails."`
}

type defaultsDoc struct {
	Services  []defaultServiceDoc `yaml:"services" doc:"The services of the cluster."`
	Provider  string              `yaml:"provider" doc:"The provider, by name."`
	Hardware  string              `yaml:"hardware" doc:"The hardware; any compatible one where absent."`
	Image     string              `yaml:"image" doc:"The image; any compatible one where absent."`
	DNSSuffix string              `yaml:"dns_suffix" doc:"The domain of the nodes' host names."`
	Prefer    preferWord          `yaml:"prefer" doc:"Which of the possible layouts is taken where a request does not choose: packed, cheapest or spread; packed where absent."`
	Config    map[string]any      `yaml:"config" doc:"The cluster configuration. Macros in its texts, such as %ip.service.store%, are expanded for each node. Scripts see lb.port as CONFIG_LB_PORT."`
}

// defaultServiceDoc is a service's name, or the name with a piece of configuration.
type defaultServiceDoc struct {
	Name   string         `yaml:"name" need:"" doc:"The service."`
	Config map[string]any `yaml:"config" doc:"Becomes the cluster configuration under the service's name."`
}

func (s *defaultServiceDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind != yaml.MappingNode {
		s.Name, _ = d.text(n, path)
		return
	}
	type mapping defaultServiceDoc
	d.Value(n, ValueOf((*mapping)(s)), path)
}

func (defaultServiceDoc) schema() map[string]any {
	type mapping defaultServiceDoc
	return map[string]any{"oneOf": []any{map[string]any{"type": "string"}, schemaOf[mapping]()}}
}

type compatDoc struct {
	Services []string `yaml:"services" doc:"Services that a request may ask for."`
	Hardware []string `yaml:"hardware" doc:"Hardware that a request may ask for."`
	Images   []string `yaml:"images" doc:"Images that a request may ask for."`
}

type leaseDoc struct {
	Initial duration `yaml:"initial" doc:"How long a new cluster lives; for ever where absent or 0."`
	Max     duration `yaml:"max" doc:"How long it may live in all; no limit where absent or 0."`
	Step    duration `yaml:"step" doc:"By how much it may be prolonged at once; any where absent or 0."`
	said    bool     // it is written even where it says nothing
}

// nativeDocs returns a fresh struct for a kind.
func NativeDoc(k Kind) any {
	switch k {
	case KindProvider:
		return &ProviderDoc{}
	case KindHardware:
		return &hardwareDoc{}
	case KindImage:
		return &imageDoc{}
	case KindService:
		return &serviceDoc{}
	case KindTemplate:
		return &templateDoc{}
	}
	panic("catalog: no such kind: " + string(k))
}

// fromNative turns a struct of our own form into the app's word for it.
func fromNative(e *Entry, doc any) any {
	switch doc := doc.(type) {
	case *ProviderDoc:
		return &template.ProviderSpec{About: doc.about(e), Type: doc.Type, Zones: doc.Zones, Rate: template.Rate(doc.Rate), Settings: orEmpty(doc.Settings), Provisioner: doc.Provisioner,
			Currency: doc.Currency, ExchangeRate: doc.Exchange}
	case *hardwareDoc:
		h := &template.HardwareType{About: doc.about(e), Providers: make(map[string]template.Flavor, len(doc.Providers))}
		for name, f := range doc.Providers {
			h.Providers[name] = f.flavor()
		}
		return h
	case *imageDoc:
		i := &template.ImageType{About: doc.about(e), Providers: make(map[string]template.Image, len(doc.Providers))}
		for name, on := range doc.Providers {
			i.Providers[name] = on.image()
		}
		return i
	case *serviceDoc:
		return doc.service(e)
	case *templateDoc:
		return doc.template(e)
	}
	panic("catalog: no such document")
}

func (a AboutDoc) about(e *Entry) template.About { return e.about(a.Label, a.Description, a.Icon) }

func (s *serviceDoc) service(e *Entry) *template.Service {
	out := &template.Service{
		About: s.about(e), Provides: s.Provides, Conflicts: s.Conflicts,
		Install: template.Dependencies(s.Install), Runtime: template.Dependencies(s.Runtime),
		Needs:   template.Resources(s.Needs),
		Actions: map[app.Action]*template.ServiceAction{}, Links: links(s.Links),
		Health: s.Health.check(), Reads: s.Reads,
	}
	out.Lines = linesOfService(e)
	for action, doc := range s.Actions.ByName() {
		if doc != nil {
			out.Actions[action] = &template.ServiceAction{Automator: doc.Automator, Fields: doc.Fields, Timeout: time.Duration(doc.Timeout), Resources: refs(doc.Resources)}
			if doc.person != nil {
				out.Actions[action].Person = doc.person.person()
			}
		}
	}
	return out
}

// refs reads references to resources. What is none keeps its whole text as a name, for the check to complain about.
func refs(texts []string) (out []template.ResourceRef) {
	for _, text := range texts {
		r, err := resource.ParseResourceRef(text)
		if err != nil {
			r = template.ResourceRef{Name: text}
		}
		out = append(out, r)
	}
	return out
}

func (a ActionsDoc) ByName() map[app.Action]*actionDoc {
	return map[app.Action]*actionDoc{
		app.ActionInstall: a.Install, app.ActionConfigure: a.Configure, app.ActionInitialize: a.Initialize,
		app.ActionStart: a.Start, app.ActionReload: a.Reload, app.ActionStop: a.Stop, app.ActionRemove: a.Remove,
	}
}

func (t *templateDoc) template(e *Entry) *template.Template {
	out := &template.Template{
		About: t.about(e), Extends: t.Extends, Includes: t.Includes, Links: links(t.Links), Hooks: hooks(t.Hooks),
		Defaults: template.TemplateDefaults{
			Services: []string{}, Provider: t.Defaults.Provider, Hardware: t.Defaults.Hardware, Image: t.Defaults.Image,
			DNSSuffix: t.Defaults.DNSSuffix, Prefer: template.Preference(t.Defaults.Prefer), Config: orEmpty(t.Defaults.Config),
		},
		Compatibility: template.Compatibility(t.Compatibility),
		Constraints:   t.Constraints.constraints(),
		Lease: template.Lease{
			Initial: time.Duration(t.Lease.Initial), Max: time.Duration(t.Lease.Max), Step: time.Duration(t.Lease.Step),
		},
		Batches: t.Batches.person(),
		Health:  t.Health.policy(), Survivors: t.Survivors.survivors(), Firewall: t.Firewall.Firewall(), FallbackHardware: t.FallbackHardware, Partial: t.Partial, State: template.TemplateState(t.State), Version: t.Version, ReplacedBy: t.ReplacedBy,
		Parameters: parameters(t.Parameters),
	}
	for _, s := range t.Defaults.Services {
		addDefault(&out.Defaults, s.Name, s.Config)
	}
	out.Immutable = t.Immutable.paths(out.Defaults.Config)
	out.Lines = linesOf(e, out)
	return out
}

// addDefault adds a default service; its piece of configuration takes its place under the service's name, key by key.
func addDefault(d *template.TemplateDefaults, name string, config map[string]any) {
	d.Services = append(d.Services, name)
	if len(config) == 0 {
		return
	}
	into, ok := d.Config[name].(map[string]any)
	if !ok {
		into = make(map[string]any, len(config))
		d.Config[name] = into
	}
	for k, v := range config {
		into[k] = v
	}
}

func links(docs []linkDoc) []app.Link {
	out := make([]app.Link, len(docs))
	for i, l := range docs {
		out[i] = app.Link(l)
	}
	return out
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}
