package fake

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/family"
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:        "fake",
	Tested:      "Itself: there's no cloud.",
	Sleeps:      true,
	Description: "An in-memory cloud for trying things out. Its machines disappear with the process and aren't reachable unless an endpoint is set.",
	Fields: []family.Field{
		{Name: "account", SetBy: family.SetByTenant, Label: "Account", Type: family.FieldText, Help: "Providers with the same account share machines. Leave empty for the provider's own name."},
		{Name: "delay", SetBy: family.SetByTenant, Label: "Delay", Type: family.FieldText, Help: "How long each call takes, such as 50ms.", Default: "0s"},
		{Name: "boot", SetBy: family.SetByTenant, Label: "Boot time", Type: family.FieldText, Help: "How long a machine takes to start.", Default: "0s"},
		{Name: "list_lag", SetBy: family.SetByTenant, Label: "List lag", Type: family.FieldText, Help: "How long a new machine is missing from lists.", Default: "0s"},
		{Name: "quota", SetBy: family.SetByTenant, Label: "Quota", Type: family.FieldInt, Help: "Maximum number of machines; 0 for no limit.", Default: "0"},
		{Name: "room", SetBy: family.SetByTenant, Label: "Capacity", Type: family.FieldList, Help: "Maximum number of machines per zone, such as a=3,b=0; other zones have no limit. A machine without a zone goes to the first of these with capacity."},
		{Name: "rate", SetBy: family.SetByTenant, Label: "Calls per second", Type: family.FieldInt, Help: "Further calls are rejected with a time to retry; 0 for no limit.", Default: "0"},
		{Name: "endpoint", SetBy: family.SetByInstallation, Label: "SSH endpoint", Type: family.FieldText, Help: "host:port of all machines."},
		{Name: "url", SetBy: family.SetByInstallation, Label: "Account address", Type: family.FieldText, Help: "http://host:port of a process that holds the account, so that machines outlive Muster."},
		{Name: "secret", SetBy: family.SetByTenant, Label: "Secret", Type: family.FieldText, Help: "The secret that the process at the address requires.", Secret: true},
		{Name: "host_key", SetBy: family.SetByTenant, Label: "Host key", Type: family.FieldText, Help: "The endpoint's host key in authorized_keys format. Leave empty for each machine's own key."},
	},
}

// Check validates settings beyond what the descriptor says; the error is EInvalid.
func Check(settings map[string]any) error {
	if err := checkURL(settings); err != nil {
		return err
	}
	return apply(New(""), settings)
}

// Open returns the named account of this process, set up as the settings say.
func Open(name string, settings map[string]any) (*Cloud, error) {
	account := text(settings, "account")
	if account == "" {
		account = name
	}
	c := Named(account)
	return c, apply(c, settings)
}

func apply(c *Cloud, settings map[string]any) error {
	for field, set := range map[string]func(time.Duration){
		"delay": func(d time.Duration) {
			for _, v := range []Verb{Create, Describe, List, Delete} {
				c.SetDelay(v, d)
			}
		},
		"boot":     c.SetBoot,
		"list_lag": c.SetListLag,
	} {
		s := text(settings, field)
		if s == "" {
			continue
		}
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return invalid(field, "%q isn't a valid duration. For example, 50ms", s)
		}
		set(d)
	}
	if s := text(settings, "quota"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return invalid("quota", "the quota must be a whole number of at least 0, not %q", s)
		}
		c.SetQuota(n)
	}
	if s := text(settings, "rate"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return invalid("rate", "the rate must be a whole number of at least 0, not %q", s)
		}
		c.SetRate(float64(n), n)
	}
	if s := text(settings, "room"); s != "" {
		for part := range strings.SplitSeq(s, ",") {
			zone, count, ok := strings.Cut(part, "=")
			n, err := strconv.Atoi(strings.TrimSpace(count))
			if !ok || err != nil || n < 0 {
				return invalid("room", "%q isn't in the form a=3,b=0", s)
			}
			c.SetRoom(strings.TrimSpace(zone), n)
		}
	}
	return applyEndpoint(c, settings)
}

func applyEndpoint(c *Cloud, settings map[string]any) error {
	s := text(settings, "endpoint")
	key := strings.TrimSpace(text(settings, "host_key"))
	if key != "" {
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(key)); err != nil {
			return invalid("host_key", "the host key isn't in authorized_keys format")
		}
	}
	if s == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(s)
	n, notNumber := strconv.Atoi(port)
	if err != nil || notNumber != nil || n < 1 || n > 65535 {
		return invalid("endpoint", "%q isn't in the form host:port", s)
	}
	c.Bind(func(family.MachineSpec) Endpoint { return Endpoint{Address: host, Port: n, HostKey: key} })
	return nil
}

func text(settings map[string]any, field string) string {
	if v, ok := settings[field]; ok && v != nil {
		return fmt.Sprint(v)
	}
	return ""
}

func invalid(field, format string, args ...any) error {
	e := app.Errorf(app.EInvalid, format, args...)
	e.Field = "settings." + field
	return e
}

// publicLine returns the authorized_keys form of the public half of a private key.
func publicLine(private []byte) (string, error) {
	signer, err := ssh.ParsePrivateKey(private)
	if err != nil {
		return "", app.Errorf(app.EInvalid, "can't parse the host key: %w", err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), nil
}

func byID(a, b family.Machine) int { return strings.Compare(a.ID, b.ID) }
