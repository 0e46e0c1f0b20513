package program

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"muster/app"
)

// What the names of programs begin with; the rest is a type of provider, or an automator.
const (
	ProviderPrefix  = "muster-provider-"
	AutomatorPrefix = "muster-automator-"
)

// namePattern is the form of what follows the prefix in a program's name: the type that it is.
const namePattern = `^[a-z][a-z0-9-]{0,31}$`

var nameForm = regexp.MustCompile(namePattern)

// Find returns the executable files of a directory whose names begin with a prefix, by what follows it, sorted. Files that are not executable are left
// alone: a README may
// lie there as well.
func Find(dir, prefix string) (names []string, paths map[string]string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, nil, err
	}
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, nil, err
	}
	paths = map[string]string{}
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if info, err := os.Stat(path); err == nil && (info.IsDir() || info.Mode()&0o111 == 0) {
			continue
		}
		names = append(names, name)
		paths[name] = path
	}
	return names, paths, nil
}

// Vet refuses a program that someone else could have written, or could exchange: it would run with all that Muster may do. It is to be looked at again before
// each start. It also refuses what a pin does. Errors are EInvalid, or EForbidden with the reason "untrusted", ReasonRemoved or ReasonChanged.
func Vet(path, prefix string) error {
	if err := Trust(path, prefix); err != nil {
		return err
	}
	return checkPin(path)
}

// Trust is Vet without the pins.
func Trust(path, prefix string) error {
	if name, ok := strings.CutPrefix(filepath.Base(path), prefix); !ok || !nameForm.MatchString(name) {
		return app.Errorf(app.EInvalid, "the file name must be %sNAME, where NAME has lowercase letters, digits and dashes", prefix)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return app.Errorf(app.EInvalid, "can't read the file: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return app.Errorf(app.EInvalid, "can't read the file: %w", err)
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return app.Errorf(app.EInvalid, "the file isn't executable")
	}
	for _, place := range []string{real, filepath.Dir(real), filepath.Dir(path)} {
		if err := trusted(place); err != nil {
			return err
		}
	}
	return nil
}

// Environ is all that a program sees of Muster's environment: a few variables that programs need, and those that the operator names.
func Environ(more []string) []string {
	var env []string
	for _, name := range append([]string{"PATH", "HOME", "LANG"}, more...) {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, fmt.Sprintf("%s=%s", name, v))
		}
	}
	return env
}
