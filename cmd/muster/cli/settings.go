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

// ClientSettings hold the server's address and credentials. `muster serve` writes them to its data directory,
// so that a client of the same user on the same machine needs no settings of its own.
type ClientSettings = rest.Settings

// ClientFile is the name of the settings file in the data directory.
const ClientFile = "client.json"

// ReadClientSettings reads the settings from a data directory; the error is fs.ErrNotExist if no server has written any.
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

// WriteClientSettings writes the settings to a data directory, which must exist, readable by its owner only.
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
	flags.StringVar(&c.ProfileName, "profile", "", "`profile` to use (default $MUSTER_PROFILE, or the current profile)")
	flags.StringVar(&c.Server, "server", "", "server `URL` (default $MUSTER_URL, or the server on this host)")
	flags.StringVar(&c.Token, "token", "", "API `token` (default $MUSTER_TOKEN)")
	flags.StringVar(&c.CA, "ca-fingerprint", "", "CA `fingerprint` (sha256:…) of a server with --tls self (default $MUSTER_CA_FINGERPRINT)")
	flags.StringVar(&c.tenant, "tenant", "", "`tenant` to act in (superadmins only)")
}

// settings finds the server: flags first, then the environment, then the current profile, then a server's settings in the data directory.
// A profile named by --profile takes precedence over the environment, and a named data directory over the current profile.
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
		return s, &app.Error{Code: app.ENotFound, Message: "no server is configured",
			Hint: "Start one with `muster serve`, sign in to one with `muster login SERVER`, or set --server URL and\n" +
				"--token TOKEN (or MUSTER_URL and MUSTER_TOKEN). Looked for " + filepath.Join(dir, ClientFile) + "."}
	case errors.Is(err, fs.ErrNotExist):
		return s, nil // the server itself rejects a missing token
	case err != nil:
		return s, err
	case s.URL == "":
		return ClientSettings{URL: left.URL, Token: cmp.Or(s.Token, left.Token), CA: cmp.Or(s.CA, left.CA)}, nil
	case left.URL == s.URL:
		// The token on file is sent to that server only.
		s.Token, s.CA = left.Token, cmp.Or(s.CA, left.CA)
	}
	return s, nil
}

// DataDir is the data directory of a server on this host.
func (c *Context) DataDir() (string, error) {
	if dir := cmp.Or(c.Data, os.Getenv("MUSTER_DATA")); dir != "" {
		return dir, nil
	}
	return userDir("XDG_DATA_HOME", ".local/share")
}

// ConfigDir is the client's own directory: profiles, keys and known hosts.
func ConfigDir() (string, error) {
	if dir := os.Getenv("MUSTER_HOME"); dir != "" {
		return dir, nil
	}
	return userDir("XDG_CONFIG_HOME", ".config")
}

// userDir returns muster's directory below one of the user's base directories.
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
