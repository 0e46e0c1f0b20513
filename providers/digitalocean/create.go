package digitalocean

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/internal/userdata"

	"github.com/digitalocean/godo"
)

// noPassword ends what DigitalOcean does where it is given no SSH key: it sets a password for root that must be changed at the first login, and until then
// whatever asks for root's account to be valid fails, such as scripts of packages.
const noPassword = "passwd -l root >/dev/null 2>&1; chage -d -1 -M -1 -E -1 root >/dev/null 2>&1 || true"

// order is what one machine is made of.
type order struct {
	spec     family.MachineSpec
	region   string
	dataDisk int
	backups  bool
	userData string
	card     card
	tags     []string
}

func (c *cloud) order(spec family.MachineSpec) (*order, error) {
	extra, err := read(c.raw.With(spec.Flavor.Extra))
	if err != nil {
		return nil, err
	}
	o := &order{spec: spec, region: cmp.Or(spec.Zone, c.region), dataDisk: extra.dataDisk, backups: extra.backup}
	if spec.Flavor.Flavor == "" || spec.Image.Image == "" {
		return nil, app.Errorf(app.EInvalid, "A droplet requires a size and an image.")
	}
	user := cmp.Or(spec.Image.SSHUser, "root")
	text, hostKey, err := userdata.CloudConfig(spec, userdata.Options{User: user, DataDisks: o.dataDisk > 0, Commands: []string{noPassword},
		Custom: extra.custom, Limit: userdata.LimitDroplet})
	if err != nil {
		return nil, err
	}
	o.userData = text
	o.card = card{tags: spec.Tags, volume: o.dataDisk > 0, user: user, key: hostKey}
	o.tags, err = o.card.write()
	o.tags = append(o.tags, labelTags(spec.Tags)...)
	if spec.Firewall != nil {
		o.tags = append(o.tags, firewallTag(spec.Tags[family.TagInstallation], spec.Tags[family.TagCluster]))
	}
	return o, err
}

// Create looks for the intent's droplet and makes it where there is none. What belongs to it is made before it: its firewall holds from its first moment,
// and its volume is there for the first start.
func (c *cloud) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	o, err := c.order(spec)
	if err != nil {
		return family.Machine{}, err
	}
	key := intentKey(spec.Tags)
	release, err := c.locks.Lock(ctx, key)
	if err != nil {
		return family.Machine{}, err
	}
	defer release()
	if d, err := c.find(ctx, spec.Tags, key); err != nil || d != nil {
		return o.machine(d), err
	}
	if spec.Firewall != nil {
		if err := c.firewalls.ensure(ctx, spec); err != nil {
			return family.Machine{}, err
		}
	}
	var volumes []string
	if o.dataDisk > 0 {
		v, err := c.volumes.ensure(ctx, o)
		if err != nil {
			return family.Machine{}, err
		}
		volumes = append(volumes, v)
	}
	d, err := c.createDroplet(ctx, c.request(o, volumes))
	if err != nil {
		return family.Machine{}, notCreated(ctx, c, failure("droplet:create", err), key, volumes)
	}
	c.recent.remember(key, d.ID)
	return o.machine(d), nil
}

// notCreated clears up after a droplet that was not created, or of which no one knows whether it was; the error is the one that it is given.
func notCreated(ctx context.Context, c *cloud, err error, key string, volumes []string) error {
	if refused(err) && len(volumes) > 0 {
		_ = c.volumes.delete(ctx, volumes[0]) // what the refusal says counts; Shared tells of what is left
	}
	if code := app.CodeOf(err); !refused(err) && code != app.ERateLimit && code != app.EConflict {
		c.recent.remember(key, 0)
	}
	return err
}

// droplet is what the API is asked for. Its volumes are ids: godo writes them as objects, which the API's description doesn't allow.
type droplet struct {
	godo.DropletCreateRequest
	Volumes []string `json:"volumes,omitempty"`
}

func (c *cloud) createDroplet(ctx context.Context, d *droplet) (*godo.Droplet, error) {
	r, err := c.api.NewRequest(ctx, http.MethodPost, "v2/droplets", d)
	if err != nil {
		return nil, err
	}
	var out struct {
		Droplet *godo.Droplet `json:"droplet"`
	}
	if _, err := c.api.Do(ctx, r, &out); err != nil {
		return nil, err
	}
	if out.Droplet == nil {
		return nil, app.Errorf(app.ETransient, "DigitalOcean's response contains no droplet.")
	}
	return out.Droplet, nil
}

func (c *cloud) request(o *order, volumes []string) *droplet {
	r := &droplet{Volumes: volumes, DropletCreateRequest: godo.DropletCreateRequest{
		Name:       o.spec.Hostname,
		Region:     o.region,
		Size:       o.spec.Flavor.Flavor,
		Image:      godo.DropletCreateImage{Slug: o.spec.Image.Image},
		SSHKeys:    []godo.DropletCreateSSHKey{},
		Backups:    o.backups,
		IPv6:       c.ipv6,
		Monitoring: c.monitoring,
		UserData:   o.userData,
		Tags:       o.tags,
	}}
	if n, ok := number(o.spec.Image.Image); ok {
		r.Image = godo.DropletCreateImage{ID: n}
	}
	for _, k := range c.sshKeys {
		if n, ok := number(k); ok {
			r.SSHKeys = append(r.SSHKeys, godo.DropletCreateSSHKey{ID: n})
		} else {
			r.SSHKeys = append(r.SSHKeys, godo.DropletCreateSSHKey{Fingerprint: k})
		}
	}
	if o.region == c.region {
		r.VPCUUID = c.vpc
	}
	return r
}

// machine is the order's droplet as requested: an answer that comes at once may lack its tags.
func (o *order) machine(d *godo.Droplet) family.Machine {
	if d == nil {
		return family.Machine{}
	}
	m := machine(d)
	if m.Tags[family.TagIntent] == "" {
		m.Tags, m.HostKey, m.SSHUser = readCard(o.tags).tags, o.card.key, o.card.user
	}
	if m.HostKey == "" {
		m.HostKey = o.card.key
	}
	return m
}

// find returns the intent's droplet, nil where there is none. One that was just made is asked for by its id, and after a call that was not answered it is looked
// for twice: lists lag behind, and DigitalOcean has no key of idempotency.
func (c *cloud) find(ctx context.Context, tags map[string]string, key string) (*godo.Droplet, error) {
	d, err := c.listed(ctx, tags)
	if err != nil || d != nil {
		return d, err
	}
	m, ok := c.recent.find(key)
	switch {
	case !ok:
		return nil, nil
	case m.id == 0:
		err = family.AfterLost(ctx, time.Since(m.at), c.timing.late, func() (bool, error) {
			d, err = c.listed(ctx, tags)
			return d != nil, err
		})
		return d, err
	}
	d, _, err = c.api.Droplets.Get(ctx, m.id)
	if err = failure("droplet:read", err); absent(err) {
		c.recent.forget(m.id)
		return nil, nil
	}
	return d, err
}

// listed returns the intent's droplet as lists show it. Where there are several, it is the one that was made first, for every caller.
func (c *cloud) listed(ctx context.Context, tags map[string]string) (*godo.Droplet, error) {
	found, err := c.droplets(ctx, map[string]string{family.TagInstallation: tags[family.TagInstallation], family.TagIntent: tags[family.TagIntent]})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	first := slices.MinFunc(found, func(a, b godo.Droplet) int { return cmp.Compare(a.ID, b.ID) })
	return &first, nil
}

// intentKey tells a machine from those of all installations.
func intentKey(tags map[string]string) string {
	return hash(tags[family.TagInstallation], tags[family.TagIntent])
}

// number reads an id; DigitalOcean's are whole numbers from 1.
func number(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0 && strconv.Itoa(n) == text
}
