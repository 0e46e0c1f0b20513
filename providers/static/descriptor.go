package static

import (
	"time"

	"muster/app/family"
	"muster/providers/internal/account"
	"muster/providers/static/internal/shell"
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:        "static",
	Tested:      "Real OpenSSH servers.",
	Description: "Existing machines, such as bare metal, assigned and wiped over SSH.",
	Fields: []family.Field{
		{Name: "machines", SetBy: family.SetByTenant, Reaches: true, Label: "Machines", Type: family.FieldLines, Required: true,
			Help: `One line per machine: NAME ADDRESS, then words such as flavor=big, cpu=, memory_gb=, disk_gb=, gpus=, zone=, user=, port=, image=, bind=, host_key="ssh-ed25519 AAAA...", labels, or out.`},
		{Name: "ssh_key", SetBy: family.SetByTenant, Label: "SSH key", Type: family.FieldLines, Required: true, Secret: true, Help: "The private key for signing in to the machines, in PEM format."},
		{Name: "wipe", SetBy: family.SetByTenant, Label: "Wipe script", Type: family.FieldLines, Help: "Runs as root when a machine is released. Without it, the previous user's files stay on the machine."},
		{Name: "wipe_time", SetBy: family.SetByTenant, Label: "Wipe timeout (s)", Type: family.FieldInt, Default: "300", Help: "How long the wipe script may take."},
		{Name: "prepare", SetBy: family.SetByTenant, Label: "Prepare script", Type: family.FieldLines, Help: "Runs as root before a machine is assigned, and again if it was interrupted."},
		{Name: "prepare_time", SetBy: family.SetByTenant, Label: "Prepare timeout (s)", Type: family.FieldInt, Default: "300", Help: "How long the prepare script may take."},
		{Name: "sudo", SetBy: family.SetByTenant, Label: "Use sudo", Type: family.FieldBool, Default: "true",
			Help: "Whether users other than root use passwordless sudo. If false, everything runs as the user, and no host name is set."},
		{Name: "unknown_host_keys", SetBy: family.SetByTenant, Label: "Unknown host keys", Type: family.FieldChoice, Default: "refuse", Options: []string{"refuse", "pin"},
			Help: "For machines without host_key: refuse them, or pin the first key they present."},
	},
	FlavorFields: []family.Field{
		{Name: "labels", SetBy: family.SetByTenant, Label: "Labels", Type: family.FieldList, Help: "Labels that a machine must have, such as ssd,gpu=a100."},
	},
}

type settings struct {
	machines               []*machine
	key                    shell.Key
	wipe, prepare          string
	wipeTime, prepareTime  time.Duration
	sudo, pinning          bool
	flavors, images, zones map[string]int
	byName                 map[string]*machine
}

// longestScript stays below what the family returns a whole verb.
const longestScript = 540

// Check validates settings beyond what the descriptor says; the error is EInvalid.
func Check(settings map[string]any) error {
	_, err := read(account.Settings(settings))
	return err
}

func read(s account.Settings) (settings, error) {
	o := settings{wipe: s.Text("wipe"), prepare: s.Text("prepare"), flavors: map[string]int{}, images: map[string]int{}, zones: map[string]int{}, byName: map[string]*machine{}}
	var err error
	if o.pinning = s.Or("unknown_host_keys", "refuse") == "pin"; !o.pinning && s.Or("unknown_host_keys", "refuse") != "refuse" {
		return o, account.Invalid("unknown_host_keys", "unknown_host_keys must be refuse or pin")
	}
	if o.sudo, err = s.Bool("sudo", true); err != nil {
		return o, err
	}
	for name, d := range map[string]*time.Duration{"wipe_time": &o.wipeTime, "prepare_time": &o.prepareTime} {
		n, err := s.Int(name, 300, 1, longestScript)
		if err != nil {
			return o, err
		}
		*d = time.Duration(n) * time.Second
	}
	if o.key, err = shell.PrivateKey(s.Text("ssh_key")); err != nil {
		e := account.Invalid("ssh_key", "the machines' SSH key can't be used: %v", err)
		e.Hint = "Use a private key without a passphrase, in PEM format, as ${secret:NAME}."
		return o, e
	}
	// Spaces at the ends of lines count for nothing, those of the first line neither.
	text, _ := s["machines"].(string)
	if o.machines, err = readInventory(text, o.pinning); err != nil {
		return o, err
	}
	if len(o.machines) == 0 {
		e := account.Invalid("machines", "the inventory is empty")
		e.Hint = `Add one line per machine. For example, db1 192.0.2.11 flavor=big host_key="ssh-ed25519 AAAA..."`
		return o, e
	}
	o.count()
	return o, nil
}

// count fills in what is asked of the machines together.
func (o *settings) count() {
	for _, m := range o.machines {
		o.byName[m.name] = m
		o.flavors[m.flavor]++
		o.images[m.image]++
		if m.zone != "" {
			o.zones[m.zone]++
		}
	}
}
