package jobs

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	appfamily "muster/app/family"
	"muster/app/health"
	"muster/app/humanize"
)

// Limits of the assertions. Machines never show all of the memory and disk that was ordered: the kernel and the boot loader
// have their parts. A machine with half of what was ordered is another machine.
const (
	maxClock   = 30 * time.Second // off by more, certificates and tokens fail
	clockWell  = 2 * time.Second  // off by more, time is not kept in step
	sizeAdvise = 0.85
	sizeNeed   = 0.5
)

const sharesHost = "the machine shares its host's file system and network"

// judge compares what a node said of itself with what it has to be. The order is that of the report.
func (c assertions) judge(f nodeInfo) []app.NodeCheck {
	checks := []app.NodeCheck{
		{Name: "login", OK: true, Level: health.NodeRequired, Found: "SSH login as " + c.user() + " with the cluster's key", Want: "key login"},
		c.root(f), c.passwords(f), c.system(f),
	}
	checks = append(checks, c.addresses(f)...)
	checks = append(checks, c.hostname(f), c.resolves(f), c.knowsItself(f), c.clock(f), c.firewall(f), c.programs(f),
		c.size("memory", f.one("memory"), c.flavor.MemoryGB), c.size("disk", f.one("disk"), c.flavor.DiskGB))
	if c.flavor.GPUs > 0 {
		checks = append(checks, c.gpus(f.one("gpus")))
	}
	return checks
}

func (c assertions) user() string {
	if c.node.SSHUser == "" {
		return "root"
	}
	return c.node.SSHUser
}

// required is what a check means on a machine of its own; on others what it finds is the host's affair.
func (c assertions) required() app.NodeLevel {
	if c.node.OwnRoot {
		return health.NodeRequired
	}
	return health.NodeAdvised
}

func (c assertions) root(f nodeInfo) app.NodeCheck {
	uid := f.one("uid")
	return app.NodeCheck{
		Name: "root", Level: c.required(), OK: uid == "0",
		Found: either(uid == "0", "passwordless root", "no root access (user ID "+uid+")"), Want: "passwordless root",
		Hint: "Allow passwordless sudo, or set the image's SSH user to root.",
	}
}

func (c assertions) passwords(f nodeInfo) app.NodeCheck {
	v := app.NodeCheck{Name: "passwords", Level: health.NodeAdvised, OK: true, Want: "key login only"}
	switch f.one("passwords") {
	case "no":
		v.Found = "key login only"
	case "yes":
		v.OK, v.Found = false, "password login is enabled"
		v.Hint = "Set \"PasswordAuthentication no\" in the image's sshd_config."
	default:
		v.Skipped = "the machine doesn't report its SSH server's settings"
	}
	if !c.node.OwnRoot {
		v = app.NodeCheck{Name: v.Name, Level: v.Level, OK: true, Skipped: sharesHost}
	}
	return v
}

// system compares the operating system with what the image declares: extra fields "os" (debian) and "os_version" (12). A
// version holds for all that is finer: 12 is met by 12.5.
func (c assertions) system(f nodeInfo) app.NodeCheck {
	family, version := c.image.Extra["os"], c.image.Extra["os_version"]
	found := strings.TrimSpace(f.one("os") + " " + f.one("version"))
	v := app.NodeCheck{Name: "os", Level: health.NodeRequired, OK: true, Found: either(found == "", "unknown", found), Want: strings.TrimSpace(family + " " + version)}
	if family != "" && !strings.EqualFold(family, f.one("os")) {
		v.OK = false
	}
	if got := f.one("version"); version != "" && got != version && !strings.HasPrefix(got, version+".") {
		v.OK = false
	}
	if !v.OK {
		v.Hint = "Correct the image's declaration, or choose the right image for " + c.provider + "."
	}
	return v
}

// addresses looks for the node's own addresses on its interfaces. The one that services bind to must be there; the one by which
// people come may be another machine's that passes on to it.
func (c assertions) addresses(f nodeInfo) []app.NodeCheck {
	var checks []app.NodeCheck
	for _, kind := range []string{app.AddressBind, app.AddressAccess} {
		want := c.node.Addresses[kind]
		v := app.NodeCheck{Name: "address " + strings.TrimSuffix(kind, "_v4"), Level: health.NodeAdvised, OK: true, Found: want, Want: "an address"}
		switch at, err := netip.ParseAddr(want); {
		case want == "" && kind == app.AddressBind, kind == app.AddressAccess && want == c.node.Addresses[app.AddressBind] && want != "":
			continue // the other covers it
		case err != nil:
			v.Level, v.OK, v.Found = health.NodeRequired, false, either(want == "", "none", strconv.Quote(want))
			v.Hint = "The provider must report the machine's addresses."
		case !c.node.OwnRoot:
			v.Skipped = sharesHost
		case f.one("addresses") == "":
			v.Skipped = "the machine has neither ip nor hostname -I"
		case kind == app.AddressAccess:
			v.Found = want + either(on(f, at), " on an interface", ", forwarded by another machine")
		case !on(f, at):
			v.Level, v.OK, v.Want, v.Found = health.NodeRequired, false, want+" on an interface", "only "+strings.Join(f.said["address"], ", ")
			v.Hint = "The machine's network isn't configured as the provider reports."
		default:
			v.Level, v.Want, v.Found = health.NodeRequired, want+" on an interface", want
		}
		checks = append(checks, v)
	}
	return checks
}

func on(f nodeInfo, at netip.Addr) bool {
	return slices.ContainsFunc(f.said["address"], func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Unmap() == at.Unmap()
	})
}

func (c assertions) hostname(f nodeInfo) app.NodeCheck {
	got := f.one("hostname")
	short, _, _ := strings.Cut(c.node.Hostname, ".")
	v := app.NodeCheck{Name: "hostname", Level: health.NodeAdvised, Found: got, Want: c.node.Hostname,
		OK: strings.EqualFold(got, c.node.Hostname) || strings.EqualFold(got, short)}
	if !c.node.OwnRoot {
		return app.NodeCheck{Name: v.Name, Level: v.Level, OK: true, Skipped: sharesHost}
	}
	if !v.OK {
		v.Hint = "The image should take its host name from the provider."
	}
	return v
}

// namesCheck is the name of the check of names.
const namesCheck = "names"

// resolves looks for every name with its address, and for every address with its name.
func (c assertions) resolves(f nodeInfo) app.NodeCheck {
	v := app.NodeCheck{Name: namesCheck, Level: health.NodeRequired, OK: true}
	asked := c.names()
	switch {
	case !c.node.OwnRoot:
		v.Skipped = sharesHost
	case len(asked) == 0:
		v.Skipped = "no other nodes known yet"
	case f.one("resolver") == "":
		v.Skipped = "the machine has no getent"
	}
	if v.Skipped != "" {
		return v
	}
	var wrong []string
	for _, e := range asked {
		if name := e.Names[0]; name != c.node.Hostname && !(resolved(f, "resolved", e.Address, name) && resolved(f, "reversed", e.Address, name)) {
			wrong = append(wrong, e.Names[0])
		}
	}
	v.OK = len(wrong) == 0
	v.Want = "names and addresses of " + humanize.Count(len(asked), "machine") + " resolve both ways"
	if c.of > len(asked) {
		v.Want += fmt.Sprintf(" (of %d)", c.of)
	}
	v.Found = "all resolve"
	if !v.OK {
		v.Found = fmt.Sprintf("%d unresolved: %s", len(wrong), strings.Join(wrong[:min(len(wrong), 5)], ", "))
		v.Hint = "Put \"files\" first for hosts in /etc/nsswitch.conf, and remove other entries for these names from /etc/hosts."
	}
	return v
}

// knowsItself looks for the node's own name, which some images map to 127.0.1.1: most services get along with that, some tell
// their peers that address.
func (c assertions) knowsItself(f nodeInfo) app.NodeCheck {
	v := app.NodeCheck{Name: "own name", Level: health.NodeAdvised, OK: true}
	i := slices.IndexFunc(c.names(), func(e appfamily.HostEntry) bool { return e.Names[0] == c.node.Hostname })
	switch {
	case !c.node.OwnRoot:
		v.Skipped = sharesHost
	case i < 0 || f.one("resolver") == "":
		v.Skipped = "not looked up"
	default:
		e := c.names()[i]
		v.Want = c.node.Hostname + " is " + e.Address
		v.OK = resolved(f, "resolved", e.Address, c.node.Hostname)
		v.Found = either(v.OK, "correct", "another address")
		v.Hint = either(v.OK, "", "Remove the line with this name and 127.0.1.1 from the image's /etc/hosts.")
	}
	return v
}

// resolved reports whether a lookup of one kind has found an address and a name together.
func resolved(f nodeInfo, kind, address, name string) bool {
	at, err := netip.ParseAddr(address)
	return err == nil && slices.ContainsFunc(f.said[kind], func(line string) bool {
		words := strings.Fields(line + " .")
		a, err := netip.ParseAddr(words[0])
		return err == nil && a.Unmap() == at.Unmap() && slices.Contains(words[1:], name)
	})
}

// clock compares the node's clock with the worker's. The node tells whole seconds, and its word takes a while to come.
func (c assertions) clock(f nodeInfo) app.NodeCheck {
	v := app.NodeCheck{Name: "time", Level: health.NodeRequired, Want: "within " + humanize.Duration(maxClock) + " of the worker's clock"}
	seconds, err := strconv.ParseInt(f.one("time"), 10, 64)
	if err != nil {
		v.Found = strconv.Quote(f.one("time"))
		v.Hint = "The machine's date command doesn't print the time."
		return v
	}
	// What it said was right at some moment between asking and hearing.
	at := time.Unix(seconds, 0)
	var off time.Duration
	switch early, late := f.began.Sub(at.Add(time.Second)), at.Sub(f.heard); {
	case early > 0:
		off = early
	case late > 0:
		off = late
	}
	v.Found = humanize.Duration(off) + " off"
	v.OK = off <= maxClock
	if v.OK && off > clockWell {
		v.OK, v.Level, v.Want = false, health.NodeAdvised, "within "+humanize.Duration(clockWell)+" of the worker's clock"
	}
	if !v.OK {
		v.Hint = "Run chrony or systemd-timesyncd in the image. If other nodes are correct, check the worker's clock."
	}
	return v
}

// firewall compares with what the image declares: extra field "firewall", "on" or "off".
func (c assertions) firewall(f nodeInfo) app.NodeCheck {
	want, got := strings.ToLower(c.image.Extra["firewall"]), f.one("firewall")
	v := app.NodeCheck{Name: "firewall", Level: health.NodeRequired, OK: true, Found: got, Want: want}
	switch {
	case !c.node.OwnRoot:
		v.Skipped = sharesHost
	case got == "":
		v.Skipped = "not reported by the machine"
	case want != "" && want != got:
		v.OK, v.Hint = false, "Correct the image's declaration, or turn the firewall "+want+" in the image."
	}
	return v
}

func (c assertions) programs(f nodeInfo) app.NodeCheck {
	missing := f.said["missing"]
	v := app.NodeCheck{Name: "programs", Level: health.NodeRequired, OK: len(missing) == 0, Found: "all installed", Want: strings.Join(c.tools, ", ")}
	if !v.OK {
		v.Found = strings.Join(missing, ", ") + " missing"
		v.Hint = "Add them to the image."
	}
	return v
}

// size compares what the machine has, in KiB, with what was ordered, in GiB; 0 is not known.
func (c assertions) size(name, kib string, want float64) app.NodeCheck {
	v := app.NodeCheck{Name: name, Level: health.NodeAdvised, OK: true}
	n, err := strconv.ParseFloat(kib, 64)
	switch {
	case !c.node.OwnRoot:
		v.Skipped = sharesHost
		return v
	case err != nil:
		v.Skipped = "not reported by the machine"
		return v
	}
	got := n / (1 << 20)
	v.Found = fmt.Sprintf("%.1f GiB", got)
	if want > 0 {
		v.Want = fmt.Sprintf("%g GiB", want)
		v.OK = got >= sizeAdvise*want
		if got < sizeNeed*want {
			v.Level = health.NodeRequired
		}
	}
	if !v.OK {
		v.Hint = "Correct the hardware type, or check what " + c.provider + " created."
	}
	return v
}

func either(yes bool, a, b string) string {
	if yes {
		return a
	}
	return b
}

// gpus is only asked where the hardware has some. A machine with none is another machine than the one that was ordered.
func (c assertions) gpus(found string) app.NodeCheck {
	v := app.NodeCheck{Name: "gpus", Level: health.NodeAdvised, OK: true}
	n, err := strconv.Atoi(found)
	switch {
	case !c.node.OwnRoot:
		v.Skipped = sharesHost
		return v
	case err != nil:
		v.Skipped = "not reported by the machine"
		return v
	}
	v.Found, v.Want, v.OK = humanize.Count(n, "GPU"), humanize.Count(c.flavor.GPUs, "GPU"), n >= c.flavor.GPUs
	if n == 0 {
		v.Level = health.NodeRequired
	}
	if !v.OK {
		v.Hint = "Correct the hardware type's gpus, or check what " + c.provider + " created."
	}
	return v
}
