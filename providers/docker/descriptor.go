package docker

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
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
	Name:    "docker",
	Tested:  "A simulated Engine API and a real Docker 20.10.",
	Sleeps:  true,
	Bakes:   true,
	Volumes: true, VolumesAtCreation: true,
	Host:        true,
	Description: "Containers on a Docker Engine, used as machines. They share their host's kernel: fine for trials and builds, but no protection against hostile code.",
	Fields: []family.Field{
		{Name: "host", SetBy: family.SetByInstallation, Label: "Engine", Type: family.FieldText, Default: "unix:///var/run/docker.sock",
			Help: "Address of the engine: unix:///path or tcp://host:2376. Access to it is equivalent to root on its host."},
		{Name: "ca", SetBy: family.SetByTenant, Reaches: true, Label: "CA certificate", Type: family.FieldLines, Help: "The CA that signed the engine's certificate, in PEM format. Enables TLS for tcp."},
		{Name: "cert", SetBy: family.SetByTenant, Label: "Client certificate", Type: family.FieldLines, Help: "Muster's certificate for the engine, in PEM format."},
		{Name: "key", SetBy: family.SetByTenant, Label: "Client key", Type: family.FieldLines, Secret: true, Help: "The private key of Muster's certificate, in PEM format."},
		{Name: "network", SetBy: family.SetByTenant, Label: "Network", Type: family.FieldText, Default: "bridge",
			Help: "The engine's network for containers. Muster must reach its addresses, unless ports are published."},
		{Name: "publish", SetBy: family.SetByTenant, Label: "Publish SSH on", Type: family.FieldText,
			Help: "An address of the engine's host on which each container's SSH port is published, for engines on another host."},
		{Name: "sshd", SetBy: family.SetByTenant, Label: "SSH server", Type: family.FieldText, Default: "/usr/sbin/sshd", Help: "Path of OpenSSH's server in images."},
		{Name: "pull", SetBy: family.SetByTenant, Label: "Pull images", Type: family.FieldChoice, Default: never, Options: []string{never, missing}, Runs: true,
			Help: "Whether to pull images that the engine doesn't have. Their content runs as root in containers."},
		{Name: "registry", SetBy: family.SetByTenant, Reaches: true, Label: "Registry", Type: family.FieldText, Help: "The registry for the user and password, such as registry.example.org:5000, or docker.io."},
		{Name: "registry_user", SetBy: family.SetByTenant, Label: "Registry user", Type: family.FieldText},
		{Name: "registry_password", SetBy: family.SetByTenant, Label: "Registry password", Type: family.FieldText, Secret: true, Help: "A password, or a token that can pull."},
		{Name: "build", SetBy: family.SetByTenant, Label: "Build images", Type: family.FieldChoice, Default: never, Options: []string{never, missing},
			Help: "Whether to build images that have a dockerfile and aren't on the engine yet."},
		{Name: "build_gb", SetBy: family.SetByTenant, Label: "Largest built image (GB)", Type: family.FieldInt, Default: "10", Help: "Built images larger than this are rejected."},
	},
	ImageFields: []family.Field{
		{Name: "sshd", SetBy: family.SetByTenant, Label: "SSH server", Type: family.FieldText, Help: "Path of OpenSSH's server in this image."},
		{Name: dockerfile, SetBy: family.SetByTenant, Label: "Dockerfile", Type: family.FieldLines, Runs: true, Help: "The text of a Dockerfile that builds the image, without other files. Set the image's name to built."},
	},
}

type settings struct {
	host, network, sshd string
	pull, build         string
	registry, user      string
	password            string
	maxGB               int
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
		e := account.Invalid("host", "%q isn't a valid engine address", o.host)
		e.Hint = "Use unix:///var/run/docker.sock, or tcp://host:2376 with ca, cert and key."
		return o, e
	}
	if !networkForm.MatchString(o.network) || o.network == "host" || o.network == "none" {
		e := account.Invalid("network", "the network %q can't be used for machines", o.network)
		e.Hint = "Use bridge, or a network created with docker network create: each machine needs its own address."
		return o, e
	}
	if !path.IsAbs(o.sshd) {
		return o, account.Invalid("sshd", "%q isn't an absolute path", o.sshd)
	}
	if text := s.Text("publish"); text != "" {
		if o.publish, err = netip.ParseAddr(text); err != nil {
			return o, account.Invalid("publish", "%q isn't a valid address", text)
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
			return account.Invalid(f[0], "%q must be never or missing", f[1])
		}
	}
	if o.maxGB, err = s.Int("build_gb", 10, 1, maxBuiltsGB); err != nil {
		return err
	}
	o.registry, o.user, o.password = s.Text("registry"), s.Text("registry_user"), s.Text("registry_password")
	switch {
	case o.registry+o.user+o.password == "":
		return nil
	case o.registry == "" || strings.ContainsAny(o.registry, "/@ ") || !strings.ContainsAny(o.registry, ".:") && o.registry != "localhost":
		e := account.Invalid("registry", "%q isn't a valid registry", o.registry)
		e.Hint = "Use the form in image names, such as registry.example.org:5000, or docker.io."
		return e
	case o.user == "" || o.password == "":
		return account.Invalid("registry_user", "a registry requires both a user and a password")
	}
	return nil
}

// readTLS returns nil where none is spoken. No part of a key is in a message.
func readTLS(s account.Settings, scheme string) (*tls.Config, error) {
	ca, cert, key := s.Text("ca"), s.Text("cert"), s.Text("key")
	switch {
	case ca+cert+key == "":
		return nil, nil
	case scheme != "tcp":
		return nil, account.Invalid("host", "certificates require an engine at tcp://host:2376")
	case ca == "":
		return nil, account.Invalid("ca", "the engine's CA certificate is required")
	}
	c := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	if !c.RootCAs.AppendCertsFromPEM([]byte(ca)) {
		return nil, account.Invalid("ca", "it isn't a certificate in PEM format")
	}
	if cert+key != "" {
		if block, _ := pem.Decode([]byte(cert)); block == nil {
			return nil, account.Invalid("cert", "the client certificate isn't in PEM format")
		}
		pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
		if err != nil { // of key, which often is a secret: then it isn't known when the catalog is read
			return nil, account.Invalid("key", "the client certificate and key don't match, or the key isn't in PEM format")
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
