package rackspace

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
	stack "muster/providers/internal/openstack"
	"muster/providers/internal/userdata"
)

// The networks that every account has.
var standing = map[string]string{"public": "00000000-0000-0000-0000-000000000000", "servicenet": "11111111-1111-1111-1111-111111111111"}

// smallest is the size of the boot volume for flavors without a disk of their own, in GB: Rackspace makes none smaller.
const smallest = 50

// What Cloud Block Storage makes of its standard kind (SATA), in GB. Another kind cannot be asked for together with a server.
const smallestData, largestVolume = 75, 1024

// machineOptions is what the settings ask for a machine, as flavor and image override it.
type machineOptions struct {
	networks []string // ids
	bootGB   int
	dataGB   int    // 0: no volume beside
	custom   string // user data
}

func machineOptionsOf(s account.Settings) (w machineOptions, err error) {
	for _, name := range s.List("networks") {
		id := cmp.Or(standing[strings.ToLower(name)], name)
		if !stack.IsID(id) {
			e := account.Invalid("networks", "%q isn't public, servicenet or a network's ID", name)
			e.Hint = "For example, public, servicenet, 6a6aa5e1-73cd-4a91-a48e-8e9ff0f5ad8b."
			return w, e
		}
		w.networks = append(w.networks, id)
	}
	if w.bootGB, err = s.Int("boot_volume_gb", 0, 0, largestVolume); err != nil {
		return w, err
	}
	if w.bootGB > 0 && w.bootGB < smallest {
		return w, account.Invalid("boot_volume_gb", "Rackspace boot volumes must have at least %d GB", smallest)
	}
	if w.dataGB, err = s.Int("data_disk_gb", 0, 0, largestVolume); err != nil {
		return w, err
	}
	w.custom = s.Text(userdata.Setting)
	if err := userdata.CheckCustom(w.custom, userdata.LimitNova); err != nil {
		return w, err
	}
	if w.dataGB > 0 && w.dataGB < smallestData {
		return w, account.Invalid("data_disk_gb", "Rackspace data volumes must have at least %d GB", smallestData)
	}
	return w, nil
}

// disks are those of a machine of a flavor.
func (w machineOptions) disks(f flavors.Flavor) stack.Disks {
	d := stack.Disks{BootGB: w.bootGB, DataGB: w.dataGB}
	if d.BootGB == 0 && f.Disk == 0 {
		d.BootGB = smallest
	}
	return d
}

// Create makes a server, or returns the one of the same intent.
func (p *Provider) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	w, err := machineOptionsOf(p.settings.With(spec.Flavor.Extra, spec.Image.Extra))
	if err != nil {
		return family.Machine{}, err
	}
	if err := p.makeable(spec); err != nil {
		return family.Machine{}, err
	}
	_, hostKey, err := userdata.CloudConfig(spec, userdata.Options{User: spec.Image.SSHUser})
	if err != nil {
		return family.Machine{}, err
	}
	done, err := p.turns.Take(ctx, spec.Intent)
	if err != nil {
		return family.Machine{}, err
	}
	defer done()
	return stack.With(ctx, p.sessions, func(s *stack.Session) (family.Machine, error) {
		one, err := stack.Ensure(ctx, s, p.pace, stack.Order{
			Tags:    spec.Tags,
			Recent:  &p.asked,
			Options: func() (servers.CreateOpts, error) { return p.options(ctx, s, spec, w) },
			Remove:  func(ctx context.Context, id string) error { return p.remove(ctx, s, id) },
		})
		if err != nil {
			p.catalog.Forget()
			return family.Machine{}, err
		}
		m := p.machine(one)
		m.HostKey, m.SSHUser = hostKey, spec.Image.SSHUser
		return m, nil
	})
}

// makeable refuses what Rackspace has nothing for.
func (p *Provider) makeable(spec family.MachineSpec) error {
	if spec.Zone != "" && spec.Zone != p.region {
		e := app.Errorf(app.EInvalid, "region %s has no zone %q", p.region, spec.Zone)
		e.Hint = "Rackspace's regions have no zones: leave it empty, or add an account for another region."
		return e
	}
	if spec.Firewall != nil {
		e := app.Errorf(app.EInvalid, "the cluster's firewall can't be created: Rackspace's public network doesn't support security groups")
		e.Hint = "Remove the firewall from the template, and close ports on the machines themselves (a service with nftables), with RackConnect, or with their own network in the setting networks."
		return e
	}
	return stack.Keepable(spec)
}

func (p *Provider) options(ctx context.Context, s *stack.Session, spec family.MachineSpec, w machineOptions) (servers.CreateOpts, error) {
	drive := true // Rackspace hands user data over in no other way
	opts := servers.CreateOpts{Name: spec.Hostname, Metadata: spec.Tags, ConfigDrive: &drive}
	flavor, err := p.catalog.Flavor(ctx, s, spec.Flavor.Flavor)
	if err != nil {
		return opts, err
	}
	image, err := p.catalog.Image(ctx, s, spec.Image.Image)
	if err != nil {
		return opts, err
	}
	// A data volume comes without a file system, and so does the second disk of flavors such as I/O.
	data, _, err := userdata.CloudConfig(spec, userdata.Options{User: spec.Image.SSHUser,
		DataDisks: flavor.Ephemeral > 0 || w.dataGB > 0, Custom: w.custom, Limit: userdata.LimitNova})
	if err != nil {
		return opts, err
	}
	opts.FlavorRef, opts.UserData = flavor.ID, []byte(data)
	w.disks(flavor).Put(&opts, image.ID)
	var on []servers.Network
	for _, id := range w.networks {
		on = append(on, servers.Network{UUID: id})
	}
	if on != nil {
		opts.Networks = on
	}
	return opts, nil
}

// machine returns a server in the family's words. With RackConnect, it has started when the automation is done, and that says also how it is reached.
func (p *Provider) machine(one *stack.Server) family.Machine {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(one.Addresses)), func(n string) bool { return n == "public" || n == "private" })
	m := one.Machine(append(names, "private", "public")) // isolated networks first: what is on them is the account's alone
	m.Zone, m.Note = p.region, "Rackspace Cloud Server, "+one.Status
	if said := stack.Plain(one.Fault.Message); said != "" {
		m.Note += ": " + said
	}
	if one.AccessIPv4 != "" {
		m.Addresses[app.AddressAccess] = one.AccessIPv4
	}
	status := one.Metadata["rackconnect_automation_status"]
	if p.waits && !slices.Contains([]string{"DEPLOYED", "FAILED", "UNPROCESSABLE"}, status) {
		delete(m.Addresses, app.AddressAccess) // the automation returns another one
	}
	if !p.waits || m.State != family.MachineRunning {
		return m
	}
	switch status {
	case "DEPLOYED":
	case "FAILED", "UNPROCESSABLE":
		m.State, m.Note = family.MachineStopped, m.Note+", RackConnect "+status
	default:
		m.State, m.Note = family.MachineStarting, m.Note+", RackConnect "+cmp.Or(status, "not started")
	}
	return m
}
