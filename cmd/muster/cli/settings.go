package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"muster/app"
	rest "muster/portal/client"
)

// ClientSettings say where the server is and how to prove who asks. `muster serve` leaves them in its data directory,
// so that a client of the same user on the same machine needs no settings of its own.
type ClientSettings = rest.Settings

// ClientFile is the name of the settings file in the data directory.
const ClientFile = "client.json"

// ReadClientSettings reads the settings from a data directory; the error is fs.ErrNotExist where no server has left
// any.
func ReadClientSettings(dir string) (ClientSettings, error) {
	b, err := os.ReadFile(filepath.Join(dir, ClientFile))
	if err != nil {
		return ClientSettings{}, err
	}
	var s ClientSettings
	if err := json.Unmarshal(b, &s); err != nil {
		return ClientSettings{}, fmt.Errorf("%s: %w", filepath.Join(dir, ClientFile), err)
	}
	return s, nil
}

// WriteClientSettings leaves the settings in a data directory, which must exist, readable by its owner only.
func WriteClientSettings(dir string, s ClientSettings) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return WritePrivate(filepath.Join(dir, ClientFile), append(b, '\n'))
}

// WritePrivate replaces a file as a whole, with mode 0600. What it returned from is on disk: the database's key must not
// be lost in a power cut that the database survives.
func WritePrivate(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".muster-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // no effect once it was renamed
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ServerFlags declares the flags that name a server.
func (c *Context) ServerFlags(flags *pflag.FlagSet) {
	flags.StringVar(&c.ProfileName, "profile", "", "`name` of the profile to use (default $MUSTER_PROFILE, or the one in use)")
	flags.StringVar(&c.Server, "server", "", "`URL` of the server (default $MUSTER_URL, or the one that runs here)")
	flags.StringVar(&c.Token, "token", "", "API `token` (default $MUSTER_TOKEN)")
	flags.StringVar(&c.CA, "ca-fingerprint", "", "`sha256:…` of the CA of a server with --tls self (default $MUSTER_CA_FINGERPRINT)")
	flags.StringVar(&c.tenant, "tenant", "", "act in this `tenant` (superadmins)")
}

// settings finds the server: flags first, then the environment, then the profile in use, then what a server has left in the data directory.
// A profile that --profile names counts before the environment, and a data directory that is named before a profile that is not.
func (c *Context) settings() (ClientSettings, error) {
	s := ClientSettings{URL: c.Server, Token: c.Token, CA: c.CA}
	if c.ProfileName == "" {
		s = ClientSettings{URL: cmp.Or(s.URL, os.Getenv("MUSTER_URL"), os.Getenv("MUSTER_SERVER")), Token: cmp.Or(s.Token, os.Getenv("MUSTER_TOKEN")),
			CA: cmp.Or(s.CA, os.Getenv("MUSTER_CA_FINGERPRINT"))}
	}
	if s.URL != "" && s.Token != "" {
		return s, nil
	}
	if c.ProfileName != "" || c.Data == "" && (os.Getenv("MUSTER_DATA") == "" || os.Getenv("MUSTER_PROFILE") != "") {
		name, p, err := c.Profile()
		if err != nil {
			return s, err
		}
		if name != "" && (s.URL == "" || strings.TrimSuffix(s.URL, "/") == strings.TrimSuffix(p.Server, "/")) {
			c.tenant = cmp.Or(c.tenant, p.Tenant)
			return ClientSettings{URL: p.Server, Token: cmp.Or(s.Token, p.Token), CA: cmp.Or(s.CA, p.CA)}, nil
		}
	}
	dir, err := c.DataDir()
	if err != nil {
		return s, err
	}
	left, err := ReadClientSettings(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.URL == "":
		return s, &app.Error{Code: app.ENotFound, Message: "no server is known",
			Hint: "Start one with `muster serve`, sign in to one with `muster login SERVER`, or name one with --server URL and\n" +
				"--token TOKEN (or MUSTER_URL and MUSTER_TOKEN). Looked for " + filepath.Join(dir, ClientFile) + "."}
	case errors.Is(err, fs.ErrNotExist):
		return s, nil // a server without a token: it will say so itself
	case err != nil:
		return s, err
	case s.URL == "":
		return ClientSettings{URL: left.URL, Token: cmp.Or(s.Token, left.Token), CA: cmp.Or(s.CA, left.CA)}, nil
	case left.URL == s.URL:
		// The token on file is for that server only; no other ever sees it.
		s.Token, s.CA = left.Token, cmp.Or(s.CA, left.CA)
	}
	return s, nil
}

// DataDir is where a server on this machine keeps its things.
func (c *Context) DataDir() (string, error) {
	if dir := cmp.Or(c.Data, os.Getenv("MUSTER_DATA")); dir != "" {
		return dir, nil
	}
	return userDir("XDG_DATA_HOME", ".local/share")
}

// ConfigDir is where the client keeps its own things: keys and known hosts.
func ConfigDir() (string, error) {
	if dir := os.Getenv("MUSTER_HOME"); dir != "" {
		return dir, nil
	}
	return userDir("XDG_CONFIG_HOME", ".config")
}

// userDir returns muster's directory under a base directory of the user.
func userDir(env, fallback string) (string, error) {
	if base := os.Getenv(env); filepath.IsAbs(base) {
		return filepath.Join(base, "muster"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory (set MUSTER_DATA and MUSTER_HOME): %w", err)
	}
	return filepath.Join(home, fallback, "muster"), nil
}
