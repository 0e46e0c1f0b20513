package form

import (
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/template"
)

// CooprFolders are the folders of Coopr's definitions that are read, with the kind of what is in them.
var CooprFolders = map[string]Kind{
	"providers":        KindProvider,
	"hardwaretypes":    KindHardware,
	"imagetypes":       KindImage,
	"services":         KindService,
	"clustertemplates": KindTemplate,
	PartialFolder:      KindTemplate,
}

// PartialFolder has templates that are only parts of others.
const PartialFolder = "partialtemplates"

// The structs of Coopr's form. A field tagged ",rest" takes what Coopr handed on to its plugins without knowing it.

type cooprAbout struct {
	Name        string `yaml:"name" need:"" name:""`
	Label       string `yaml:"label"`
	Description string `yaml:"description"`
	Icon        string `yaml:"icon"`
	Version     string `yaml:"version"` // of the entity in Coopr's store; nothing to us
}

type cooprProvider struct {
	cooprAbout
	Type     string         `yaml:"providertype" need:""`
	Settings map[string]any `yaml:"provisioner" hide:""`
}

type cooprHardware struct {
	cooprAbout
	Providers cooprFlavors `yaml:"providermap" need:""`
}

type cooprFlavor struct {
	Flavor string            `yaml:"flavor" need:""`
	Cost   float64           `yaml:"cost" least:"0"`
	VCPU   float64           `yaml:"vcpu" least:"0"`
	RAM    float64           `yaml:"ram" least:"0"`
	Disks  string            `yaml:"disks"`
	Rest   map[string]string `yaml:",rest"`
}

type cooprImage struct {
	cooprAbout
	Providers cooprImagesOn `yaml:"providermap" need:""`
}

type cooprImageOn struct {
	Image   string            `yaml:"image" need:""`
	SSHUser string            `yaml:"sshuser"`
	Rest    map[string]string `yaml:",rest"`
}

type cooprService struct {
	cooprAbout
	Dependencies struct {
		Provides  []string   `yaml:"provides"`
		Conflicts []string   `yaml:"conflicts"`
		Install   cooprNeeds `yaml:"install"`
		Runtime   cooprNeeds `yaml:"runtime"`
	} `yaml:"dependencies"`
	Provisioner struct {
		Actions cooprActions `yaml:"actions"`
	} `yaml:"provisioner"`
	Links []cooprLink `yaml:"links"`
}

type cooprNeeds struct {
	Requires []string `yaml:"requires"`
	Uses     []string `yaml:"uses"`
}

type cooprActions struct {
	Install    *cooprAction `yaml:"install"`
	Configure  *cooprAction `yaml:"configure"`
	Initialize *cooprAction `yaml:"initialize"`
	Start      *cooprAction `yaml:"start"`
	Stop       *cooprAction `yaml:"stop"`
	Remove     *cooprAction `yaml:"remove"`
}

type cooprAction struct {
	Type   string            `yaml:"type" need:""`
	Fields map[string]string `yaml:"fields"`
}

type cooprLink struct {
	Label string `yaml:"label" need:""`
	URL   string `yaml:"url" need:""`
}

type cooprTemplate struct {
	cooprAbout
	Extends   *cooprRef    `yaml:"extends"`
	Includes  []cooprRef   `yaml:"includes"`
	Immutable immutableDoc `yaml:"immutable"` // of partial templates
	Defaults  struct {
		Services  []defaultServiceDoc `yaml:"services"`
		Provider  string              `yaml:"provider"`
		Hardware  string              `yaml:"hardwaretype"`
		Image     string              `yaml:"imagetype"`
		DNSSuffix string              `yaml:"dnsSuffix"`
		Config    map[string]any      `yaml:"config"`
	} `yaml:"defaults"`
	Compatibility struct {
		Services []string `yaml:"services"`
		Hardware []string `yaml:"hardwaretypes"`
		Images   []string `yaml:"imagetypes"`
	} `yaml:"compatibility"`
	Constraints struct {
		Layout struct {
			MustCoexist [][]string `yaml:"mustcoexist"`
			CantCoexist [][]string `yaml:"cantcoexist"`
		} `yaml:"layout"`
		Services map[string]cooprConstraint `yaml:"services"`
		Size     SizeDoc                    `yaml:"size"`
	} `yaml:"constraints"`
	Administration struct {
		Lease struct {
			Initial cooprDuration `yaml:"initial"`
			Max     cooprDuration `yaml:"max"`
			Step    cooprDuration `yaml:"step"`
		} `yaml:"leaseduration"`
	} `yaml:"administration"`
	Links []cooprLink `yaml:"links"`
}

type cooprRef struct {
	Name string `yaml:"name" need:""`
}

type cooprConstraint struct {
	Hardware   []string `yaml:"hardwaretypes"`
	Images     []string `yaml:"imagetypes"`
	Quantities struct {
		Min *int `yaml:"min" least:"0"`
		Max *int `yaml:"max" least:"0"`
	} `yaml:"quantities"`
}

// CooprDoc returns a fresh struct for a kind.
func CooprDoc(k Kind) any {
	switch k {
	case KindProvider:
		return &cooprProvider{}
	case KindHardware:
		return &cooprHardware{}
	case KindImage:
		return &cooprImage{}
	case KindService:
		return &cooprService{}
	case KindTemplate:
		return &cooprTemplate{}
	}
	panic("catalog: no such kind: " + string(k))
}

// FromCoopr turns a struct of Coopr's form into the app's word for it.
func FromCoopr(e *Entry, doc any) any {
	switch doc := doc.(type) {
	case *cooprProvider:
		return &template.ProviderSpec{About: doc.about(e), Type: doc.Type, Settings: cooprSettingsOf(doc.Type, doc.Settings)}
	case *cooprHardware:
		h := &template.HardwareType{About: doc.about(e), Providers: make(map[string]template.Flavor, len(doc.Providers))}
		for name, f := range doc.Providers {
			h.Providers[name] = f.flavor()
		}
		return h
	case *cooprImage:
		i := &template.ImageType{About: doc.about(e), Providers: make(map[string]template.Image, len(doc.Providers))}
		for name, on := range doc.Providers {
			i.Providers[name] = template.Image{Image: on.Image, SSHUser: on.SSHUser, Extra: on.Rest}
		}
		return i
	case *cooprService:
		return doc.service(e)
	case *cooprTemplate:
		return doc.template(e)
	}
	panic("catalog: no such document")
}

func (a cooprAbout) about(e *Entry) template.About { return e.about(a.Label, a.Description, a.Icon) }

// flavor keeps the list of disks as it was written, beside their sum.
func (f cooprFlavor) flavor() template.Flavor {
	out := template.Flavor{Flavor: f.Flavor, CostPerHour: f.Cost, CPU: f.VCPU, MemoryGB: f.RAM, Extra: f.Rest}
	if f.Disks != "" {
		if out.Extra == nil {
			out.Extra = map[string]string{}
		}
		out.Extra["disks"] = f.Disks
		out.DiskGB = diskSum(f.Disks)
	}
	return out
}

// diskSum adds up "/dev/xvdb=420,/dev/xvdc=420"; what it cannot read counts as unknown, 0.
func diskSum(disks string) float64 {
	sum := 0.0
	for disk := range strings.SplitSeq(disks, ",") {
		_, size, _ := strings.Cut(disk, "=")
		gb, err := strconv.ParseFloat(strings.TrimSpace(size), 64)
		if err != nil || !(gb >= 0 && gb < 1e9) {
			return 0
		}
		sum += gb
	}
	return sum
}

func (s *cooprService) service(e *Entry) *template.Service {
	out := &template.Service{
		About: s.about(e), Provides: s.Dependencies.Provides, Conflicts: s.Dependencies.Conflicts,
		Install: template.Dependencies(s.Dependencies.Install), Runtime: template.Dependencies(s.Dependencies.Runtime),
		Actions: map[app.Action]*template.ServiceAction{}, Links: cooprLinks(s.Links),
	}
	a := s.Provisioner.Actions
	for action, doc := range map[app.Action]*cooprAction{
		app.ActionInstall: a.Install, app.ActionConfigure: a.Configure, app.ActionInitialize: a.Initialize,
		app.ActionStart: a.Start, app.ActionStop: a.Stop, app.ActionRemove: a.Remove,
	} {
		if doc != nil {
			out.Actions[action] = &template.ServiceAction{Automator: doc.Type, Fields: doc.Fields}
		}
	}
	return out
}

func (t *cooprTemplate) template(e *Entry) *template.Template {
	lease := t.Administration.Lease
	out := &template.Template{
		About: t.about(e), Links: cooprLinks(t.Links),
		Defaults: template.Defaults{
			Services: []string{}, Provider: t.Defaults.Provider, Hardware: t.Defaults.Hardware, Image: t.Defaults.Image,
			DNSSuffix: t.Defaults.DNSSuffix, Config: orEmpty(t.Defaults.Config),
		},
		Compatibility: template.Compatibility(t.Compatibility),
		Constraints: template.Constraints{
			MustCoexist: t.Constraints.Layout.MustCoexist, CantCoexist: t.Constraints.Layout.CantCoexist,
			Services: make(map[string]template.ServiceConstraint, len(t.Constraints.Services)),
			Size:     t.Constraints.Size.Sizes(),
		},
		Lease: template.Lease{
			Initial: time.Duration(lease.Initial), Max: time.Duration(lease.Max), Step: time.Duration(lease.Step),
		},
	}
	if t.Extends != nil {
		out.Extends = t.Extends.Name
	}
	for _, i := range t.Includes {
		out.Includes = append(out.Includes, i.Name)
	}
	for _, s := range t.Defaults.Services {
		addDefault(&out.Defaults, s.Name, s.Config)
	}
	for name, c := range t.Constraints.Services {
		out.Constraints.Services[name] = serviceConstraint(c.Hardware, c.Images, c.Quantities.Min, c.Quantities.Max)
	}
	out.Immutable = t.Immutable.paths(out.Defaults.Config)
	out.Lines = linesOf(e, out)
	return out
}

func cooprLinks(docs []cooprLink) []app.Link {
	out := make([]app.Link, len(docs))
	for i, l := range docs {
		out[i] = app.Link(l)
	}
	return out
}
