package server

import (
	"cmp"
	"net/mail"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"muster/cmd/muster/cli"
)

// securityFlags say to whom weaknesses of an installation are reported.
type securityFlags struct{ contact, policy string }

func (f *securityFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.contact, "security-contact", "",
		"mail `address` or https URL for reports of vulnerabilities, served as /.well-known/security.txt (default $MUSTER_SECURITY_CONTACT; none: not served)")
	cmd.Flags().StringVar(&f.policy, "security-policy", "", "https `URL` of the page that says how such reports are handled (default $MUSTER_SECURITY_POLICY)")
}

// securityConfig is what security.txt says.
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
		return c, cli.Usagef("--security-contact must be a mail address or an https URL, not %q", c.Contact)
	}
	switch {
	case c.Policy == "":
	case !webPage(c.Policy):
		return c, cli.Usagef("--security-policy must be an https URL, not %q", c.Policy)
	case c.Contact == "":
		return c, cli.Usagef("--security-policy needs --security-contact beside it")
	}
	return c, nil
}

// webPage tells whether a text is an https URL that fits on a line of its own.
func webPage(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https" && u.Host != "" && !strings.ContainsAny(text, " \t\r\n")
}
