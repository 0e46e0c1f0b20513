package docker

import (
	"crypto/tls"
	"crypto/x509"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"muster/app/family"
	"muster/providers/internal/account"
)

// Descriptor says what settings an account in the catalog may have.
var Descriptor = family.Descriptor{
	Name:        "docker",
	Sleeps:      true,
	Host:        true,
	Description: "Containers on a Docker Engine, as machines. They share their host's kernel: fine for trials and builds, no wall against hostile code.",
	Fields: []family.Field{
		{Name: "host", SetBy: family.SetByInstallation, Label: "Engine", Type: family.FieldText, Default: "unix:///var/run/docker.sock",
			Help: "Where the engine listens: unix:///path or tcp://host:2376. Who may speak to it is root on its host."},
		{Name: "ca", SetBy: family.SetByTenant, Label: "CA certificate", Type: family.FieldLines, Help: "The certificate that the engine's own one is signed with, in PEM form. With it, tcp is spoken over TLS."},
		{Name: "cert", SetBy: family.SetByTenant, Label: "Client certificate", Type: family.FieldLines, Help: "Muster's own certificate for the engine, in PEM form."},
		{Name: "key", SetBy: family.SetByTenant, Label: "Client key", Type: family.FieldLines, Secret: true, Help: "The private key of Muster's certificate, in PEM form."},
		{Name: "network", SetBy: family.SetByTenant, Label: "Network", Type: family.FieldText, Default: "bridge",
			Help: "The engine's network that containers are on. Muster must reach its addresses, unless ports are published."},
		{Name: "publish", SetBy: family.SetByTenant, Label: "Publish SSH at", Type: family.FieldText,
			Help: "An address of the engine's host. With it, each container's SSH port is published there on a free port, for engines on another host."},
		{Name: "sshd", SetBy: family.SetByTenant, Label: "SSH server", Type: family.FieldText, Default: "/usr/sbin/sshd", Help: "Where images have OpenSSH's server."},
		{Name: "pull", SetBy: family.SetByTenant, Label: "Pull images", Type: family.FieldChoice, Default: never, Options: []string{never, missing}, Runs: true,
			Help: "Whether images that the engine does not have are pulled. What they hold runs as root in containers."},
		{Name: "registry", SetBy: family.SetByTenant, Label: "Registry", Type: family.FieldText, Help: "The registry that user and password are for, such as registry.example.org:5000; docker.io is Docker's own."},
		{Name: "registry_user", SetBy: family.SetByTenant, Label: "Registry's user", Type: family.FieldText},
		{Name: "registry_password", SetBy: family.SetByTenant, Label: "Registry's password", Type: family.FieldText, Secret: true, Help: "Or a token that may pull."},
		{Name: "build", SetBy: family.SetByTenant, Label: "Build images", Type: family.FieldChoice, Default: never, Options: []string{never, missing},
			Help: "Whether image types that have a dockerfile are built, where the engine does not have them."},
		{Name: "build_gb", SetBy: family.SetByTenant, Label: "Largest built image", Type: family.FieldInt, Default: "10", Help: "GB that an image which was built may have."},
	},
	ImageFields: []family.Field{
		{Name: "sshd", SetBy: family.SetByTenant, Label: "SSH server", Type: family.FieldText, Help: "Where this image has OpenSSH's server."},
		{Name: dockerfile, SetBy: family.SetByTenant, Label: "Dockerfile", Type: family.FieldLines, Runs: true, Help: "How the image is built: the text of a Dockerfile, with FROM. There are no files beside it. The image is then called built."},
	},
}

type settings struct {
	host, network, sshd string
	pull, build         string
	registry, user      string
	password            string
	mostGB              int
	publish             netip.Addr
	tls                 *tls.Config
}

var networkForm = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)

// Check validates settings beyond what the descriptor says; the error is EInvalid.
func Check(settings map[string]any) error {
	_, err := read(account.Settings(settings))
	return err
}

func read(s account.Settings) (settings, error) {
	o := settings{host: s.Or("host", "unix:///var/run/docker.sock"), network: s.Or("network", "bridge"), sshd: s.Or("sshd", "/usr/sbin/sshd")}
	u, err := url.Parse(o.host)
	if err != nil || u.User != nil || u.Scheme != "unix" && u.Scheme != "tcp" || u.Scheme == "tcp" && u.Port() == "" || u.Scheme == "unix" && !path.IsAbs(u.Path) {
		e := account.Invalid("host", "%q is not where an engine can listen", o.host)
		e.Hint = "Write unix:///var/run/docker.sock, or tcp://host:2376 with ca, cert and key."
		return o, e
	}
	if !networkForm.MatchString(o.network) || o.network == "host" || o.network == "none" {
		e := account.Invalid("network", "containers cannot be machines on the network %q", o.network)
		e.Hint = "Take bridge, or a network that docker network create has made: each machine needs an address of its own."
		return o, e
	}
	if !path.IsAbs(o.sshd) {
		return o, account.Invalid("sshd", "%q is not an absolute path", o.sshd)
	}
	if text := s.Text("publish"); text != "" {
		if o.publish, err = netip.ParseAddr(text); err != nil {
			return o, account.Invalid("publish", "%q is not an address", text)
		}
	}
	if o.tls, err = readTLS(s, u.Scheme); err != nil {
		return o, err
	}
	return o, o.readImages(s)
}

// readImages reads how images come to the engine that it does not have.
func (o *settings) readImages(s account.Settings) (err error) {
	o.pull, o.build = s.Or("pull", never), s.Or("build", never)
	for _, f := range [][2]string{{"pull", o.pull}, {"build", o.build}} {
		if f[1] != never && f[1] != missing {
			return account.Invalid(f[0], "%q is neither never nor missing", f[1])
		}
	}
	if o.mostGB, err = s.Int("build_gb", 10, 1, mostBuiltsGB); err != nil {
		return err
	}
	o.registry, o.user, o.password = s.Text("registry"), s.Text("registry_user"), s.Text("registry_password")
	switch {
	case o.registry+o.user+o.password == "":
		return nil
	case o.registry == "" || strings.ContainsAny(o.registry, "/@ ") || !strings.ContainsAny(o.registry, ".:") && o.registry != "localhost":
		e := account.Invalid("registry", "%q is not the name of a registry", o.registry)
		e.Hint = "Write it as images have it, such as registry.example.org:5000, or docker.io."
		return e
	case o.user == "" || o.password == "":
		return account.Invalid("registry_user", "a registry wants both a user and a password")
	}
	return nil
}

// readTLS returns nil where none is spoken. No part of a key stands in a message.
func readTLS(s account.Settings, scheme string) (*tls.Config, error) {
	ca, cert, key := s.Text("ca"), s.Text("cert"), s.Text("key")
	switch {
	case ca+cert+key == "":
		return nil, nil
	case scheme != "tcp":
		return nil, account.Invalid("host", "certificates are for engines at tcp://host:2376")
	case ca == "":
		return nil, account.Invalid("ca", "the engine's CA certificate is missing")
	}
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	if !c.RootCAs.AppendCertsFromPEM([]byte(ca)) {
		return nil, account.Invalid("ca", "this is not a certificate in PEM form")
	}
	if cert+key != "" {
		pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
		if err != nil {
			return nil, account.Invalid("cert", "the client certificate and its key do not fit together, or are not in PEM form")
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// size is what a flavor says: 2cpu-4gb, 0.5cpu-256mb, or unlimited.
type size struct {
	cpus  float64
	bytes int64
}

var flavorForm = regexp.MustCompile(`^([0-9]{1,4}(?:\.[0-9]{1,2})?)cpu-([0-9]{1,6})(mb|gb)$`)

// readFlavor returns a flavor's size; false where it has none of these forms.
func readFlavor(name string) (size, bool) {
	if name == "unlimited" {
		return size{}, true
	}
	m := flavorForm.FindStringSubmatch(strings.ToLower(name))
	if m == nil {
		return size{}, false
	}
	cpus, err := strconv.ParseFloat(m[1], 64)
	n, err2 := strconv.ParseInt(m[2], 10, 64)
	unit := int64(1 << 20)
	if m[3] == "gb" {
		unit = 1 << 30
	}
	return size{cpus, n * unit}, err == nil && err2 == nil && cpus > 0 && n > 0
}
