package server

import (
	"cmp"
	"net/mail"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"muster/cmd/muster/cli"
)

// securityFlags are the settings of security.txt.
type securityFlags struct{ contact, policy string }

func (f *securityFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.contact, "security-contact", "",
		"email `address` or https URL for vulnerability reports, served as /.well-known/security.txt (default $MUSTER_SECURITY_CONTACT, or not served)")
	cmd.Flags().StringVar(&f.policy, "security-policy", "", "https `URL` of your vulnerability disclosure policy (default $MUSTER_SECURITY_POLICY)")
}

// securityConfig is the content of security.txt.
type securityConfig struct{ Contact, Policy string }

func (f securityFlags) read(env func(string) (string, bool)) (c securityConfig, err error) {
	of := func(flag, name string) string {
		v, _ := env(name)
		return strings.TrimSpace(cmp.Or(flag, v))
	}
	c.Contact, c.Policy = of(f.contact, "MUSTER_SECURITY_CONTACT"), of(f.policy, "MUSTER_SECURITY_POLICY")
	if a, err := mail.ParseAddress(strings.TrimPrefix(c.Contact, "mailto:")); err == nil && a.Name == "" {
		c.Contact = "mailto:" + (&url.URL{Path: a.Address}).EscapedPath()
	} else if c.Contact != "" && !webPage(c.Contact) {
		return c, cli.Usagef("--security-contact must be an email address or an https URL, not %q", c.Contact)
	}
	switch {
	case c.Policy == "":
	case !webPage(c.Policy):
		return c, cli.Usagef("--security-policy must be an https URL, not %q", c.Policy)
	case c.Contact == "":
		return c, cli.Usagef("--security-policy requires --security-contact")
	}
	return c, nil
}

// webPage reports whether a text is an https URL without line breaks.
func webPage(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != "" && !strings.ContainsAny(text, " \t\r\n")
}
