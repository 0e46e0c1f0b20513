package family

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/label"
	"muster/app/template"
)

// Provider is one account with one kind of cloud. Members stay thin: they return what the cloud said, with an *Error
// carrying one of ECredentials, ECapacity, EQuota, ERateLimit, ETransient, ETimeout, ENotFound, EInvalid. All methods
// may be called at the same time from several goroutines and obey ctx.
type Provider interface {
	// Create makes one machine for spec.Intent, or returns the one that an earlier call with the same intent made.
	// It returns as soon as the machine exists; it need not answer yet. After an error the machine may or may not
	// exist: List by tag tells.
	Create(ctx context.Context, spec MachineSpec) (Machine, error)
	// Describe returns the machine as it is now; ENotFound where it does not exist (any more).
	Describe(ctx context.Context, id string) (Machine, error)
	// List returns every machine that carries all of the tags; none is an empty list and no error.
	List(ctx context.Context, tags map[string]string) ([]Machine, error)
	// Delete removes the machine with all that was made for it, and returns when it is gone or sure to go. An absent
	// machine is success.
	Delete(ctx context.Context, id string) error
}

// Sleeper is a Provider whose machines can be stopped and started again, with their files, host key and id. Without it,
// clusters of it cannot be put to sleep. Both verbs may be called again at any time: what is already so is success. A machine that
// is not there is ENotFound; one that cannot be stopped without losing what is on it is EInvalid.
type Sleeper interface {
	// Sleep stops the machine, and returns when it is stopped or sure to stop.
	Sleep(ctx context.Context, id string) error
	// Wake starts the machine. It returns as soon as the machine is starting; it need not answer yet, and its addresses may be
	// others than before.
	Wake(ctx context.Context, id string) error
}

// Adopter is a Provider that can give a machine that exists to another node, as where it comes from a pool. Without it, a machine keeps its tags; what
// it is found by is the intent, which stays the same in any case.
type Adopter interface {
	// Adopt has the machine carry spec's tags and host name from now on, as far as the provider keeps them; the intent among the tags is the machine's own. Where
	// the provider itself, and not a file of the machine, says who is let in, it is the holder of spec's AuthorizedKey alone. With spec's Firewall, where the
	// provider makes any, the machine is behind that of its new cluster before it carries the cluster's tags; without, it leaves that of its old one, and is as if Create had made it
	// without. Doing it again changes nothing, wherever an
	// earlier call was cut off. A machine that is not there is ENotFound.
	Adopt(ctx context.Context, id string, spec MachineSpec) error
}

// ProviderCloser is a Provider that holds something to let go of when the process ends. Machines stay.
type ProviderCloser interface {
	Close() error
}

// LateLister is a Provider whose List may lack a machine that was just made, or still show one that was just deleted.
// Without it, lists are taken to be true at once. Who draws a conclusion from a machine that is missing looks twice, so
// long apart.
type LateLister interface {
	// ListsLate returns how long a list may lag behind; at most a minute is waited for.
	ListsLate() time.Duration
}

// ListsLate returns how long lists of a provider may lag behind, at most a minute; 0 where they do not.
func ListsLate(p Provider) time.Duration {
	if l, ok := p.(LateLister); ok {
		return min(max(l.ListsLate(), 0), time.Minute)
	}
	return 0
}

// lostLooks is how often AfterLost looks.
const lostLooks = 6

// AfterLost looks for what a call has made whose answer was lost some time ago, up to six times and each time late after the last, until look finds it or
// fails. One look isn't enough: a cloud may carry out a call long after its caller has given up. A busy Nova took 5.5 s for one, with lists that don't lag
// at all. It takes a minute at most, or late if that's longer. The error is look's, or that of ctx.
func AfterLost(ctx context.Context, ago, late time.Duration, look func() (found bool, err error)) error {
	end := min(lostLooks*late, max(late, time.Minute))
	for last := ago - ago%max(late, 1); ; { // it has just been looked for
		next := last + late
		if next > end || next == last {
			next = end
		}
		timer := time.NewTimer(next - ago)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		if found, err := look(); found || err != nil || next == end {
			return err
		}
		last, ago = next, max(ago, next)
	}
}

// Tags that every machine carries. Machines without our TagInstallation are never touched.
const (
	TagInstallation = "muster-installation"
	TagTenant       = "muster-tenant"
	TagCluster      = "muster-cluster"
	TagNode         = "muster-node"
	TagIntent       = "muster-intent"
)

// Tags for people and bills, which nothing is looked for by. Beside them a machine carries its cluster's labels, whose keys never begin with OwnTags.
const (
	TagOwner       = "muster-owner"
	TagClusterName = "muster-cluster-name"
	OwnTags        = "muster"
)

// LabelsAmong returns those of a machine's tags that are labels of its cluster.
func LabelsAmong(tags map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range tags {
		if !strings.HasPrefix(k, OwnTags) {
			out[k] = v
		}
	}
	return out
}

// TagsFor returns what a machine carries: Muster's own tags, which no label can be instead of, and the labels.
func TagsFor(c app.Cluster, installation, node, intent string) map[string]string {
	tags := LabelsAmong(c.Labels)
	own := map[string]string{TagInstallation: installation, TagTenant: c.Tenant, TagCluster: c.ID, TagNode: node, TagIntent: intent,
		TagOwner: label.Value(c.Owner), TagClusterName: label.Value(c.Name)}
	for k, v := range own {
		if v != "" {
			tags[k] = v
		}
	}
	return tags
}

// MachineSpec is the machine that is wanted.
type MachineSpec struct {
	Intent   string            // one per machine ever wanted; the key of idempotency
	Hostname string            // full name
	Flavor   template.Flavor   // the provider's hardware
	Image    template.Image    // the provider's image
	Tags     map[string]string // at least the first five of the tags above
	Zone     string            // the part of the cloud, by its own name; "" leaves it to the provider
	// HostKey is the private host key (OpenSSH PEM) that the machine should prove itself with. Providers that cannot
	// hand it over leave Machine.HostKey empty, and the key is pinned at first contact.
	HostKey []byte
	// AuthorizedKey lets Muster in: one line in authorized_keys form.
	AuthorizedKey string
	// Firewall is what the cluster's machines are reached by from outside; nil leaves it to what the account does by itself.
	Firewall *template.Firewall
	// Volumes are those that it is created with, where it can't get any later; their Machine is empty.
	Volumes []VolumeAttachment `json:",omitempty"`
	// Isolated says that tenants share the host: the machine must not be a process with the rights of Muster's own user.
	Isolated bool `json:",omitempty"`
}

// MachineState is the state of a machine in one word.
type MachineState string

// The states of a machine.
const (
	MachineStarting MachineState = "starting"
	MachineRunning  MachineState = "running"
	MachineStopped  MachineState = "stopped" // exists, but does not run: lost unless someone starts it
)

// Machine is what a provider knows of a machine.
type Machine struct {
	ID        string
	State     MachineState
	Hostname  string
	Addresses map[string]string // by kind: access_v4, bind_v4; absent until known
	SSHUser   string
	SSHPort   int // 0 means 22
	Tags      map[string]string
	HostKey   string    // authorized_keys form of the host key that it was given, "" where it could not be given
	OwnRoot   bool      // it has a file system of its own, so /etc/hosts there is only its own
	Note      string    // for people: what kind of machine this is, such as "namespaces + OpenSSH"
	Zone      string    // where it is, "" where the cloud has no zones or does not say
	CreatedAt time.Time `json:",omitzero"` // by the cloud's own clock; zero where it does not say
	// LeavesAt is when the cloud takes the machine away, as it has announced, such as a spot machine. It is said in lists only; zero: nothing is announced.
	LeavesAt time.Time `json:",omitzero"`
	// Taken says that the cloud has stopped a machine that it may take away, such as a spot machine: it doesn't come back by itself.
	// Lists and Describe say so. A person may have stopped it, too, where the cloud doesn't tell one from the other.
	Taken bool `json:",omitempty"`
}

// FullBuildHint says what to do where a small build (-tags small) lacks something.
const FullBuildHint = "Use a full build: run make build, or download a release."

// Descriptor describes a member of a family: its fields make forms, prompts and validation.
type Descriptor struct {
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Fields      []Field `json:"fields"`
	// Tested says with what a type of provider was tested, and with what it wasn't; "" where that isn't known, as of programs.
	Tested string `json:"tested,omitempty"`
	Sleeps bool   `json:"sleeps,omitempty"` // its machines can be stopped and started again; see Sleeper
	// Volumes tells that it makes volumes, for services that need some; see Volumes.
	Volumes bool `json:"volumes,omitempty"`
	// VolumeSnapshots tells that it can make snapshots of volumes; see VolumeSnapshots.
	VolumeSnapshots bool `json:"volume_snapshots,omitempty"`
	// VolumesAtCreation tells that machines only have the volumes that they are created with; see MachineSpec.Volumes.
	VolumesAtCreation bool `json:"volumes_at_creation,omitempty"`
	Bakes             bool `json:"bakes,omitempty"` // images can be made of its machines; see Baker
	// Firewalls tells that it makes firewalls for clusters whose template has one; see MachineSpec.Firewall and Sharer.
	Firewalls bool `json:"firewalls,omitempty"`
	// FlavorFields and ImageFields are what a hardware type or an image type may say for accounts of this kind beside the flavor or the image
	// itself: see Flavor.Extra and Image.Extra. What it does not say is taken from the account's setting of the same name, where there is one.
	FlavorFields []Field `json:"flavor_fields,omitempty"`
	ImageFields  []Field `json:"image_fields,omitempty"`
	// ResourceTypes are the types of archives and files that admins may push for it.
	ResourceTypes []template.ResourceType `json:"resource_types,omitempty"`
	// Host tells that its machines are made on the host that carries out the steps, as root: who may run something on them is root there.
	Host bool `json:"host,omitempty"`
}

// FieldType says what a field's value looks like, for forms and for the check of what was written.
type FieldType string

// The types of fields. Secret is beside them: a key is a secret of several lines.
const (
	FieldText   FieldType = "text"   // one line
	FieldLines  FieldType = "lines"  // a text of several lines, such as a key, a script or JSON
	FieldInt    FieldType = "int"    // a whole number
	FieldBool   FieldType = "bool"   // true or false
	FieldChoice FieldType = "choice" // one of Options
	FieldList   FieldType = "list"   // texts with commas or spaces between them
)

// FieldTypes are all types, as the documents name them.
var FieldTypes = []FieldType{FieldText, FieldLines, FieldInt, FieldBool, FieldChoice, FieldList}

// Field is one setting of a family member.
type Field struct {
	Name     string    `json:"name"`
	Label    string    `json:"label"`
	Type     FieldType `json:"type,omitempty"`
	Help     string    `json:"help,omitempty"`
	Required bool      `json:"required,omitempty"`
	Secret   bool      `json:"secret,omitempty"`
	Default  string    `json:"default,omitempty"`
	Options  []string  `json:"options,omitempty"`
	// Runs tells that with it, what an image type says is fetched, or run, on the provider's own host. Of image fields it counts wherever they are said, of
	// fields of the account where they are not the default. See Descriptor.Host: images of a tenant's own get that only where they may.
	Runs bool `json:"runs,omitempty"`
	// SetBy says whose catalog entries may set the field. A field that doesn't say can only be set by the installation.
	SetBy SetBy `json:"set_by,omitempty"`
	// Identity marks the credentials without which the member would act as the host it runs on, such as with the instance's role. Catalog
	// entries of a tenant must set them.
	Identity bool `json:"identity,omitempty"`
	// Reaches marks fields that say where credentials are sent, or what they open. Where a user sets one, the account has none of the provider's credentials.
	Reaches bool `json:"reaches,omitempty"`
	// Acts marks fields that say as whom the account acts, such as a role. Where a user sets credentials, the provider's value is left out.
	Acts bool `json:"acts,omitempty"`
	// Grants marks fields that give machines rights in the account, such as a role. Users never set them, whatever an entry says.
	Grants bool `json:"grants,omitempty"`
	// Literal marks texts for other programs, such as scripts: users' values can have ${ in them, but no references that Muster resolves.
	Literal bool `json:"literal,omitempty"`
	// Resource makes a field the name of a resource of the tenant, of this resource type of the member. Its content becomes the setting that is
	// called like the type. Only users set it, at the create of a cluster, which keeps the version.
	Resource string `json:"resource,omitempty"`
}

// UserMaySet reports whether an entry can let users set the field.
func (f Field) UserMaySet() bool { return f.MaySet(false, true) && !f.Grants }

// Credential reports whether the field is a part of what the account is opened with.
func (f Field) Credential() bool { return f.Secret || f.Identity }

// SetBy says whose catalog entries may set a field. Entries that the operator wrote or a superadmin saved may set every field.
type SetBy string

// Who may set a field. Users set no fields: what they choose are parameters, and those reach only scripts on nodes.
const (
	// SetByTenant fields concern the tenant's own credentials, its machines and nothing else.
	SetByTenant SetBy = "tenant"
	// SetByAccountOwner fields cost the account's owner money or give machines rights in the account. A tenant may set them for its own
	// accounts, and not for the installation's.
	SetByAccountOwner SetBy = "account_owner"
	// SetByInstallation fields say where credentials are sent, which role is assumed, or name something on Muster's own hosts.
	SetByInstallation SetBy = "installation"
)

// Kind returns the type. Where none is said, it is read off the field: a choice where it has options, true or false where those are the options, a
// whole number where
// that is the default, and text else.
func (f Field) Kind() FieldType {
	_, err := strconv.Atoi(f.Default)
	switch {
	case f.Type != "":
		return f.Type
	case len(f.Options) == 2 && slices.Contains(f.Options, "true") && slices.Contains(f.Options, "false"):
		return FieldBool
	case len(f.Options) > 0:
		return FieldChoice
	case err == nil:
		return FieldInt
	}
	return FieldText
}

// MaySet reports whether a catalog entry may set the field: one that is trusted, or a tenant's own one on an account that is the tenant's own or
// the installation's.
func (f Field) MaySet(trusted, ownAccount bool) bool {
	switch f.SetBy {
	case SetByTenant:
		return true
	case SetByAccountOwner:
		return trusted || ownAccount
	}
	return trusted
}

// IsSet reports whether a setting has a value: not nil and not blank.
func IsSet(v any) bool { return v != nil && strings.TrimSpace(fmt.Sprint(v)) != "" }

// OnlyInstallation is the error for a field that a tenant's own catalog entry may not set: EForbidden with the reason installation_only. Path is the
// field's path in the entry, what names the entry.
func OnlyInstallation(path, what, field string) *app.Error {
	e := app.Errorf(app.EForbidden, "%s sets %s, which only the installation can set", what, field)
	e.Reason, e.Field = "installation_only", path
	e.Hint = "Remove it, or ask a superadmin to save this entry for you."
	return e
}

// CheckType refuses a type that there is not, and a choice of nothing, with EInvalid. A field that says none is good.
func (f Field) CheckType() error {
	if f.Type != "" && !slices.Contains(FieldTypes, f.Type) {
		e := app.Errorf(app.EInvalid, "field %s has the unknown type %.50q", f.Name, string(f.Type))
		names := make([]string, len(FieldTypes))
		for i, t := range FieldTypes {
			names[i] = string(t)
		}
		e.Hint = "Use one of " + strings.Join(names, ", ") + "."
		return e
	}
	if f.SetBy != "" && !slices.Contains([]SetBy{SetByTenant, SetByAccountOwner, SetByInstallation}, f.SetBy) {
		e := app.Errorf(app.EInvalid, "field %s has the unknown set_by %.50q", f.Name, string(f.SetBy))
		e.Hint = "Use tenant, account_owner or installation."
		return e
	}
	if f.Type == FieldChoice && len(f.Options) == 0 {
		return app.Errorf(app.EInvalid, "field %s is a choice without options", f.Name)
	}
	return nil
}

// Check holds a value to the field's type: EInvalid, with what would be right as its hint. A secret is not repeated. What refers to something that
// is not known
// here, as ${secret:NAME} does, and the empty text, which is the default, are good.
func (f Field) Check(text string) *app.Error {
	if text = strings.TrimSpace(text); text == "" || strings.Contains(text, "${") {
		return nil
	}
	shown := strconv.Quote(text)
	if f.Secret || len(text) > 60 {
		shown = "this value"
	}
	var e *app.Error
	switch f.Kind() {
	case FieldInt:
		if _, err := strconv.Atoi(text); err != nil {
			e = app.Errorf(app.EInvalid, "%s must be a whole number, not %s", f.Name, shown)
			e.Hint = "Use digits, such as " + cmp.Or(f.Default, "20") + "."
		}
	case FieldBool:
		if text != "true" && text != "false" {
			e = app.Errorf(app.EInvalid, "%s must be true or false, not %s", f.Name, shown)
			e.Hint = "Use true or false."
		}
	case FieldChoice:
		if !slices.Contains(f.Options, text) {
			e = app.Errorf(app.EInvalid, "%s can't be %s", f.Name, shown)
			e.Hint = "One of: " + strings.Join(f.Options, ", ") + "."
		}
	case FieldText:
		if f.Type == FieldText && strings.Contains(text, "\n") {
			e = app.Errorf(app.EInvalid, "%s must be a single line, not %d", f.Name, strings.Count(text, "\n")+1)
			e.Hint = "Remove the line breaks."
		}
	}
	if e != nil {
		e.Field = f.Name
	}
	return e
}

// IsolationHint says what to do where machines would be processes of a host that tenants share.
const IsolationHint = "Choose another provider, or run Muster where the sandbox can use namespaces (Linux, as root, with OpenSSH and iproute2). To allow it because you trust all tenants, start the server with --tenant-host-access."
