package form

import (
	"maps"
	"time"

	"muster/app"
	"muster/app/resource"
	"muster/app/template"

	"go.yaml.in/yaml/v3"
)

// The structs of Muster's own form. Their tags are all that the decoder and the schema know: yaml is the key, need
// marks it as required, least and most bound a number, name asks for a catalog name, hide keeps values out of messages, doc is
// what an editor shows.

type AboutDoc struct {
	Kind        string `yaml:"kind" need:"" doc:"Kind of catalog entry."`
	Name        string `yaml:"name" need:"" name:"" doc:"Name that other entries and requests use: letters, digits, '_', '.' and '-'."`
	Label       string `yaml:"label" doc:"Display name. Default: the name."`
	Description string `yaml:"description" doc:"Short description shown when people choose."`
	Icon        string `yaml:"icon" doc:"URL of an icon."`
}

type ProviderDoc struct {
	AboutDoc
	Type        string            `yaml:"type" need:"" doc:"Provider type, such as sandbox or digitalocean."`
	Zones       []string          `yaml:"zones" doc:"Availability zones, by the provider's own names. Templates can spread nodes over them."`
	Rate        Rate              `yaml:"rate" doc:"Maximum API call rate for the account across all of Muster, such as 10/s, 600/m or 5000/h. Default: the provider type's usual rate."`
	Currency    string            `yaml:"currency" doc:"Currency of this account's prices (ISO 4217), such as EUR. Default: the installation's."`
	Exchange    float64           `yaml:"exchange_rate" least:"0" doc:"Value of one unit of the currency in the installation's, such as 1.08. Required if the currencies differ."`
	VolumeCost  float64           `yaml:"volume_cost_per_gb_month" least:"0" doc:"Price of a GB of a volume per month. Default: unknown."`
	CopyCost    float64           `yaml:"snapshot_cost_per_gb_month" least:"0" doc:"Price of a GB of a snapshot of a volume per month. Default: unknown."`
	Provisioner map[string]string `yaml:"provisioner" doc:"Tags that a provisioner must have to run this provider's steps, such as region: eu. Default: any provisioner."`
	Fields      []UserFieldDoc    `yaml:"fields" doc:"Settings that users can set when they create a cluster, such as credentials of their own."`
	Settings    map[string]any    `yaml:"settings" hide:"" doc:"Settings of the provider type. Use ${env:NAME} in text for an environment variable of the server, to keep secrets out of files."`
}

// UserFieldDoc is a setting that users can set.
type UserFieldDoc struct {
	Name      string   `yaml:"name" need:"" doc:"Name of the setting, as in settings."`
	Label     string   `yaml:"label" doc:"Display name. Default: the provider type's."`
	Help      string   `yaml:"help" doc:"One sentence shown beside the field. Default: the provider type's."`
	Type      string   `yaml:"type" doc:"text, lines, int, bool, choice or list. Default: the provider type's."`
	Default   string   `yaml:"default" doc:"Value of clusters that don't set it, if settings doesn't have one."`
	Override  bool     `yaml:"override" doc:"Whether users can set it for a cluster."`
	Required  bool     `yaml:"required" doc:"Whether a new cluster must set it."`
	Sensitive bool     `yaml:"sensitive" doc:"Whether values are kept encrypted and never shown. Always true for settings that the provider type calls secret."`
	Options   []string `yaml:"options" doc:"Allowed values. Default: the provider type's."`
	Pattern   string   `yaml:"pattern" doc:"Regular expression that the whole value must match."`
	Min       *int     `yaml:"min" doc:"Smallest allowed number."`
	Max       *int     `yaml:"max" doc:"Largest allowed number."`
}

// UserFieldDocs writes the settings that users can set.
func UserFieldDocs(fields []template.ProviderField) (docs []UserFieldDoc) {
	for _, f := range fields {
		docs = append(docs, UserFieldDoc(f))
	}
	return docs
}

func (d *ProviderDoc) fields() (fields []template.ProviderField) {
	for _, f := range d.Fields {
		fields = append(fields, template.ProviderField(f))
	}
	return fields
}

// settings are those of the document, and the defaults of fields beside them.
func (d *ProviderDoc) settings() map[string]any {
	settings := maps.Clone(orEmpty(d.Settings))
	for _, f := range d.Fields {
		if _, set := settings[f.Name]; !set && f.Default != "" {
			settings[f.Name] = f.Default
		}
	}
	return settings
}

type hardwareDoc struct {
	AboutDoc
	Providers map[string]flavorDoc `yaml:"providers" need:"" doc:"Flavor at each provider, by provider name."`
}

type flavorDoc struct {
	Flavor            string               `yaml:"flavor" need:"" doc:"The provider's own name for the size, such as an instance type."`
	CostPerHour       float64              `yaml:"cost_per_hour" least:"0" doc:"Price of one machine per hour, in the provider's currency."`
	AsleepCostPerHour *float64             `yaml:"asleep_cost_per_hour" least:"0" doc:"Price of one machine per hour while its cluster is asleep. Default: cost_per_hour."`
	CPU               float64              `yaml:"cpu" least:"0" doc:"Virtual cores."`
	MemoryGB          float64              `yaml:"memory_gb" least:"0" doc:"Memory in GiB."`
	DiskGB            float64              `yaml:"disk_gb" least:"0" doc:"Disk in GiB."`
	GPUs              int                  `yaml:"gpus" least:"0" most:"64" doc:"GPUs or other accelerators. Default: none."`
	GPU               string               `yaml:"gpu" doc:"Model of the GPUs, such as nvidia-l4. Google needs it for machine types without GPUs of their own."`
	Extra             map[string]plainText `yaml:"extra" doc:"Provider-specific settings, such as root_disk_gb. See the provider's documentation."`
}

type imageDoc struct {
	AboutDoc
	Providers map[string]imageOnDoc `yaml:"providers" need:"" doc:"Image at each provider, by provider name."`
}

type imageOnDoc struct {
	Image   string               `yaml:"image" need:"" doc:"The provider's own name for the image."`
	SSHUser string               `yaml:"ssh_user" doc:"SSH user of the image. Default: root."`
	Extra   map[string]plainText `yaml:"extra" doc:"Provider-specific settings; also os, os_version and firewall, which machines must match."`
}

type serviceDoc struct {
	AboutDoc
	Provides  []string        `yaml:"provides" doc:"Other names for this service in requires and uses."`
	Conflicts []string        `yaml:"conflicts" doc:"Services that can't be on the same cluster."`
	Install   dependenciesDoc `yaml:"install" doc:"Services to install before this one."`
	Runtime   dependenciesDoc `yaml:"runtime" doc:"Services that must run before this one starts."`
	Needs     resourcesDoc    `yaml:"needs" doc:"Resources that this service uses on its node. All services on a node must fit its hardware; resources that the hardware doesn't list aren't limited."`
	Actions   ActionsDoc      `yaml:"actions" doc:"Actions to run on nodes. A missing action does nothing."`
	Links     []linkDoc       `yaml:"links" doc:"Links shown with the cluster."`
	Health    *healthDoc      `yaml:"health" doc:"Health check of the service. Without one, Muster only knows that the service was started."`
	Reads     []string        `yaml:"reads" doc:"Top-level configuration keys that the service uses. Default: all except those named after another service."`
	Volumes   []volumeDoc     `yaml:"volumes" doc:"Volumes that the service needs on each of its nodes. They outlive the node's machine."`
}

type dependenciesDoc struct {
	Requires []string `yaml:"requires" doc:"Services that must be on the cluster."`
	Uses     []string `yaml:"uses" doc:"Services that come first if they're on the cluster."`
}

type resourcesDoc struct {
	CPU      float64 `yaml:"cpu" least:"0" doc:"Virtual cores."`
	MemoryGB float64 `yaml:"memory_gb" least:"0" doc:"Memory in GiB."`
	DiskGB   float64 `yaml:"disk_gb" least:"0" doc:"Disk in GiB."`
	GPUs     int     `yaml:"gpus" least:"0" most:"64" doc:"Whole GPUs or other accelerators. Hardware that doesn't list any has none."`
}

type ActionsDoc struct {
	Install    *actionDoc `yaml:"install" doc:"Install the software on the node."`
	Configure  *actionDoc `yaml:"configure" doc:"Write the configuration. Runs again whenever it changes."`
	Initialize *actionDoc `yaml:"initialize" doc:"Prepare data, once, before the first start."`
	Start      *actionDoc `yaml:"start" doc:"Start the service and wait until it responds."`
	Reload     *actionDoc `yaml:"reload" doc:"Reload the configuration without stopping. Default: stop and start."`
	Stop       *actionDoc `yaml:"stop" doc:"Stop the service. Must succeed if it isn't running."`
	Remove     *actionDoc `yaml:"remove" doc:"Remove the service and its data from the node."`
}

type actionDoc struct {
	Automator string            `yaml:"automator" need:"" doc:"Automator that runs the action, such as shell."`
	Timeout   duration          `yaml:"timeout" doc:"Timeout of one attempt. Default: the automator's own limit."`
	Fields    map[string]string `yaml:"fields" doc:"Fields of the automator. For shell: script and, optionally, args."`
	Resources []string          `yaml:"resources" doc:"Pushed archives and files to copy to the node: name, name@version or type/name."`
	person    *personDoc        // who carries it out instead
}

// fromNode takes plain text as a shell script.
func (a *actionDoc) fromNode(d *Decoder, n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if n.Value == "" {
			d.Wrong(n, path, "a shell script", "leave the key out if the action does nothing")
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
		map[string]any{"type": "string", "minLength": 1, "description": "Script to run with sh -eu."},
		schemaOf[mapping](),
		schemaOf[personActionDoc](),
	}}
}

type linkDoc struct {
	Label string `yaml:"label" need:"" doc:"Text of the link."`
	URL   string `yaml:"url" need:"" doc:"URL, with macros such as %ip.service.web[0]% expanded."`
}

type templateDoc struct {
	AboutDoc
	Extends       string         `yaml:"extends" doc:"Template to inherit everything from that isn't set here."`
	Includes      []string       `yaml:"includes" doc:"Partial templates to add; later ones override earlier ones."`
	Partial       bool           `yaml:"partial" doc:"Whether this template is only for use in other templates, not for clusters."`
	State         stateDoc       `yaml:"state" doc:"draft (visible to admins only), published, or deprecated (people see a warning and the replacement). Default: published."`
	Version       string         `yaml:"version" doc:"Version label for people. Muster also numbers versions itself."`
	ReplacedBy    string         `yaml:"replaced_by" doc:"Template to use instead of this deprecated one."`
	Parameters    []parameterDoc `yaml:"parameters" doc:"Values that people set in forms and requests."`
	Immutable     immutableDoc   `yaml:"immutable" doc:"Parts that requests and inheriting templates can't change: config, paths such as config.ssl, services, provider, hardware, image, dns_suffix, lease. true locks every configuration key set here."`
	Defaults      defaultsDoc    `yaml:"defaults" doc:"Values for anything that a request leaves out."`
	Compatibility compatDoc      `yaml:"compatibility" doc:"Values that requests can choose. A missing list allows everything."`
	Constraints   constraintsDoc `yaml:"constraints" doc:"Constraints on every layout of this template."`
	Lease         leaseDoc       `yaml:"lease" doc:"Lease of clusters."`
	Links         []linkDoc      `yaml:"links" doc:"Links shown with the cluster."`
	Outputs       []outputDoc    `yaml:"outputs" doc:"Values of a cluster for people and programs, such as connection strings and files: outputs of the cluster."`
	Hooks         []hookDoc      `yaml:"hooks" doc:"Webhooks to call, or scripts to run on nodes, before or after operations. Scripts run in this order."`

	Batches *batchesDoc      `yaml:"batches" doc:"Manual approval between batches of changed nodes. Default: only if the change asks for it."`
	Health  *healthPolicyDoc `yaml:"health" doc:"Interval of health checks, and repair of unhealthy nodes. Default: no health checks."`
	Idle    *idleDoc         `yaml:"idle" doc:"When clusters are idle, and what happens then. Default: the tenant's setting."`

	Actions []savedActionDoc `yaml:"actions" doc:"Scripts that people can run on clusters' nodes, such as a backup."`
	Scaling *scalingDoc      `yaml:"scaling" doc:"Number of nodes by schedule and by metric, unless the cluster's owner says otherwise. Default: no scaling."`

	Firewall *firewallDoc `yaml:"firewall" doc:"Ports to open besides SSH. The provider creates a firewall with each cluster and deletes it with the cluster. Default: the account's own rules."`

	Labels *labelsDoc `yaml:"labels" doc:"Labels of clusters: defaults, and those that every cluster needs. Machines carry labels as tags. Default: none."`

	FallbackHardware map[string][]string `yaml:"fallback_hardware" doc:"Fallback hardware, in order, for hardware that the provider has in no zone. Previews show the highest price, which policies check."`

	Places     []placeDoc `yaml:"places" doc:"Places where clusters can be created. Requests try them one after the other if a provider has no capacity. Default: one place, anywhere."`
	PlaceOrder string     `yaml:"place_order" doc:"Which place is tried first: cheapest, fastest or listed. Default: cheapest."`

	PartialResults *partialResultsDoc `yaml:"partial_results" doc:"Accept a partial result if creation or a resize gets only some of its machines, unless the request says otherwise. Default: the operation fails."`

	KeepFailed keepTime `yaml:"keep_failed" doc:"How long to keep failed machines for inspection instead of deleting them, 15m to 72h, unless the request says otherwise. Default, or off: they're deleted."`
}

type defaultsDoc struct {
	Services  []defaultServiceDoc `yaml:"services" doc:"Services of the cluster."`
	Provider  string              `yaml:"provider" doc:"Provider, by name."`
	Hardware  string              `yaml:"hardware" doc:"Hardware. Default: any compatible one."`
	Image     string              `yaml:"image" doc:"Image. Default: any compatible one."`
	DNSSuffix string              `yaml:"dns_suffix" doc:"Domain of the nodes' host names."`
	Prefer    preferWord          `yaml:"prefer" doc:"Preferred layout if the request doesn't set one: packed, cheapest or spread. Default: packed."`
	Config    map[string]any      `yaml:"config" doc:"Cluster configuration. Macros such as %ip.service.store% are expanded for each node. Scripts see lb.port as CONFIG_LB_PORT."`
}

// defaultServiceDoc is a service's name, or the name with a piece of configuration.
type defaultServiceDoc struct {
	Name   string         `yaml:"name" need:"" doc:"The service."`
	Config map[string]any `yaml:"config" doc:"Added to the cluster configuration under the service's name."`
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
	Services []string `yaml:"services" doc:"Services that requests can use."`
	Hardware []string `yaml:"hardware" doc:"Hardware that requests can use."`
	Images   []string `yaml:"images" doc:"Images that requests can use."`
}

type leaseDoc struct {
	Initial duration `yaml:"initial" doc:"Lease of a new cluster. Default, or 0: forever."`
	Max     duration `yaml:"max" doc:"Maximum total lease. Default, or 0: no limit."`
	Step    duration `yaml:"step" doc:"Maximum extension at a time. Default, or 0: no limit."`
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
		return &template.ProviderSpec{About: doc.about(e), Type: doc.Type, Zones: doc.Zones, Rate: template.Rate(doc.Rate), Settings: doc.settings(), Fields: doc.fields(), Provisioner: doc.Provisioner,
			Currency: doc.Currency, ExchangeRate: doc.Exchange, VolumeCost: doc.VolumeCost, SnapshotCost: doc.CopyCost}
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
		Needs:   template.Requirements(s.Needs),
		Actions: map[app.Action]*template.ServiceAction{}, Links: links(s.Links),
		Health: s.Health.check(), Reads: s.Reads, Volumes: volumesOf(s.Volumes),
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
		Defaults: template.Defaults{
			Services: []string{}, Provider: t.Defaults.Provider, Hardware: t.Defaults.Hardware, Image: t.Defaults.Image,
			DNSSuffix: t.Defaults.DNSSuffix, Prefer: template.Preference(t.Defaults.Prefer), Config: orEmpty(t.Defaults.Config),
		},
		Compatibility: template.Compatibility(t.Compatibility),
		Constraints:   t.Constraints.constraints(),
		Lease: template.Lease{
			Initial: time.Duration(t.Lease.Initial), Max: time.Duration(t.Lease.Max), Step: time.Duration(t.Lease.Step),
		},
		Batches: t.Batches.person(), KeepFailed: template.KeepTime(t.KeepFailed),
		Health: t.Health.policy(), PartialResults: t.PartialResults.partialResults(), Firewall: t.Firewall.Firewall(),
		Labels: t.Labels.rules(), FallbackHardware: t.FallbackHardware, Partial: t.Partial, State: template.State(t.State), Version: t.Version, ReplacedBy: t.ReplacedBy,
		Idle: t.Idle.policy(), Scaling: t.Scaling.policy(), Places: templatePlaces(t.Places), PlaceOrder: template.PlaceOrder(t.PlaceOrder),
		Parameters: parameters(t.Parameters), Outputs: outputs(t.Outputs), Actions: savedActions(t.Actions),
	}
	for _, s := range t.Defaults.Services {
		addDefault(&out.Defaults, s.Name, s.Config)
	}
	out.Immutable = t.Immutable.paths(out.Defaults.Config)
	out.Lines = linesOf(e, out)
	return out
}

// addDefault adds a default service; its piece of configuration takes its place under the service's name, key by key.
func addDefault(d *template.Defaults, name string, config map[string]any) {
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
