package static

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
	"muster/providers/internal/account"
	"muster/providers/static/internal/shell"
)

// machine is a line of the inventory.
type machine struct {
	name, address, bind, user string
	port                      int
	flavor, image, zone       string
	hostKey                   string // authorized_keys form, "" where it is to be pinned
	labels                    map[string]string
	size                      map[string]float64 // by the words of capacities, what the line says; such pairs are labels, too
	out                       bool
}

const (
	defaultFlavor = "standard"
	defaultImage  = "installed"
	maxMachines   = 2000
)

var (
	nameForm  = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}$`)
	userForm  = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,31}$`)
	wordForm  = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._:/-]{0,62}$`)
	sizeForm  = regexp.MustCompile(`^[0-9]{1,7}(\.[0-9]{1,2})?$`)
	sizeWords = []string{"cpu", "memory_gb", "disk_gb", "gpus"}
	keyWords  = []string{"bind", "flavor", "host_key", "image", "port", "user", "zone"}
	forbidden = []string{"pass", "passwd", "password", "secret", "ssh_key", "private_key", "token"}
)

// readInventory reads the setting machines. An error names the line and what would be right; of the line it quotes no more than names.
func readInventory(text string, pinning bool) ([]*machine, error) {
	var out []*machine
	lines := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		wrong := func(hint, format string, args ...any) error {
			e := account.Invalid("machines", "line %d: %s", i+1, fmt.Sprintf(format, args...))
			e.Hint = cmp.Or(hint, `For example, db1 192.0.2.11 flavor=big host_key="ssh-ed25519 AAAA..." ssd`)
			return e
		}
		ws, err := shellwords(line)
		if err != nil {
			return nil, wrong(`Quote as in a shell: host_key="ssh-ed25519 AAAA..."`, "%v", err)
		}
		if len(ws) == 0 {
			continue
		}
		m, err := readMachine(ws, pinning, wrong)
		if err != nil {
			return nil, err
		}
		for _, what := range []string{"name " + m.name, "address " + m.at()} {
			if before := lines[what]; before != 0 {
				return nil, wrong("Each machine needs exactly one line.", "%s is already on line %d", what, before)
			}
			lines[what] = i + 1
		}
		if out = append(out, m); len(out) > maxMachines {
			return nil, wrong("Split them across several accounts.", "an account can have at most %d machines", maxMachines)
		}
	}
	return out, nil
}

func readMachine(ws []string, pinning bool, wrong func(hint, format string, args ...any) error) (*machine, error) {
	m := &machine{name: ws[0], user: "root", port: 22, flavor: defaultFlavor, image: defaultImage, labels: map[string]string{}, size: map[string]float64{}}
	if !nameForm.MatchString(m.name) || strings.Contains(m.name, "=") {
		return nil, wrong("", "the first word isn't a valid machine name: use at most 63 letters, digits, dots, hyphens and underscores")
	}
	if len(ws) < 2 || strings.Contains(ws[1], "=") {
		return nil, wrong("", "the second word must be the machine's address")
	}
	var err error
	if m.address, err = readAddress(ws[1]); err != nil {
		return nil, wrong("Use an IPv4 address such as 192.0.2.11, with the port in port=. Names could change unnoticed.", "the address of machine %s is invalid: %v", m.name, err)
	}
	m.bind = m.address
	seen := map[string]bool{}
	for _, w := range ws[2:] {
		key, value, pair := strings.Cut(w, "=")
		if seen[key] {
			return nil, wrong("Remove one of them.", "machine %s has %s twice", m.name, known(key))
		}
		seen[key] = true
		if !pair && key == "out" {
			m.out = true
			continue
		}
		if err := m.set(key, value, pair, wrong); err != nil {
			return nil, err
		}
	}
	if m.hostKey == "" && !pinning && !m.out {
		return nil, wrong("Copy it from /etc/ssh/ssh_host_ed25519_key.pub on the machine's console, or set unknown_host_keys to pin.", "machine %s has no host_key to prove its identity", m.name)
	}
	return m, nil
}

// known shows a key that an inventory may have, and nothing else.
func known(key string) string {
	if slices.Contains(keyWords, key) || slices.Contains(sizeWords, key) || key == "out" {
		return key
	}
	return "one word"
}

func (m *machine) set(key, value string, pair bool, wrong func(hint, format string, args ...any) error) error {
	var err error
	switch {
	case pair && slices.Contains(forbidden, strings.ToLower(key)):
		return wrong("Put the machines' SSH key in the setting ssh_key, as ${secret:NAME}.", "machine %s has a secret on its line, which isn't safe", m.name)
	case !pair || !slices.Contains(keyWords, key):
		if !wordForm.MatchString(key) || pair && !wordForm.MatchString(value) {
			return wrong("Use a label such as ssd or gpu=a100.", "machine %s has a word that isn't a key or a label", m.name)
		}
		if near := humanize.Nearest(key, keyWords); pair && near != "" && humanize.EditDistance(humanize.FoldName(key), humanize.FoldName(near)) <= 1 {
			return wrong(fmt.Sprintf("Did you mean %s=? If it's meant as a label, rename it.", near), "machine %s has the label %s, which looks like %s", m.name, key, near)
		}
		m.labels[key] = value
		// What a machine has is a label as well, and any label that is called so is one: they were before they declared sizes, and hardware types ask for them.
		if n, err := strconv.ParseFloat(value, 64); slices.Contains(sizeWords, key) && sizeForm.MatchString(value) && err == nil && n > 0 {
			m.size[key] = n
		}
	case key == "user":
		if m.user = value; !userForm.MatchString(value) {
			return wrong("", "user= of machine %s isn't a valid user name", m.name)
		}
	case key == "port":
		if m.port, err = strconv.Atoi(value); err != nil || m.port < 1 || m.port > 65535 {
			return wrong("", "port= of machine %s isn't a number from 1 to 65535", m.name)
		}
	case key == "bind":
		if m.bind, err = readAddress(value); err != nil {
			return wrong("", "bind= of machine %s isn't an address: %v", m.name, err)
		}
	case key == "host_key":
		if m.hostKey, err = shell.PublicKey(value); err != nil {
			return wrong(`Write host_key="ssh-ed25519 AAAA..." as in /etc/ssh/ssh_host_ed25519_key.pub.`, "host_key= of machine %s is %v", m.name, err)
		}
	case !wordForm.MatchString(value):
		return wrong("", "%s= of machine %s must be one word of letters, digits, dots, hyphens and underscores", key, m.name)
	default:
		*map[string]*string{"flavor": &m.flavor, "image": &m.image, "zone": &m.zone}[key] = value
	}
	return nil
}

func readAddress(text string) (string, error) {
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("it isn't an IPv4 address")
	case !a.Is4():
		return "", fmt.Errorf("only IPv4 is supported")
	case a.IsUnspecified(), a.IsMulticast(), a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return "", fmt.Errorf("%s isn't a machine's address", a)
	}
	return a.String(), nil
}

// sizes returns the capacities of a flavor: the least that any of its machines says. Differs names those of them that its machines do not all say alike.
func sizes(machines []*machine, flavor string) (f template.Flavor, differs []string) {
	f.Flavor = flavor
	for _, word := range sizeWords {
		least, most, says, all := 0.0, 0.0, 0, 0
		for _, m := range machines {
			if m.flavor != flavor {
				continue
			}
			all++
			n, said := m.size[word]
			if !said {
				continue
			}
			if says++; says == 1 {
				least = n
			}
			least, most = min(least, n), max(most, n)
		}
		if says > 0 && (least != most || says < all) {
			differs = append(differs, word)
		}
		switch word {
		case "cpu":
			f.CPU = least
		case "memory_gb":
			f.MemoryGB = least
		case "disk_gb":
			f.DiskGB = least
		case "gpus":
			f.GPUs = int(least)
		}
	}
	return f, differs
}

func (m *machine) at() string { return net.JoinHostPort(m.address, strconv.Itoa(m.port)) }

// carries reports whether a machine has all of the labels that are asked for.
func (m *machine) carries(labels map[string]string) bool {
	for k, v := range labels {
		if has, ok := m.labels[k]; !ok || has != v {
			return false
		}
	}
	return true
}

// readLabels reads what a hardware type asks for: ssd,gpu=a100.
func readLabels(text string) (map[string]string, error) {
	out := map[string]string{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' }) {
		key, value, pair := strings.Cut(w, "=")
		if !wordForm.MatchString(key) || pair && !wordForm.MatchString(value) {
			e := app.Errorf(app.EInvalid, "The labels of the hardware type are invalid.")
			e.Field, e.Hint = "extra.labels", "Use the form ssd,gpu=a100."
			return nil, e
		}
		out[key] = value
	}
	return out, nil
}
