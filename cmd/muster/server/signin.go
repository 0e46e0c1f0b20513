package server

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"muster/app"
	"muster/app/identity"
	"muster/cmd/muster/cli"
	"muster/portal/ldap"
	"muster/portal/oidc"
	"muster/portal/site"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"
)

// signInFlags are the flags for sign-in.
type signInFlags struct{ file, url, apps, proxies string }

func (f *signInFlags) declare(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.url, "public-url", "", "public `URL` of the portal, if it's behind a proxy (default $MUSTER_PUBLIC_URL)")
	cmd.Flags().StringVar(&f.apps, "apps-domain", "",
		"`domain` below which ports of nodes have names of their own, such as apps.example.com (default $MUSTER_APPS_DOMAIN, or none)")
	cmd.Flags().StringVar(&f.file, "sign-in", "", "`file` with identity providers and LDAP directories for sign-in (default $MUSTER_SIGN_IN); see docs/sign-in.md")
	cmd.Flags().StringVar(&f.proxies, "trusted-proxies", "",
		"networks of proxies that are trusted to report client addresses, as `CIDR,…` (default $MUSTER_TRUSTED_PROXIES, or none)")
}

// SignInConfig is the configuration of sign-in.
type SignInConfig struct {
	URL       string
	Apps      string // domain below which ports of nodes have names of their own
	Proxies   []netip.Prefix
	Providers []oidc.Config
	// Directories are asked about passwords of people who have none in Muster.
	Directories []ldap.Config
}

// read reads flags, environment, the sign-in file, and the secrets that it refers to.
func (f signInFlags) read(env func(string) (string, bool)) (c SignInConfig, err error) {
	of := func(flag, name string) string {
		v, _ := env(name)
		return strings.TrimSpace(cmp.Or(flag, v))
	}
	if c.Apps, err = appsDomain(of(f.apps, "MUSTER_APPS_DOMAIN")); err != nil {
		return c, err
	}
	if c.URL, err = publicURL(of(f.url, "MUSTER_PUBLIC_URL")); err != nil {
		return c, err
	}
	if u, err := url.Parse(c.URL); err == nil && c.Apps != "" {
		if domain, _, _ := strings.Cut(c.Apps, ":"); u.Hostname() == domain || strings.HasSuffix(u.Hostname(), "."+domain) {
			return c, cli.Usagef("--apps-domain %s contains the portal's own host %s", c.Apps, u.Hostname()).
				Hint("Use a domain of its own, such as apps.example.com for muster.example.com.")
		}
	}
	if c.Proxies, err = trustedProxies(of(f.proxies, "MUSTER_TRUSTED_PROXIES")); err != nil {
		return c, err
	}
	if file := of(f.file, "MUSTER_SIGN_IN"); file != "" {
		c.Providers, c.Directories, err = readSignIn(file, env)
	}
	return c, err
}

func publicURL(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", cli.Usagef("--public-url %q isn't a valid portal URL", text).Hint("For example: https://muster.example.org. The portal needs its own host name.")
	}
	return u.Scheme + "://" + u.Host, nil
}

var domainForm = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+(:[0-9]{1,5})?$`)

// appsDomain checks a domain, which may have a port.
func appsDomain(text string) (string, error) {
	if text = strings.ToLower(text); text == "" || domainForm.MatchString(text) && len(text) <= 180 {
		return text, nil
	}
	return "", cli.Usagef("--apps-domain %q isn't a domain", text).
		Hint("For example: apps.example.com, with a DNS record and a certificate for *.apps.example.com.")
}

func trustedProxies(text string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		p, err := netip.ParsePrefix(part)
		if err != nil {
			a, e := netip.ParseAddr(part)
			if e != nil {
				return nil, cli.Usagef("--trusted-proxies: %q isn't a network", part).Hint("For example: 10.0.0.0/8,fd00::/8, or single addresses.")
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		if p.Bits() == 0 {
			return nil, cli.Usagef("--trusted-proxies: %s includes all addresses, so any client could fake its address", part).Hint("Name the networks of your own proxies.")
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// signInFile is the file's format.
type signInFile struct {
	Providers []struct {
		Name             string   `yaml:"name"`
		Label            string   `yaml:"label"`
		Issuer           string   `yaml:"issuer"`
		ClientID         string   `yaml:"client_id"`
		ClientSecretEnv  string   `yaml:"client_secret_env"`
		ClientSecretFile string   `yaml:"client_secret_file"`
		Scopes           []string `yaml:"scopes"`
		Claims           struct {
			Name   string `yaml:"name"`
			Email  string `yaml:"email"`
			Groups string `yaml:"groups"`
		} `yaml:"claims"`
		Rules   []string `yaml:"rules"`
		Default string   `yaml:"default"`
		CAFile  string   `yaml:"ca_file"`
	} `yaml:"providers"`
	Directories []directoryFile `yaml:"directories"`
}

const maxSignInFile = 256 << 10

// readSignIn reads the sign-in file. Paths in it are relative to it.
func readSignIn(file string, env func(string) (string, bool)) (all []oidc.Config, directories []ldap.Config, err error) {
	bad := func(format string, args ...any) error {
		return &app.Error{Code: app.EInvalid, Field: "sign-in", Message: file + ": " + fmt.Sprintf(format, args...), Hint: "For an example, see docs/sign-in.md."}
	}
	r, err := os.Open(file)
	if err != nil {
		return nil, nil, bad("%v", err)
	}
	defer r.Close()
	var f signInFile
	d := yaml.NewDecoder(io.LimitReader(r, maxSignInFile))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		return nil, nil, bad("%v", err)
	}
	seen := map[string]bool{}
	for _, p := range f.Providers {
		if seen[p.Name] {
			return nil, nil, bad("two providers have the name %q", p.Name)
		}
		seen[p.Name] = true
		c := oidc.Config{Name: p.Name, Label: p.Label, Issuer: p.Issuer, ClientID: p.ClientID, Scopes: p.Scopes,
			NameClaim: p.Claims.Name, EmailClaim: p.Claims.Email, GroupsClaim: p.Claims.Groups}
		if c.ClientSecret, err = secretOf("client_secret", filepath.Dir(file), p.ClientSecretEnv, p.ClientSecretFile, env); err != nil {
			return nil, nil, bad("provider %q: %v", p.Name, err)
		}
		if c.Rules, c.Default, err = readRules(p.Rules, p.Default); err != nil {
			return nil, nil, bad("provider %q: %v", p.Name, err)
		}
		if p.CAFile != "" {
			if c.HTTP, err = trusting(beside(filepath.Dir(file), p.CAFile)); err != nil {
				return nil, nil, bad("provider %q: ca_file: %v", p.Name, err)
			}
		}
		all = append(all, c)
	}
	for _, l := range f.Directories {
		if seen[l.Name] {
			return nil, nil, bad("two providers or directories have the name %q", l.Name)
		}
		seen[l.Name] = true
		c, err := l.read(filepath.Dir(file), env)
		if err != nil {
			return nil, nil, bad("directory %q: %v", l.Name, err)
		}
		directories = append(directories, c)
	}
	if len(all)+len(directories) == 0 {
		return nil, nil, bad("at least one provider or directory is required")
	}
	return all, directories, nil
}

// readRules reads the rules of a provider or directory, and what others get.
func readRules(texts []string, others string) (rules []identity.GrantRule, fallback *identity.Grant, err error) {
	for _, text := range texts {
		rule, err := identity.ParseGrantRule(text)
		if err != nil {
			return nil, nil, errors.New(app.AsError(err).Advised())
		}
		rules = append(rules, rule)
	}
	if others == "" {
		return rules, nil, nil
	}
	g, err := identity.ParseGrant(others)
	if err != nil {
		return nil, nil, fmt.Errorf("default: %s", app.AsError(err).Advised())
	}
	return rules, &g, nil
}

func beside(dir, file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// secretOf reads a secret from where the file says; it's never in the file itself.
func secretOf(setting, dir, name, file string, env func(string) (string, bool)) (string, error) {
	switch {
	case name != "" && file != "":
		return "", fmt.Errorf("%s_env and %s_file can't be combined", setting, setting)
	case name != "":
		v, ok := env(name)
		if !ok || strings.TrimSpace(v) == "" {
			return "", fmt.Errorf("environment variable %s isn't set", name)
		}
		return strings.TrimSpace(v), nil
	case file != "":
		b, err := os.ReadFile(beside(dir, file))
		if err != nil {
			return "", err
		}
		if s := strings.TrimSpace(string(b)); s != "" {
			return s, nil
		}
		return "", fmt.Errorf("%s is empty", file)
	}
	return "", nil
}

// rootsOf reads the CAs of a file.
func rootsOf(file string) (*x509.CertPool, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("%s doesn't contain a certificate", file)
	}
	return roots, nil
}

// trusting returns a client that trusts the CAs of a file.
func trusting(file string) (*http.Client, error) {
	roots, err := rootsOf(file)
	if err != nil {
		return nil, err
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	t.IdleConnTimeout = 30 * time.Second
	return &http.Client{Transport: t}, nil
}

// open opens the identity providers and directories for a portal at an address.
func (c SignInConfig) open(at string) (all []site.IdentityProvider, directories []identity.Directory, err error) {
	for _, p := range c.Providers {
		p.RedirectURL, p.HomeURL = at+"/signin/"+p.Name+"/callback", at+"/signin"
		o, err := oidc.New(p)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, o)
	}
	for _, l := range c.Directories {
		d, err := ldap.New(l)
		if err != nil {
			return nil, nil, err
		}
		directories = append(directories, d)
	}
	return all, directories, nil
}
