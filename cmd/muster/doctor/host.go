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
	"time"

	"muster/app/file/catalog"
	"muster/app/file/catalog/form"
	"muster/app/humanize"
	"muster/cmd/muster/cli"
	"muster/cmd/muster/database"
	"muster/cmd/muster/families"
	"muster/cmd/muster/server"
)

// What is left on a disk before it is time to look, and before nothing more can be written.
const (
	littleRoom = 2 << 30
	noRoom     = 200 << 20
)

// manyFiles is how many files and connections a server with a few hundred nodes has open.
const manyFiles = 4096

// certWarning is how long before its end a certificate is to be renewed.
const certWarning = 21 * server.Day

func joined(dir, name string) string { return filepath.Join(dir, name) }

// catalog reads the catalog as a server would.
func (d *Doctor) catalog(context.Context) []checked {
	if len(d.Config.Catalogs) == 0 {
		return nil // the settings say so
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
		return warned("`muster catalog lint` shows them.", "%s It has %s.", words, humanize.Count(warnings, "warning"))
	}
	return fine("%s", words)
}

// data looks at the data directory.
func (d *Doctor) data(context.Context) (all []checked) {
	dir := d.Config.Data
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return fine("%s is made when a server starts.", dir)
	}
	if err != nil {
		return failedBy(err)
	}
	if !info.IsDir() {
		return broken("Name another with --data.", "%s is no directory.", dir)
	}
	if owner, other := othersOwn(info); other {
		return broken("Look as that user: runuser -u "+owner+" -- muster doctor, with the server's settings in the environment.",
			"%s belongs to %s, and this is root: what root may do says little about the server.", dir, owner)
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return broken("Let the server's user own it: chown -R muster "+dir, "%s cannot be written to: %v.", dir, err)
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	if info.Mode().Perm()&0o077 != 0 {
		all = append(all, warned("chmod 700 "+dir, "Others on this host can look into %s (mode %04o).", dir, info.Mode().Perm())...)
		for _, name := range []string{database.KeyFile, database.DatabaseFile, cli.ClientFile} { // in a directory that is closed their own modes count for nothing
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().Perm()&0o077 != 0 {
				all = append(all, warned("chmod 600 "+filepath.Join(dir, name), "Others on this host can read %s (mode %04o).", filepath.Join(dir, name), info.Mode().Perm())...)
			}
		}
	}
	switch free, total, err := room(dir); {
	case err != nil:
		all = append(all, warned("", "How much room is left in %s cannot be told: %v.", dir, err)...)
	case free < noRoom:
		all = append(all, broken("Make room: see \"The disk is full\" in docs/runbooks.md.", "%s has %s left of %s.", dir, humanize.Bytes(free), humanize.Bytes(total))...)
	case free < littleRoom:
		all = append(all, warned("Make room before it is full: see \"The disk is full\" in docs/runbooks.md.", "%s has %s left of %s.", dir, humanize.Bytes(free), humanize.Bytes(total))...)
	default:
		all = append(all, fine("%s can be written to, and has %s left of %s.", dir, humanize.Bytes(free), humanize.Bytes(total))...)
	}
	return all
}

// limits looks at how many files the process may open.
func (d *Doctor) limits(context.Context) []checked {
	n, err := openFiles()
	switch {
	case err != nil:
		return warned("", "How many files may be open cannot be told: %v.", err)
	case n < manyFiles:
		return warned("Raise it: LimitNOFILE=65536 in a systemd unit, `ulimit -n` in a shell.", "A process may have %d files and connections open. Every node that is worked on takes one.", n)
	}
	return fine("%d files and connections may be open.", n)
}

// tls looks at the certificate.
func (d *Doctor) tls(context.Context) []checked {
	c := d.Config.TLS
	switch {
	case c.Self:
		c.Cert, c.Key = filepath.Join(d.Config.Data, "tls", "cert.pem"), filepath.Join(d.Config.Data, "tls", "cert.key")
		if _, err := os.Stat(c.Cert); errors.Is(err, fs.ErrNotExist) {
			return fine("A CA and a certificate are made when a server starts.")
		}
	case c.Cert == "":
		return nil // address says what that means
	}
	pair, err := tls.LoadX509KeyPair(c.Cert, c.Key)
	if err != nil {
		return broken("--tls-cert names the certificate with its chain, --tls-key its key, both PEM.", "The certificate cannot be used: %v.", err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return failedBy(err)
	}
	if u, err := url.Parse(d.Config.SignIn.URL); err == nil && u.Host != "" && leaf.VerifyHostname(u.Hostname()) != nil && !c.Self {
		return broken("Get a certificate for that name, or change --public-url.", "The certificate is for %s, and people come to %s.", strings.Join(leaf.DNSNames, ", "), u.Hostname())
	}
	return d.certificate(leaf)
}

// certificate tells for how long one is valid.
func (d *Doctor) certificate(leaf *x509.Certificate) []checked {
	left := leaf.NotAfter.Sub(d.now())
	switch {
	case d.now().Before(leaf.NotBefore):
		return broken("Is this host's clock right?", "The certificate is not valid before %s.", leaf.NotBefore.UTC().Format(time.DateTime))
	case left <= 0:
		return broken("Renew it; a server reads it again when its file changes.", "The certificate ended %s.", leaf.NotAfter.UTC().Format(time.DateTime))
	case left < certWarning:
		return warned("Renew it; a server reads it again when its file changes.", "The certificate ends in %s.", humanize.Duration(left))
	}
	return fine("The certificate is valid for %s more.", humanize.Duration(left))
}

// address looks at where people and programs reach a server.
func (d *Doctor) address(context.Context) (all []checked) {
	host, _, err := net.SplitHostPort(d.Config.Listen)
	if err != nil {
		return broken("It looks like :8420 or 127.0.0.1:8420.", "--listen %s is no address.", d.Config.Listen)
	}
	if d.Config.PlainHTTP() {
		all = warned(server.PlainAdvice, "The server listens on %s without TLS: %s", d.Config.Listen, server.PlainRisk)
	}
	return append(all, d.public(host)...)
}

// public looks at the address that people are told.
func (d *Doctor) public(host string) []checked {
	public := d.Config.SignIn.URL
	u, _ := url.Parse(public) // it was checked
	behind := u != nil && u.Scheme == "https"
	switch {
	case public == "" && !server.Loopback(host):
		return warned("Name it with --public-url, so that links in chats, mails and builds lead there.", "Where people reach the portal is not said.")
	case public != "" && !behind && !server.Loopback(u.Hostname()):
		return warned("Serve over https: --tls-cert and --tls-key, or a proxy before it (docs/install.md).", "People reach the portal at %s, and whoever listens learns their passwords.", public)
	case behind && !d.Config.TLS.On() && len(d.Config.SignIn.Proxies) == 0:
		return warned("Name the proxy's address with --trusted-proxies; else limits on sign-ins count everybody as one.", "There is a proxy before the server, and it is not believed whom it asks for.")
	case public == "":
		return fine("The server listens on %s, for this host only.", d.Config.Listen)
	}
	return fine("People reach the portal at %s.", public)
}
