package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"muster/app/file/catalog"
	"muster/app/file/catalog/form"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/database"
	"muster/cmd/muster/families"
	"muster/cmd/muster/server"
)

// Free disk space for a warning and for a failure.
const (
	littleRoom = 2 << 30
	noRoom     = 200 << 20
)

// manyFiles is how many files and connections a server for a few hundred nodes has open.
const manyFiles = 4096

// certWarning is how long before its expiry a certificate should be renewed.
const certWarning = 21 * server.Day

func joined(dir, name string) string { return filepath.Join(dir, name) }

// catalog reads the catalog as a server does.
func (d *Doctor) catalog(context.Context) []checked {
	if len(d.Config.Catalogs) == 0 {
		return nil // settings reports that
	}
	warnings := 0
	o := families.CatalogOptions(d.Config.Env)
	o.Warn = func(form.Problem) { warnings++ }
	o.HostAccess = d.Config.HostAccess
	c, err := catalog.NewReader(o, families.All()).Load(d.Config.Catalogs...)
	if err != nil {
		_, _, hint := cli.Judge(err)
		return broken(cmp.Or(hint, "See docs/catalog.md."), "%s", cli.MessageOf(err))
	}
	d.loaded = c
	words := fmt.Sprintf("%s, %s, %s.", humanize.Count(len(c.Templates), "template"), humanize.Count(len(c.Services), "service"), humanize.Count(len(c.Providers), "provider"))
	if warnings > 0 {
		return warned("To list them, run `muster catalog lint`.", "%s It has %s.", words, humanize.Count(warnings, "warning"))
	}
	return fine("%s", words)
}

// data checks the data directory.
func (d *Doctor) data(context.Context) (all []checked) {
	dir := d.Config.Data
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fine("%s will be created when a server starts.", dir)
	}
	if err != nil {
		return failedBy(err)
	}
	if !info.IsDir() {
		return broken("Choose another one with --data.", "%s isn't a directory.", dir)
	}
	if owner, other := othersOwn(info); other {
		return broken("Run the doctor as that user: runuser -u "+owner+" -- muster doctor, with the server's settings in the environment.",
			"%s belongs to %s, but you're root, so permissions can't be checked.", dir, owner)
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return broken("Make the server's user its owner: chown -R muster "+dir, "%s isn't writable: %v.", dir, err)
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	if info.Mode().Perm()&0o077 != 0 {
		all = append(all, warned("chmod 700 "+dir, "Other users on this host can access %s (mode %04o).", dir, info.Mode().Perm())...)
		for _, name := range []string{database.KeyFile, database.DatabaseFile, cli.ClientFile} { // in a protected directory their own modes don't matter
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().Perm()&0o077 != 0 {
				all = append(all, warned("chmod 600 "+filepath.Join(dir, name), "Other users on this host can read %s (mode %04o).", filepath.Join(dir, name), info.Mode().Perm())...)
			}
		}
	}
	switch free, total, err := room(dir); {
	case err != nil:
		all = append(all, warned("", "Can't get the free space of %s: %v.", dir, err)...)
	case free < noRoom:
		all = append(all, broken("Free up space: see \"The disk is full\" in docs/runbooks.md.", "%s has %s of %s free.", dir, humanize.Bytes(free), humanize.Bytes(total))...)
	case free < littleRoom:
		all = append(all, warned("Free up space before the disk is full: see \"The disk is full\" in docs/runbooks.md.", "%s has %s of %s free.", dir, humanize.Bytes(free), humanize.Bytes(total))...)
	default:
		all = append(all, fine("%s is writable and has %s of %s free.", dir, humanize.Bytes(free), humanize.Bytes(total))...)
	}
	return all
}

// limits checks the limit on open files.
func (d *Doctor) limits(context.Context) []checked {
	n, err := openFiles()
	switch {
	case err != nil:
		return warned("", "Can't get the limit on open files: %v.", err)
	case n < manyFiles:
		return warned("Raise it: LimitNOFILE=65536 in a systemd unit, `ulimit -n` in a shell.", "The limit on open files and connections is %d. Every node being worked on needs one.", n)
	}
	return fine("The limit on open files and connections is %d.", n)
}

// tls checks the certificate.
func (d *Doctor) tls(context.Context) []checked {
	c := d.Config.TLS
	switch {
	case c.Self:
		c.Cert, c.Key = filepath.Join(d.Config.Data, "tls", "cert.pem"), filepath.Join(d.Config.Data, "tls", "cert.key")
		if _, err := os.Stat(c.Cert); errors.Is(err, fs.ErrNotExist) {
			return fine("A CA and a certificate will be created when a server starts.")
		}
	case c.Cert == "":
		return nil // address reports that
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return broken("Set --tls-cert to the certificate with its chain and --tls-key to its key, both PEM.", "The certificate can't be used: %v.", err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return failedBy(err)
	}
	if u, err := url.Parse(d.Config.SignIn.URL); err == nil && u.Host != "" && leaf.VerifyHostname(u.Hostname()) != nil && !c.Self {
		return broken("Get a certificate for that name, or change --public-url.", "The certificate is for %s, but the portal's address is %s.", strings.Join(leaf.DNSNames, ", "), u.Hostname())
	}
	return d.certificate(leaf)
}

// certificate checks a certificate's validity.
func (d *Doctor) certificate(leaf *x509.Certificate) []checked {
	left := leaf.NotAfter.Sub(d.now())
	switch {
	case d.now().Before(leaf.NotBefore):
		return broken("Check this host's clock.", "The certificate isn't valid before %s.", cli.Time(leaf.NotBefore))
	case left <= 0:
		return broken("Renew it; the server reloads it when its file changes.", "The certificate expired %s.", cli.Time(leaf.NotAfter))
	case left < certWarning:
		return warned("Renew it; the server reloads it when its file changes.", "The certificate expires in %s.", humanize.Duration(left))
	}
	return fine("The certificate expires in %s.", humanize.Duration(left))
}

// address checks the addresses of the server.
func (d *Doctor) address(context.Context) (all []checked) {
	host, _, err := net.SplitHostPort(d.Config.Listen)
	if err != nil {
		return broken("Examples: :8420, 127.0.0.1:8420.", "--listen %s isn't a valid address.", d.Config.Listen)
	}
	if d.Config.PlainHTTP() {
		all = warned(server.PlainAdvice, "The server listens on %s without TLS: %s", d.Config.Listen, server.PlainRisk)
	}
	return append(all, d.public(host)...)
}

// public checks the address that people use.
func (d *Doctor) public(host string) []checked {
	public := d.Config.SignIn.URL
	u, _ := url.Parse(public) // already checked
	behind := u != nil && u.Scheme == "https"
	switch {
	case public == "" && !server.Loopback(host):
		return warned("Set --public-url, so that links in chats, emails and builds work.", "The portal's address isn't configured.")
	case public != "" && !behind && !server.Loopback(u.Hostname()):
		return warned("Serve over HTTPS: set --tls-cert and --tls-key, or use a proxy (docs/install.md).", "The portal at %s doesn't use HTTPS: others on the network can read passwords.", public)
	case behind && !d.Config.TLS.On() && len(d.Config.SignIn.Proxies) == 0:
		return warned("Set --trusted-proxies to the proxy's address; otherwise all users share one sign-in limit.", "The server is behind a proxy, but doesn't trust it to report client addresses.")
	case public == "":
		return fine("The server listens on %s, reachable from this host only.", d.Config.Listen)
	}
	return fine("The portal's address is %s.", public)
}
