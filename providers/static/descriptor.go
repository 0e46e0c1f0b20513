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
	Description: "Machines that already exist, such as bare metal: handed out, and given back wiped, over SSH.",
	Fields: []family.Field{
		{Name: "machines", SetBy: family.SetByTenant, Label: "Machines", Type: family.FieldLines, Required: true,
			Help: `A line for each: NAME ADDRESS, then words such as flavor=big, cpu=, memory_gb=, disk_gb=, zone=, user=, port=, image=, bind=, host_key="ssh-ed25519 AAAA...", labels, or out.`},
		{Name: "ssh_key", SetBy: family.SetByTenant, Label: "SSH key", Type: family.FieldLines, Required: true, Secret: true, Help: "The private key in PEM form that opens the machines."},
		{Name: "wipe", SetBy: family.SetByTenant, Label: "Wipe", Type: family.FieldLines, Help: "A script that runs as root when a machine is given back. Without it, files of whoever had the machine stay on it."},
		{Name: "wipe_time", SetBy: family.SetByTenant, Label: "Time to wipe", Type: family.FieldInt, Default: "300", Help: "How long the script may take, in seconds."},
		{Name: "prepare", SetBy: family.SetByTenant, Label: "Prepare", Type: family.FieldLines, Help: "A script that runs as root before a machine is handed out. It may run again where it was cut short."},
		{Name: "prepare_time", SetBy: family.SetByTenant, Label: "Time to prepare", Type: family.FieldInt, Default: "300", Help: "How long that script may take, in seconds."},
		{Name: "sudo", SetBy: family.SetByTenant, Label: "Use sudo", Type: family.FieldBool, Default: "true",
			Help: "Users other than root become root by sudo, without a password. With false, all is done as the user: no host name is set."},
		{Name: "unknown_host_keys", SetBy: family.SetByTenant, Label: "Unknown host keys", Type: family.FieldChoice, Default: "refuse", Options: []string{"refuse", "pin"},
			Help: "What becomes of machines without host_key: refused, or held to the key that they show first."},
	},
	FlavorFields: []family.Field{
		{Name: "labels", SetBy: family.SetByTenant, Label: "Labels", Type: family.FieldList, Help: "What a machine must carry, such as ssd,gpu=a100."},
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
		return o, account.Invalid("unknown_host_keys", "unknown host keys are refused or pinned, nothing else")
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
		e := account.Invalid("ssh_key", "the key that opens the machines cannot be used: %v", err)
		e.Hint = "Give a private key without a passphrase, in PEM form, as ${secret:NAME}."
		return o, e
	}
	// Spaces at the ends of lines count for nothing, those of the first line neither.
	text, _ := s["machines"].(string)
	if o.machines, err = readInventory(text, o.pinning); err != nil {
		return o, err
	}
	if len(o.machines) == 0 {
		e := account.Invalid("machines", "the inventory has no machine")
		e.Hint = `Write a line for each, such as: db1 192.0.2.11 flavor=big host_key="ssh-ed25519 AAAA..."`
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
