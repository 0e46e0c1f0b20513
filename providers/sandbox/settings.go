package sandbox

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
)

// Modes: the values of the setting, and of Provider.Mode (which is never auto).
const (
	ModeAuto       = "auto"
	ModeNamespaces = "namespaces"
	ModeProcess    = "process"
)

// HostImage is the image that is built from this host's own programs.
const HostImage = "host"

// flavors are labels only: a machine may use all that the host has.
var flavors = []string{"small", "medium", "large"}

// What the machines of a sandbox may have together, unless the provider says otherwise.
const (
	defaultMaxMachines  = 200
	defaultMaxProcesses = 5000
	defaultMaxDiskGB    = 100
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:    "sandbox",
	Tested:  "Real namespaces and OpenSSH on Linux.",
	Sleeps:  true,
	Volumes: true, VolumeSnapshots: true,
	Bakes:       true,
	Host:        true,
	Description: "Machines on this host with real SSH, without a cloud account. Isolated for convenience, not security.",
	Fields: []family.Field{
		{Name: "mode", SetBy: family.SetByTenant, Label: "Mode", Type: family.FieldChoice, Default: ModeAuto, Options: []string{ModeAuto, ModeNamespaces, ModeProcess},
			Help: "namespaces: own network, processes and files, requires root. process: SSH servers inside Muster. auto: the first that works."},
		{Name: "subnet", SetBy: family.SetByTenant, Label: "Subnet", Type: family.FieldText,
			Help: "IPv4 network of namespaces machines, /24 to /16. Leave empty for the first available from 10.78.0.0/16 to 10.99.0.0/16."},
		{Name: "max_machines", SetBy: family.SetByTenant, Label: "Maximum machines", Type: family.FieldInt, Default: strconv.Itoa(defaultMaxMachines)},
		{Name: "max_processes", SetBy: family.SetByInstallation, Label: "Maximum processes", Type: family.FieldInt, Default: strconv.Itoa(defaultMaxProcesses),
			Help: "Across all machines. At the limit, Muster creates no machine and, in process mode, starts no command."},
		{Name: "max_disk_gb", SetBy: family.SetByInstallation, Label: "Maximum disk space (GB)", Type: family.FieldInt, Default: strconv.Itoa(defaultMaxDiskGB),
			Help: "Across all machines. At the limit, Muster creates no machine."},
	},
}

// maxOfAny is the largest of the numbers above that makes sense on one host.
const maxOfAny = 1_000_000

type settings struct {
	mode         string
	subnet       netip.Prefix // not valid: choose one
	maxMachines  int
	maxProcesses int
	maxDiskGB    int
}

// Check validates settings beyond what the descriptor says; the error is EInvalid.
func Check(values map[string]any) error {
	_, err := parseSettings(values)
	return err
}

func parseSettings(values map[string]any) (settings, error) {
	s := settings{mode: ModeAuto, maxMachines: defaultMaxMachines, maxProcesses: defaultMaxProcesses, maxDiskGB: defaultMaxDiskGB}
	if v := text(values, "mode"); v != "" {
		if !slices.Contains([]string{ModeAuto, ModeNamespaces, ModeProcess}, v) {
			return s, invalid("settings.mode", "the mode must be auto, namespaces or process, not %q", v)
		}
		s.mode = v
	}
	if v := text(values, "subnet"); v != "" {
		p, err := netip.ParsePrefix(v)
		if err != nil || !p.Addr().Is4() || p.Bits() < 16 || p.Bits() > 24 || !p.Addr().IsPrivate() {
			return s, invalid("settings.subnet", "%q isn't a private IPv4 network between /16 and /24. For example, 10.78.0.0/16", v)
		}
		s.subnet = p.Masked()
	}
	for _, most := range []struct {
		name, what string
		to         *int
	}{
		{"max_machines", "maximum machines", &s.maxMachines},
		{"max_processes", "maximum processes", &s.maxProcesses},
		{"max_disk_gb", "maximum disk space in GB", &s.maxDiskGB},
	} {
		if v := text(values, most.name); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil || n < 1 || n > maxOfAny {
				return s, invalid("settings."+most.name, "%s must be a whole number from 1 to %d, not %q", most.what, maxOfAny, v)
			}
			*most.to = n
		}
	}
	return s, nil
}

func text(values map[string]any, name string) string {
	if v, ok := values[name]; ok && v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

func invalid(field, format string, args ...any) *app.Error {
	e := app.Errorf(app.EInvalid, format, args...)
	e.Field = field
	return e
}

// checkFlavor wants one of the labels.
func checkFlavor(f template.Flavor) error {
	if slices.Contains(flavors, f.Flavor) {
		return nil
	}
	e := invalid("flavor", "flavor %q doesn't exist in the sandbox", f.Flavor)
	e.Hint = "Options: " + strings.Join(flavors, ", ") + "."
	return e
}
