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
	Sleeps:      true,
	Description: "A cloud in memory, for trying plans out. Its machines vanish with the process and do not answer unless an endpoint is given.",
	Fields: []family.Field{
		{Name: "account", SetBy: family.SetByTenant, Label: "Account", Type: family.FieldText, Help: "Providers with the same account see the same machines. Empty means the provider's own name."},
		{Name: "delay", SetBy: family.SetByTenant, Label: "Delay", Type: family.FieldText, Help: "How long each call takes, such as 50ms.", Default: "0s"},
		{Name: "boot", SetBy: family.SetByTenant, Label: "Boot time", Type: family.FieldText, Help: "How long a machine starts before it is running.", Default: "0s"},
		{Name: "list_lag", SetBy: family.SetByTenant, Label: "List lag", Type: family.FieldText, Help: "How long a new machine is missing from lists.", Default: "0s"},
		{Name: "quota", SetBy: family.SetByTenant, Label: "Quota", Type: family.FieldInt, Help: "The most machines; 0 means no limit.", Default: "0"},
		{Name: "room", SetBy: family.SetByTenant, Label: "Room", Type: family.FieldList, Help: "The most machines of zones, such as a=3,b=0; zones that are not named are not limited. A machine for no zone comes into the first of these that has room."},
		{Name: "rate", SetBy: family.SetByTenant, Label: "Calls a second", Type: family.FieldInt, Help: "More calls than this are refused, with when to come back; 0 means no limit.", Default: "0"},
		{Name: "endpoint", SetBy: family.SetByInstallation, Label: "SSH endpoint", Type: family.FieldText, Help: "host:port where every machine seems to be."},
		{Name: "url", SetBy: family.SetByInstallation, Label: "Address of the account", Type: family.FieldText, Help: "http://host:port of a process that holds the account, for trying out what outlives Muster."},
		{Name: "secret", SetBy: family.SetByTenant, Label: "Secret", Type: family.FieldText, Help: "What the process at the address wants to be told.", Secret: true},
		{Name: "host_key", SetBy: family.SetByTenant, Label: "Host key", Type: family.FieldText, Help: "The endpoint's host key in authorized_keys form. Empty means the key that each machine was given."},
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
			return invalid(field, "%q is not a duration such as 50ms", s)
		}
		set(d)
	}
	if s := text(settings, "quota"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return invalid("quota", "the quota must be a whole number, 0 or greater, not %q", s)
		}
		c.SetQuota(n)
	}
	if s := text(settings, "rate"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			return invalid("rate", "the rate must be a whole number, 0 or greater, not %q", s)
		}
		c.SetRate(float64(n), n)
	}
	if s := text(settings, "room"); s != "" {
		for part := range strings.SplitSeq(s, ",") {
			zone, count, ok := strings.Cut(part, "=")
			n, err := strconv.Atoi(strings.TrimSpace(count))
			if !ok || err != nil || n < 0 {
				return invalid("room", "%q is not of the form a=3,b=0", s)
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
			return invalid("host_key", "the host key is not in authorized_keys form")
		}
	}
	if s == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(s)
	n, notNumber := strconv.Atoi(port)
	if err != nil || notNumber != nil || n < 1 || n > 65535 {
		return invalid("endpoint", "%q is not of the form host:port", s)
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
		return "", app.Errorf(app.EInvalid, "the host key cannot be read: %w", err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))), nil
}

func byID(a, b family.Machine) int { return strings.Compare(a.ID, b.ID) }
