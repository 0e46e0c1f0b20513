package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/cloudurl"
	"muster/app/family"
)

// backend is where contents are kept by name. Its errors wrap errAbsent or errRefused where the other side says so.
type backend interface {
	// open reads a content from an offset on.
	open(ctx context.Context, name string, from int64) (io.ReadCloser, error)
	// size is how many bytes there are under a name; -1 if there is nothing.
	size(ctx context.Context, name string) (int64, error)
	// write makes a content visible under its name when all of it has arrived, and leaves what was there until then.
	write(ctx context.Context, name string, content *io.SectionReader) error
	remove(ctx context.Context, name string) error
	// list calls each for the contents whose names begin with a prefix.
	list(ctx context.Context, prefix string, each func(name string, at time.Time) error) error
	close() error
}

type opener func(ctx context.Context, u *url.URL) (backend, error)

var (
	// backends are in every build. Those in largeBackends need large SDKs, which a small build does without.
	backends = map[string]opener{"file": openFile, "gs": openGS, "mem": openMem}

	openers = merged(backends, largeBackends)
)

// Schemes are those of the places that this build has, sorted.
var Schemes = slices.Sorted(maps.Keys(openers))

func merged(all ...map[string]opener) map[string]opener {
	one := map[string]opener{}
	for _, m := range all {
		maps.Copy(one, m)
	}
	return one
}

const setting = "MUSTER_BLOB_URL"

// openBackend opens the place that a URL names.
func openBackend(ctx context.Context, where string) (backend, string, error) {
	u, err := url.Parse(where)
	if err == nil && slices.Contains(LeftOut, u.Scheme) {
		return nil, "", &app.Error{Code: app.EInvalid, Field: setting, Message: "This small build of Muster has no support for " + u.Scheme + "://.",
			Hint: family.FullBuildHint}
	}
	if err != nil || openers[u.Scheme] == nil {
		return nil, "", &app.Error{Code: app.EInvalid, Field: setting, Message: "Invalid blob store URL.",
			Hint: "Use a URL that starts with " + strings.Join(Schemes, "://, ") + "://, or leave it out to keep resources in the data directory."}
	}
	name := u.Scheme + "://" + u.Host + u.Path
	p, err := openers[u.Scheme](ctx, u)
	if known := (*app.Error)(nil); errors.As(err, &known) {
		known.Field = setting
	}
	return p, name, err
}

// hostOnly checks a URL whose host is a bucket and that has nothing else but parameters.
func hostOnly(u *url.URL, what string) error {
	if u.Host == "" || strings.Trim(u.Path, "/") != "" {
		e := cloudurl.Invalid("A %s:// URL must name a %s without a path.", u.Scheme, what)
		e.Hint = "Use " + u.Scheme + "://NAME. Content is always stored at the top level."
		return e
	}
	return nil
}

var (
	errAbsent  = errors.New("not found")
	errRefused = errors.New("access denied")
)

// ofStatus translates an HTTP status.
func ofStatus(status int, err error) error {
	switch status {
	case http.StatusNotFound:
		return fmt.Errorf("%w: %w", errAbsent, err)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%w: %w", errRefused, err)
	}
	return err
}

// names are those of contents and of what Probe writes. They need no escaping in any place, and lead nowhere but below it.
var names = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)

// isName tells names of contents from other files of a place: half-written ones, attributes that earlier versions of Muster wrote beside
// contents, and whatever else is in a bucket.
func isName(name string) bool {
	return len(name) <= 500 && names.MatchString(name) && !strings.Contains(name, "__0x") &&
		!strings.HasSuffix(name, temporary) && !strings.HasSuffix(name, attributes)
}

func checkName(name string) error {
	if !isName(name) {
		return &app.Error{Code: app.EInvalid, Message: fmt.Sprintf("Invalid content name %q.", name)}
	}
	return nil
}
