package server

import (
	"errors"
	"fmt"
	"time"

	"muster/app"
	"muster/portal/ldap"
)

// directoryFile is an LDAP directory in the sign-in file.
type directoryFile struct {
	Name             string `yaml:"name"`
	Label            string `yaml:"label"`
	URL              string `yaml:"url"`
	StartTLS         *bool  `yaml:"start_tls"`
	CAFile           string `yaml:"ca_file"`
	BindDN           string `yaml:"bind_dn"`
	BindPasswordEnv  string `yaml:"bind_password_env"`
	BindPasswordFile string `yaml:"bind_password_file"`
	Base             string `yaml:"base"`
	Filter           string `yaml:"filter"`
	Attributes       struct {
		ID       string `yaml:"id"`
		Name     string `yaml:"name"`
		FullName string `yaml:"full_name"`
		Email    string `yaml:"email"`
		Groups   string `yaml:"groups"`
	} `yaml:"attributes"`
	Groups struct {
		Base   string `yaml:"base"`
		Filter string `yaml:"filter"`
		Name   string `yaml:"name"`
	} `yaml:"groups"`
	Rules   []string `yaml:"rules"`
	Default string   `yaml:"default"`
	Timeout string   `yaml:"timeout"`
}

// read returns the settings with the secret and the CA that they refer to. Paths are relative to dir.
func (f directoryFile) read(dir string, env func(string) (string, bool)) (c ldap.Config, err error) {
	c = ldap.Config{Name: f.Name, Label: f.Label, URL: f.URL, Plain: f.StartTLS != nil && !*f.StartTLS, BindDN: f.BindDN, Base: f.Base, Filter: f.Filter,
		IDAttribute: f.Attributes.ID, NameAttribute: f.Attributes.Name, FullNameAttribute: f.Attributes.FullName, EmailAttribute: f.Attributes.Email, GroupsAttribute: f.Attributes.Groups,
		Groups: ldap.GroupSearch{Base: f.Groups.Base, Filter: f.Groups.Filter, Name: f.Groups.Name}}
	if c.BindPassword, err = secretOf("bind_password", dir, f.BindPasswordEnv, f.BindPasswordFile, env); err != nil {
		return c, err
	}
	if f.CAFile != "" {
		if c.Roots, err = rootsOf(beside(dir, f.CAFile)); err != nil {
			return c, fmt.Errorf("ca_file: %w", err)
		}
	}
	if f.Timeout != "" {
		if c.Timeout, err = time.ParseDuration(f.Timeout); err != nil {
			return c, fmt.Errorf("timeout: %q isn't a duration such as 10s", f.Timeout)
		}
	}
	if c.Rules, c.Default, err = readRules(f.Rules, f.Default); err != nil {
		return c, err
	}
	if _, err := ldap.New(c); err != nil {
		return c, errors.New(app.AsError(err).Advised())
	}
	return c, nil
}
