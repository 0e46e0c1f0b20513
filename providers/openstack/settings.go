package openstack

import (
	"cmp"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"muster/app"
	"muster/providers/internal/account"
	stack "muster/providers/internal/openstack"
	"muster/providers/internal/userdata"
)

// authMethod is how the account gets in.
type authMethod struct {
	authURL                           string
	username, password                string
	userDomain                        string
	project, projectDomain            string
	credential, secret                string
	credentialName                    string
	region, endpoints                 string
	certificates                      string
	usernameIsID, projectIsID         bool
	userDomainIsID, projectDomainIsID bool
}

// authMethodOf reads the way in from the settings.
func authMethodOf(s account.Settings) (authMethod, error) {
	var w authMethod
	if text := s.Text("clouds_yaml"); text != "" {
		var err error
		if w, err = fromClouds(text, s.Text("cloud")); err != nil {
			return authMethod{}, err
		}
	} else if s.Text("cloud") != "" {
		return authMethod{}, account.Invalid("cloud", "cloud requires clouds_yaml")
	}
	w.authURL = s.Or("auth_url", w.authURL)
	w.password = s.Or("password", w.password)
	w.credential = s.Or("application_credential_id", w.credential)
	w.secret = s.Or("application_credential_secret", w.secret)
	w.region = s.Or("region", w.region)
	w.endpoints = cmp.Or(s.Text("interface"), w.endpoints, "public")
	w.certificates = s.Text("ca_certificate")
	for _, one := range []struct {
		name string
		text *string
		isID *bool
	}{{"username", &w.username, &w.usernameIsID}, {"project", &w.project, &w.projectIsID}, {"user_domain", &w.userDomain, &w.userDomainIsID}, {"project_domain", &w.projectDomain, &w.projectDomainIsID}} {
		if v := s.Text(one.name); v != "" {
			*one.text, *one.isID = v, hex.MatchString(v) || stack.IsID(v) || v == defaultDomain && strings.HasSuffix(one.name, "domain")
		}
	}
	if w.userDomain == "" {
		w.userDomain, w.userDomainIsID = defaultDomain, true
	}
	if w.projectDomain == "" {
		w.projectDomain, w.projectDomainIsID = w.userDomain, w.userDomainIsID
	}
	return w, w.check()
}

// hex is the form of Keystone's ids, but for that of the first domain.
var hex = regexp.MustCompile(`^[0-9a-f]{32}$`)

const defaultDomain = "default"

func (w authMethod) check() error {
	at, err := url.Parse(w.authURL)
	switch {
	case w.authURL == "":
		return hinted(account.Invalid("auth_url", "the identity service's address is required"), "Set auth_url, or a clouds_yaml that contains it.")
	case err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http":
		return hinted(account.Invalid("auth_url", "the identity service's address must be an http or https URL"), "For example, https://keystone.example.org:5000/v3.")
	case at.User != nil:
		return account.Invalid("auth_url", "the address must not contain a user or password")
	case w.credential != "" || w.credentialName != "":
		if w.secret == "" {
			return account.Invalid("application_credential_secret", "the application credential's secret is required")
		}
		if w.credential == "" && w.username == "" {
			return account.Invalid("username", "an application credential's name requires its user")
		}
		return nil
	case w.username == "":
		return hinted(account.Invalid("username", "credentials are required"), "Set application_credential_id and application_credential_secret, or username, password and project.")
	case w.password == "":
		return account.Invalid("password", "the password is required")
	case w.project == "":
		return account.Invalid("project", "the project is required")
	}
	return nil
}

func hinted(e *app.Error, hint string) *app.Error { e.Hint = hint; return e }

// machineOptions is what the settings ask for a machine, as flavor and image override it.
type machineOptions struct {
	networks []string
	floating string // "" for none
	groups   []string
	zone     string
	disks    stack.Disks
	drive    bool
	sshFrom  []netip.Prefix
	custom   string // user data
}

func machineOptionsOf(s account.Settings) (machineOptions, error) {
	w := machineOptions{networks: s.List("networks"), floating: s.Text("floating_network"), groups: s.List("security_groups"),
		zone:   s.Text("availability_zone"),
		custom: s.Text(userdata.Setting)}
	if err := userdata.CheckCustom(w.custom, userdata.LimitNova); err != nil {
		return w, err
	}
	if strings.EqualFold(w.floating, "none") {
		w.floating = ""
	}
	var err error
	if w.disks.BootGB, err = s.Int("boot_volume_gb", 0, 0, 65536); err != nil {
		return w, err
	}
	if w.disks.DataGB, err = s.Int("data_disk_gb", 0, 0, 65536); err != nil {
		return w, err
	}
	if w.disks.BootType = s.Text("boot_volume_type"); w.disks.BootType != "" && w.disks.BootGB == 0 {
		// A flavor's type is kept for the image or hardware that boots from a volume.
		w.disks.BootType = ""
	}
	if w.drive, err = s.Bool("config_drive", true); err != nil {
		return w, err
	}
	from := s.List("ssh_from")
	if len(from) == 0 {
		from = []string{"0.0.0.0/0", "::/0"}
	}
	for _, text := range from {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return w, hinted(account.Invalid("ssh_from", "%q isn't a CIDR range", text), "For example, 192.0.2.0/24, or 0.0.0.0/0 for any address.")
		}
		w.sshFrom = append(w.sshFrom, prefix.Masked())
	}
	return w, nil
}
