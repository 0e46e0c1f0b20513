package google

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"muster/app"
	"muster/providers/google/internal/gcp"
	"muster/providers/internal/account"
	"muster/providers/internal/userdata"
)

var (
	projectForm = regexp.MustCompile(`^([a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$`)
	zoneForm    = regexp.MustCompile(`^[a-z]+(-[a-z]+)+[0-9]+-[a-z]+$`)
	nameForm    = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`) // RFC 1035
	hostForm    = regexp.MustCompile(`^[a-z]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+$`)
)

// choices are the settings of one machine.
type choices struct {
	network, subnetwork string
	external            bool
	serviceAccount      string
	scopes              []string
	rootGB, dataGB      int
	rootType, dataType  string
	spot, restart       bool
	sshFrom             []string
	custom              string // user data
}

// read returns the choices, or EInvalid.
func read(s account.Settings) (choices, error) {
	c := choices{network: s.Text("network"), subnetwork: s.Text("subnetwork"), serviceAccount: s.Text("service_account"), scopes: s.List("scopes"),
		rootType: s.Text("root_disk_type"), sshFrom: s.List("ssh_from"), custom: s.Text(userdata.Setting)}
	if err := userdata.CheckScript(c.custom, userdata.LimitMetadata); err != nil {
		return c, err
	}
	c.dataType = s.Or("data_disk_type", c.rootType)
	var err error
	for _, field := range []struct {
		name      string
		to        *bool
		otherwise bool
	}{{"external_ip", &c.external, true}, {"spot", &c.spot, false}, {"auto_restart", &c.restart, true}} {
		if *field.to, err = s.Bool(field.name, field.otherwise); err != nil {
			return c, err
		}
	}
	if c.rootGB, err = s.Int("root_disk_gb", 20, 1, 65536); err != nil {
		return c, err
	}
	if c.dataGB, err = s.Int("data_disk_gb", 0, 0, 65536); err != nil {
		return c, err
	}
	for _, name := range []string{"root_disk_type", "data_disk_type", "volume_type"} {
		if v := s.Text(name); v != "" && !nameForm.MatchString(v) {
			return c, account.Invalid(name, "%q isn't a valid disk type. For example, pd-balanced", v)
		}
	}
	for _, name := range []string{"network", "subnetwork"} {
		if v := trimmed(s.Text(name)); v != "" && !strings.Contains(v, "/") && !nameForm.MatchString(v) {
			return c, account.Invalid(name, "%q isn't a valid name or path", v)
		}
	}
	if c.serviceAccount != "" && c.serviceAccount != "default" && !strings.Contains(c.serviceAccount, "@") {
		return c, account.Invalid("service_account", "%q isn't a valid service account e-mail address", c.serviceAccount)
	}
	if len(c.scopes) > 0 && c.serviceAccount == "" {
		return c, account.Invalid("scopes", "scopes require a service account")
	}
	for i, v := range c.scopes {
		if !strings.Contains(v, "/") {
			c.scopes[i] = "https://www.googleapis.com/auth/" + v
		}
	}
	if len(c.sshFrom) == 0 {
		c.sshFrom = []string{"0.0.0.0/0"}
	}
	for _, prefix := range c.sshFrom {
		if _, err := netip.ParsePrefix(prefix); err != nil {
			return c, account.Invalid("ssh_from", "%q isn't a CIDR range. For example, 203.0.113.0/24", prefix)
		}
	}
	return c, nil
}

func checkZone(zone string) error {
	if !zoneForm.MatchString(zone) {
		e := account.Invalid("zone", "%q isn't a valid zone", zone)
		e.Hint = "A zone is a region and a letter, such as europe-west3-a."
		return e
	}
	return nil
}

// trimmed takes the host off a resource's address.
func trimmed(v string) string {
	if i := strings.Index(v, "/projects/"); i >= 0 && strings.HasPrefix(v, "http") {
		return v[i+1:]
	}
	return strings.Trim(v, "/")
}

// networkPath returns the path of the network; "" where the subnetwork says it.
func (p *Provider) networkPath(c choices) string {
	switch n := trimmed(c.network); {
	case n == "" && c.subnetwork != "":
		return ""
	case n == "":
		return "projects/" + p.project + "/global/networks/default"
	case strings.HasPrefix(n, "global/"):
		return "projects/" + p.project + "/" + n
	case strings.Contains(n, "/"):
		return n
	default:
		return "projects/" + p.project + "/global/networks/" + n
	}
}

// subnetworkPath returns the path of the subnetwork in a zone's region; "" where none is set.
func (p *Provider) subnetworkPath(c choices, zone string) string {
	switch n := trimmed(c.subnetwork); {
	case n == "":
		return ""
	case strings.HasPrefix(n, "regions/"):
		return "projects/" + p.project + "/" + n
	case strings.Contains(n, "/"):
		return n
	default:
		return "projects/" + p.project + "/regions/" + region(zone) + "/subnetworks/" + n
	}
}

// in returns the project and the name of a path, and the region of one that has it.
func in(path string) (project, region, name string) {
	parts := strings.Split(trimmed(path), "/")
	for i := 0; i+1 < len(parts); i++ {
		switch parts[i] {
		case "projects":
			project = parts[i+1]
		case "regions":
			region = parts[i+1]
		}
	}
	return project, region, parts[len(parts)-1]
}

// hyperdisk are the series of machine types that take no other disks.
var hyperdisk = []string{"c4", "c4a", "c4d", "n4", "n4a", "n4d", "x4", "m4", "a4", "a4x", "h4d"}

// attachable is the series of machines to which GPUs are attached by model. All others have the GPUs of their machine type.
const attachable = "n1"

// gpus returns how many GPUs machines of a type have by themselves, and the model.
func gpus(t *gcp.MachineType) (n int, model string) {
	for _, a := range t.Accelerators {
		n += int(a.Count)
		model = cmp.Or(model, a.Type)
	}
	return n, model
}

// fixed are the series that cannot move to another host while they run: machines with accelerators.
var fixed = []string{"a2", "a3", "a4", "a4x", "g2", "g4", "ct5lp", "ct6e"}

// series of a machine type: n2 of n2-standard-4, n1 of custom-2-4096.
func series(machineType string) string {
	s, _, _ := strings.Cut(machineType, "-")
	if s == "custom" {
		return "n1"
	}
	return s
}

func diskType(chosen, machineType string) string {
	switch {
	case chosen != "":
		return chosen
	case slices.Contains(hyperdisk, series(machineType)):
		return "hyperdisk-balanced"
	}
	return "pd-balanced"
}

// publishers are the projects of public images, by how their families begin.
var publishers = []struct{ prefix, project string }{
	{"debian-", "debian-cloud"}, {"ubuntu-", "ubuntu-os-cloud"}, {"rocky-linux-", "rocky-linux-cloud"}, {"centos-", "centos-cloud"}, {"almalinux-", "almalinux-cloud"},
	{"rhel-", "rhel-cloud"}, {"sles-", "suse-cloud"}, {"opensuse-", "opensuse-cloud"}, {"fedora-", "fedora-cloud"},
}

// imagePath returns the path of an image: a family of a publisher or of the project itself, PROJECT/FAMILY, or a path as it is. EInvalid for others.
func (p *Provider) imagePath(image string) (string, error) {
	v := trimmed(image)
	parts := strings.Split(v, "/")
	switch {
	case len(parts) == 1 && nameForm.MatchString(v):
		project := p.project
		for _, known := range publishers {
			if strings.HasPrefix(v, known.prefix) {
				project = known.project
				break
			}
		}
		return "projects/" + project + "/global/images/family/" + v, nil
	case len(parts) == 2 && projectForm.MatchString(parts[0]) && nameForm.MatchString(parts[1]):
		return "projects/" + parts[0] + "/global/images/family/" + parts[1], nil
	case strings.HasPrefix(v, "global/images/"):
		return "projects/" + p.project + "/" + v, nil
	case len(parts) >= 5 && len(parts) <= 6 && parts[0] == "projects" && strings.HasPrefix(strings.Join(parts[2:], "/"), "global/images/"):
		return v, nil
	}
	e := app.Errorf(app.EInvalid, "%q isn't a valid image", image)
	e.Hint = "Use a family such as debian-12, PROJECT/FAMILY, or projects/PROJECT/global/images/NAME."
	return "", e
}
