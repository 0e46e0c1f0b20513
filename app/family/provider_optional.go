package family

import (
	"context"
	"strings"
	"time"

	"muster/app"
	"muster/app/template"
)

// AccountChecker is a Provider that can tell before anything is made whether its account will do. Without it, only the settings' form is
// checked.
type AccountChecker interface {
	// CheckAccount looks at everything that it can, whatever it finds first, and changes nothing in the account. It returns an error only
	// where it could not even begin; what is wrong with the account is a finding.
	CheckAccount(ctx context.Context, needs AccountNeeds) ([]Finding, error)
}

// AccountNeeds is what someone wants to make in an account; where it is empty, the account is looked at on its own.
type AccountNeeds struct {
	Machines []MachineNeed `json:"machines,omitempty"`
	// Each tells that the machines are not to be made together: they are kinds that someone may make one of, such as all that a catalog names. Whether there is
	// room is looked at for each of them by itself, never for their sum, and a kind without room is a warning, as long as there is one that has some.
	Each bool `json:"each,omitempty"`
}

// MachineNeed is so many machines of one kind. One without an image, or without a flavor, asks for what it names alone.
type MachineNeed struct {
	Count  int             `json:"count"`
	Flavor template.Flavor `json:"flavor"`
	Image  template.Image  `json:"image"`
	Zone   string          `json:"zone,omitempty"`
}

// What a Finding is about.
const (
	AboutSettings    = "settings" // their form, and what is known without asking the cloud
	AboutCredentials = "credentials"
	AboutPermissions = "permissions"
	AboutRegion      = "region" // and zones
	AboutQuota       = "quota"
	AboutFlavor      = "flavor"
	AboutImage       = "image"
	AboutNetwork     = "network" // security groups, subnets, keys and the like
)

// Finding is one thing that was looked at. Message is a sentence, also where all is well; Hint says what would help.
type Finding struct {
	About   string `json:"about"`
	Subject string `json:"subject,omitempty"` // the name of what was looked at, such as a flavor
	OK      bool   `json:"ok"`
	// Warning tells that machines can be made all the same, such as where a permission cannot be looked up.
	Warning bool     `json:"warning,omitempty"`
	Code    app.Code `json:"code,omitempty"` // of what is wrong
	Message string   `json:"message"`
	Hint    string   `json:"hint,omitempty"`
}

// Offerer is a Provider that can say what it has to offer. Without it, flavors and images are typed by hand.
type Offerer interface {
	// Offers returns what the account can make now.
	Offers(ctx context.Context) (Offers, error)
}

// Offers is what an account can make. Lists are sorted by name and may be empty where the cloud does not tell.
type Offers struct {
	Zones    []string      `json:"zones,omitempty"`
	Flavors  []FlavorOffer `json:"flavors,omitempty"`
	Images   []ImageOffer  `json:"images,omitempty"`
	Currency string        `json:"currency,omitempty"` // of the flavors' prices, such as USD; "" where there are none
}

// FlavorOffer is a flavor with its price, where the cloud tells.
type FlavorOffer struct {
	template.Flavor
	Description string   `json:"description,omitempty"`
	Zones       []string `json:"zones,omitempty"` // where it can be had; empty: everywhere
}

// ImageOffer is an image.
type ImageOffer struct {
	template.Image
	Description string    `json:"description,omitempty"` // such as Debian 12 (x86_64)
	CreatedAt   time.Time `json:"created_at,omitzero"`
}

// Sharer is a Provider that makes more than machines: firewalls, keys or DNS records that a whole cluster shares. Create makes them where
// they are missing, under the cluster's tags or a name that holds them; anyone who manages the account removes them when no machine of the
// cluster is left. Without it, nothing of the kind is made.
type Sharer interface {
	// Shared lists those that carry all of the tags (of which it knows family.TagInstallation and family.TagCluster).
	Shared(ctx context.Context, tags map[string]string) ([]SharedThing, error)
	// DeleteShared removes one. An absent one is success; one that is still used is ETransient.
	DeleteShared(ctx context.Context, id string) error
}

// SharedThing is something that was made for a cluster as a whole.
type SharedThing struct {
	ID        string            `json:"id"`   // tells DeleteShared also what kind it is, such as "firewall/123"
	Kind      string            `json:"kind"` // such as firewall
	Name      string            `json:"name"`
	Tags      map[string]string `json:"tags"`
	CreatedAt time.Time         `json:"created_at,omitzero"`
}

// Namer is a Provider whose cloud keeps DNS zones, one of which an account may name. Without it, or where an account names none, a machine's name is known to
// the machines of its cluster alone. Delete removes the records of the machine, and Sharer tells of those whose machine went by other means. Records of others
// are never changed.
type Namer interface {
	// NameZone returns the zone's name, such as clusters.example.org; "" where the account names none.
	NameZone() string
	// SetName has the machine's Hostname lead to its addresses: to access_v4 (or bind_v4, where there is none) and, where there is one, access_v6. What it led to
	// before is replaced, and a name that the intent among Tags had before goes. Doing it again changes nothing. EInvalid for a name that is not in the zone,
	// EConflict for one that has records of someone else's.
	SetName(ctx context.Context, m Machine) error
}

// InZone reports whether a name is in a DNS zone, below its own name.
func InZone(name, zone string) bool {
	name, zone = strings.ToLower(strings.TrimSuffix(name, ".")), strings.ToLower(strings.TrimSuffix(zone, "."))
	return zone != "" && strings.HasSuffix(name, "."+zone) && len(name) > len(zone)+1
}

// Empowered is a Provider whose type has the methods of more powers than it has itself, such as one that speaks for a program, or that is around
// another Provider. Without it, the type's methods tell.
type Empowered interface {
	// Has reports whether it has a power, given as a nil pointer to the power's interface, such as (*Sleeper)(nil).
	Has(power any) bool
}

// PowerOf returns an optional power of a provider, such as Sleeper, where it has that.
func PowerOf[T any](p Provider) (T, bool) {
	t, ok := p.(T)
	if e, choosy := p.(Empowered); ok && choosy && !e.Has((*T)(nil)) {
		var none T
		return none, false
	}
	return t, ok
}

// Rank puts what is wrong first, then warnings.
func (f Finding) Rank() int {
	switch {
	case f.OK:
		return 2
	case f.Warning:
		return 1
	}
	return 0
}
