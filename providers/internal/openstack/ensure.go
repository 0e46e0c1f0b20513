package openstack

import (
	"context"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/image/v2/images"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

// metaKey is what Nova takes as a key of metadata.
var metaKey = regexp.MustCompile(`^[a-zA-Z0-9-_:. ]{1,255}$`)

// Keepable refuses names and tags that Nova could not keep as they are.
func Keepable(spec family.MachineSpec) error {
	if n := utf8.RuneCountInString(spec.Hostname); n == 0 || n > 255 {
		return app.Errorf(app.EInvalid, "a server's name must have 1 to 255 characters; %q has %d", spec.Hostname, n)
	}
	for k, v := range spec.Tags {
		if !metaKey.MatchString(k) || hidden(k) {
			return app.Errorf(app.EInvalid, "%q isn't a valid tag name: Nova allows up to 255 letters, digits, hyphens, underscores, colons, dots and spaces, and reserves some names", k)
		}
		if utf8.RuneCountInString(v) > 255 {
			return app.Errorf(app.EInvalid, "tag %s exceeds 255 characters", k)
		}
	}
	return nil
}

// Order is a server that is wanted, and how it is made.
type Order struct {
	Tags   map[string]string
	Recent *account.Asked // by this account, in this process
	// Options looks up what names stand for, and makes what must be there before the server.
	Options func() (servers.CreateOpts, error)
	// Finish makes what comes after it, or finds that it is there already.
	Finish func(*Server) error
	// Remove takes back a server that nothing good can come of, with what was made for it.
	Remove func(ctx context.Context, id string) error
}

// Ensure makes a server, or finds the one of the same intent, and finishes it. It sends the call that makes one at most once.
func Ensure(ctx context.Context, s *Session, p Pace, o Order) (*Server, error) {
	one, err := o.standing(ctx, s, p)
	if err != nil {
		return nil, err
	}
	ours := one == nil // no one can have worked on it yet
	var id string
	if ours {
		opts, err := o.Options()
		if err == nil {
			id, err = makeServer(ctx, s, opts)
			keep(o.Recent, o.intent(), id, err, p)
		}
		if err != nil {
			return nil, asked(err)
		}
	} else {
		id, ours = one.ID, one.Status == "ERROR" && one.LaunchedAt.IsZero()
	}
	one, err = placed(ctx, s, p, id)
	if err == nil && o.Finish != nil {
		err = o.Finish(one)
	}
	if err == nil {
		return one, nil
	}
	if ours && final(err) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		_ = o.Remove(ctx, id) // where that fails too, the server is found by its tags
	}
	return nil, asked(err)
}

// asked is the error of a create: what is not there is what was asked for, and Nova's word for a flavor without a disk is no matter of permission.
func asked(err error) error {
	if Expired(err) {
		return err // for With to see
	}
	err = Coded(err)
	e := app.AsError(err)
	switch {
	case e.Code == app.ENotFound:
		out := *e
		out.Code = app.EInvalid
		return &out
	case e.Reason == "permission" && contains(e.Message, "volume-backed servers are allowed"):
		out := *e
		out.Code, out.Reason, out.Hint = app.EInvalid, "", "Set boot_volume_gb in the account or the hardware type, or choose a flavor with a disk."
		return &out
	}
	return err
}

// final reports whether an error will be the same when the same is asked again, or whether nothing good can come of the server.
func final(err error) bool {
	if Expired(err) {
		return false
	}
	e := app.AsError(Coded(err))
	switch e.Code {
	case app.EInvalid, app.EQuota, app.ECapacity, app.ENotFound:
		return true
	case app.ECredentials:
		return e.Reason == "permission"
	}
	return e.Reason == reasonFault
}

// Catalog keeps what names of flavors and images stand for.
type Catalog struct {
	flavors Names[[]flavors.Flavor]
	images  Names[images.Image]
}

// NewCatalog begins with nothing known. An operator may publish another image under the same name, so images are kept for a shorter time.
func NewCatalog() *Catalog {
	return &Catalog{flavors: Names[[]flavors.Flavor]{For: 10 * time.Minute}, images: Names[images.Image]{For: time.Minute}}
}

// Flavor looks among the flavors that are known, and once more among the current ones.
func (c *Catalog) Flavor(ctx context.Context, s *Session, name string) (flavors.Flavor, error) {
	fresh := false
	ask := func() ([]flavors.Flavor, error) { fresh = true; return flavorList(ctx, s) }
	for {
		all, err := c.flavors.Get("", ask)
		if err != nil {
			return flavors.Flavor{}, err
		}
		f, err := flavorOf(all, name)
		if err == nil || fresh {
			return f, err
		}
		c.flavors.Forget()
	}
}

// Image returns an image that a server can be made of.
func (c *Catalog) Image(ctx context.Context, s *Session, name string) (images.Image, error) {
	image, err := c.images.Get(name, func() (images.Image, error) { return image(ctx, s, name) })
	if err == nil {
		err = usable(image)
	}
	return image, err
}

// Forget has everything be looked up again: what it referred to may be gone.
func (c *Catalog) Forget() { c.flavors.Forget(); c.images.Forget() }
