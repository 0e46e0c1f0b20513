package cli

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
	rest "muster/portal/client"

	"go.yaml.in/yaml/v3"
)

// Profile is a server that this user has named.
type Profile struct {
	Server string `yaml:"server"`
	Token  string `yaml:"token,omitempty"`
	CA     string `yaml:"ca_fingerprint,omitempty"`
	Tenant string `yaml:"tenant,omitempty"` // tenant a superadmin acts in
}

// Profiles is the file of them.
type Profiles struct {
	Current  string              `yaml:"current,omitempty"` // the profile in use unless another is named
	Profiles map[string]*Profile `yaml:"profiles,omitempty"`
}

const (
	profileFile  = "config.yaml"
	profileLimit = 256 << 10 // bytes of the file
	maxProfiles  = 200
)

var ProfileName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

func profilePath() (string, error) {
	dir, err := ConfigDir()
	return filepath.Join(dir, profileFile), err
}

// ReadProfiles reads the file; a missing file has no profiles. A file that others can read is rejected, as ssh does, since it
// holds tokens.
func ReadProfiles() (all Profiles, path string, err error) {
	if path, err = profilePath(); err != nil {
		return all, path, err
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, path, nil
	}
	if err != nil {
		return all, path, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return all, path, err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return all, path, &app.Error{Code: app.EForbidden, Reason: "open_file", Message: fmt.Sprintf("%s has mode %04o: others can read or change its tokens", path, mode),
			Hint: "Restrict its permissions: chmod 600 " + humanize.ShellQuote(path)}
	}
	b, err := io.ReadAll(io.LimitReader(f, profileLimit+1))
	if err != nil {
		return all, path, err
	}
	all, err = parseProfiles(path, b)
	return all, path, err
}

// yamlPlace finds the line in the YAML library's message.
var yamlPlace = regexp.MustCompile(`(?:yaml: )?line (\d+): `)

// yamlValue is the YAML library's message about a value, which it repeats.
var yamlValue = regexp.MustCompile("cannot unmarshal !!(\\w+) `[^`]*` into")

// parseProfiles parses the file; errors start with the position. They don't repeat the file's text, which may be a token.
func parseProfiles(path string, b []byte) (all Profiles, err error) {
	if len(b) > profileLimit {
		return all, app.Errorf(app.ETooLarge, "%s is longer than %d KiB", path, profileLimit>>10)
	}
	d := yaml.NewDecoder(bytes.NewReader(b))
	d.KnownFields(true)
	err = d.Decode(&all)
	var wrong *yaml.TypeError
	switch {
	case errors.Is(err, io.EOF):
		return Profiles{}, nil
	case errors.As(err, &wrong) && len(wrong.Errors) > 0:
		return Profiles{}, badProfiles(path, wrong.Errors[0])
	case err != nil:
		return Profiles{}, badProfiles(path, err.Error())
	}
	if len(all.Profiles) > maxProfiles {
		return Profiles{}, app.Errorf(app.EInvalid, "%s has %d profiles; at most %d are allowed", path, len(all.Profiles), maxProfiles)
	}
	for _, name := range slices.Sorted(maps.Keys(all.Profiles)) {
		p := all.Profiles[name]
		if p == nil {
			return Profiles{}, app.Errorf(app.EInvalid, "%s: profile %q is empty", path, name)
		}
		if _, err := rest.New(rest.Settings{URL: p.Server, CA: p.CA}); err != nil {
			return Profiles{}, app.Errorf(app.EInvalid, "%s: profile %q: %w", path, name, err)
		}
	}
	if all.Current != "" && all.Profiles[all.Current] == nil {
		return Profiles{}, app.Errorf(app.EInvalid, "%s: current is %q, but that profile doesn't exist", path, all.Current)
	}
	return all, nil
}

// quotedWords are values repeated by the YAML library.
var quotedWords = regexp.MustCompile("`[^`]*`")

func badProfiles(path, said string) error {
	place := path
	if at := yamlPlace.FindStringSubmatch(said); at != nil {
		place += ":" + at[1]
		said = strings.Replace(said, at[0], "", 1)
	}
	said = yamlValue.ReplaceAllString(said, "cannot unmarshal !!$1 into") // without the value
	said = quotedWords.ReplaceAllString(humanize.PlainText(said), "this value")
	return &app.Error{Code: app.EInvalid, Reason: "profiles", Message: place + ": " + said,
		Hint: "The file has the fields current and profiles; each profile has server, token, ca_fingerprint and tenant."}
}

// ChangeProfiles reads the file, applies change, and replaces the file as a whole.
func ChangeProfiles(change func(*Profiles) error) error {
	all, path, err := ReadProfiles()
	if err != nil {
		return err
	}
	if err := change(&all); err != nil {
		return err
	}
	if len(all.Profiles) > maxProfiles {
		return app.Errorf(app.EInvalid, "you already have %d profiles; remove one first", maxProfiles)
	}
	b, err := yaml.Marshal(all)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return WritePrivate(path, b)
}

// Set saves a profile under a name. The first one becomes the profile in use.
func (all *Profiles) Set(name string, p Profile) error {
	if !ProfileName.MatchString(name) {
		return Usagef("%q isn't a valid profile name", name).Hint("Use up to 63 lowercase letters, digits, dots, underscores and dashes, starting with a letter or digit.")
	}
	if all.Profiles == nil {
		all.Profiles = map[string]*Profile{}
	}
	all.Profiles[name] = &p
	if all.Current == "" {
		all.Current = name
	}
	return nil
}

// Get returns a profile, or ENotFound with the existing names.
func (all *Profiles) Get(name string) (Profile, error) {
	if p := all.Profiles[name]; p != nil {
		return *p, nil
	}
	hint := "Create one: muster login SERVER"
	if len(all.Profiles) > 0 {
		hint = "Profiles: " + strings.Join(slices.Sorted(maps.Keys(all.Profiles)), ", ")
	}
	return Profile{}, &app.Error{Code: app.ENotFound, Message: fmt.Sprintf("profile %q doesn't exist", name), Hint: hint}
}

// Profile returns the profile in use and its name, "" for none: the one that --profile or MUSTER_PROFILE names, or else the
// current one.
func (c *Context) Profile() (name string, p Profile, err error) {
	all, _, err := ReadProfiles()
	if err != nil {
		return "", p, err
	}
	if name = cmp.Or(c.ProfileName, os.Getenv("MUSTER_PROFILE"), all.Current); name == "" {
		return "", p, nil
	}
	p, err = all.Get(name)
	return name, p, err
}
