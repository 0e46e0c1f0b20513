package catalog

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/template"
)

// Item is a line in the list of a tenant's catalog.
type Item struct {
	template.CatalogKey
	Label       string         `json:"label,omitempty"`
	Description string         `json:"description,omitempty"`
	State       template.State `json:"state,omitempty"` // of templates; "" is published
	Partial     bool           `json:"partial,omitempty"`
	Type        string         `json:"type,omitempty"` // of providers
	// Own entries belong to the tenant; all others are the installation's. Replaces tells of an own one that the installation has one of
	// the same kind and name too.
	Own      bool      `json:"own,omitempty"`
	Replaces bool      `json:"replaces,omitempty"`
	Number   int       `json:"number,omitempty"` // version of an own entry
	At       time.Time `json:"at,omitzero"`      // of an own entry's version
	By       string    `json:"by,omitempty"`
	Clusters int       `json:"clusters,omitempty"` // live ones made of it: of templates and providers; 1000 is that many or more
	UsedBy   []string  `json:"used_by,omitempty"`  // entries that refer to it, as "kind name", at most 100
}

// Source is an entry as it is written.
type Source struct {
	Item
	// Text is YAML: an own entry as it was typed; one of the installation as Muster writes it, which is where an own one begins that should
	// replace it. Literal values of secret settings are left out of the installation's.
	Text string `json:"text"`
	// Origin is where the installation's entry is, "" of own ones.
	Origin string `json:"origin,omitempty"`
	// Revision is that of the tenant's catalog, to be given back as Change.AsOf.
	Revision string `json:"revision"`
}

// Revision is a version of an own entry. Deleted says that it was taken out then.
type Revision struct {
	template.CatalogKey
	Number  int       `json:"number"` // 1, 2, 3 … of each entry
	At      time.Time `json:"at"`
	By      string    `json:"by"`
	Note    string    `json:"note,omitempty"`
	Deleted bool      `json:"deleted,omitempty"`
	Text    string    `json:"text,omitempty"` // "" of versions that are so old that their text is not kept
	// Trusted versions were saved by a superadmin: they may use providers whose machines are on Muster's
	// own hosts.
	Trusted bool `json:"trusted,omitempty"`
	// Coopr tells that it came from Coopr, whose definitions were never checked: a broken rule is only a warning.
	Coopr    bool  `json:"coopr,omitempty"`
	Revision int64 `json:"-"` // of the tenant's catalog, that it came with
}

// entry returns the version as text to be read.
func (r Revision) entry() Text {
	return Text{CatalogKey: r.CatalogKey, Text: r.Text, Trusted: r.Trusted, Coopr: r.Coopr}
}

// Bounds of tenants' catalogs.
const (
	MaxCatalogText    = 256 << 10 // bytes of an entry
	MaxCatalogChange  = 1 << 20   // bytes of a change
	MaxCatalogEntries = 5000      // own ones of a tenant
	maxCatalogNote    = 1000      // characters
	KeptCatalogTexts  = 200       // versions of an entry whose text is kept
)

// Change is what an admin wants of the tenant's own entries. All of it happens, or nothing.
type Change struct {
	// Files hold entries to save, any number in each.
	Files []File `json:"files,omitempty"`
	// Remove takes own entries out; the installation's of the same name is seen again.
	Remove []template.CatalogKey `json:"remove,omitempty"`
	// Prune also removes all own entries that Files do not hold.
	Prune bool   `json:"prune,omitempty"`
	Note  string `json:"note,omitempty"` // why, for the history; at most 1,000 characters
	// AsOf is the revision of the tenant's catalog that the change was made on; where it has moved since, in an entry that the change
	// touches, it is EConflict, reason catalog_changed. "" does not look.
	AsOf string `json:"as_of,omitempty"`

	again *Revision // the version whose text it is
	// Of what comes with all of a tenant's settings:
	Whole   bool                            `json:"-"` // it may be as large as those
	Lenient map[template.CatalogKey]bool    `json:"-"` // entries that came from Coopr
	Coming  map[string]template.SecretPlace `json:"-"` // secrets that come along
}

// File is a file of a change. Names ending in .json are of Coopr's form where they stand in one of Coopr's folders
// (clustertemplates/…, services/…), or are Coopr's whole export; all others are Muster's own YAML.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Report says what a change would do, or has done.
type Report struct {
	Problems  []Problem `json:"problems"` // errors first; with an error, nothing was saved
	Changes   []Edit    `json:"changes"`  // entries that become other than they are, by kind and name
	Unchanged int       `json:"unchanged"`
	Saved     bool      `json:"saved"`
	// Revision is that of the tenant's catalog after it, or as it is where nothing was saved.
	Revision string `json:"revision"`
}

// OK reports whether there is no error.
func (r Report) OK() bool {
	for _, p := range r.Problems {
		if p.Severity == "error" {
			return false
		}
	}
	return true
}

// Problem is something wrong with a text, at a place in it. Line and Column count from 1; 0: not known. It never quotes a
// provider's setting, which may be a secret.
type Problem struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Severity string `json:"severity"` // error or warning
	Message  string `json:"message"`
	Hint     string `json:"hint,omitempty"`
	// Field is the path of the value in its entry, such as constraints.services.db.min; "" where that is not known.
	Field string `json:"field,omitempty"`
	template.CatalogKey
}

// Edit is what happens to one entry.
type Edit struct {
	template.CatalogKey
	Act    string        `json:"act"`              // add, change, remove
	Number int           `json:"number,omitempty"` // of the version that it becomes
	Fields []FieldChange `json:"fields,omitempty"` // at most 200
	// Warnings are what people would want to know: clusters that stand by it, templates that refer to it.
	Warnings []string `json:"warnings,omitempty"`
}

// FieldChange is a value that is other than it was; "" is for one that is absent. Values of settings are never shown.
type FieldChange struct {
	Path   string `json:"path"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Families describes what entries can be made of: kinds of clouds, and automators, with their fields.
type Families struct {
	Providers  []family.Descriptor `json:"providers"`
	Automators []family.Descriptor `json:"automators"`
	// Schema is the JSON Schema of an entry.
	Schema string `json:"-"`
}

// Provider describes a type of provider; false where it isn't known.
func (f Families) Provider(kind string) (family.Descriptor, bool) {
	i := slices.IndexFunc(f.Providers, func(d family.Descriptor) bool { return d.Name == kind })
	if i < 0 {
		return family.Descriptor{}, false
	}
	return f.Providers[i], true
}

// Reader understands catalog texts; app/file/catalog is one. It is pure: the same texts give the same answers.
type Reader interface {
	// Read lays a tenant's own entries over the installation's. The catalog holds what can be read, even where others are wrong. What
	// is wrong with entries of the installation because of own ones is a warning. Base is not changed.
	Read(base *template.Catalog, tenant string, own []Text) (*template.Catalog, []Problem)
	// Split takes files apart into entries of one document each, in Muster's own form: what was Coopr's is written in it. Keys are
	// unique; a text that is not to be understood is a problem.
	Split(files []File) ([]Text, []Problem)
	// Compare tells how the text of an entry differs from what is saved.
	Compare(saved, text string) TextDifference
	// Write returns an entry of a catalog in Muster's own form; false where there is none. Read of what it wrote returns the same entry,
	// but for settings of the installation's providers that are secret, or come from the environment: they are left out.
	Write(c *template.Catalog, k template.CatalogKey) (text string, ok bool)
	// Families says what providers and automators there are.
	Families() Families
}

// TextDifference is how the text of an entry differs from what is saved.
type TextDifference int

// Differences, the least first.
const (
	TextSame     TextDifference = iota // at most the order of keys, spacing or quotes differ
	TextComments                       // comments differ, too
	TextValues
)

// Text is one entry as text.
type Text struct {
	template.CatalogKey
	File    string // that it was in; "" where it was in none
	Line    int    // of the file, before its own first one; -1 where its own lines are not those of the file
	Text    string
	Trusted bool // see Revision
	Coopr   bool
}

// TenantCatalogSave is a change of a tenant's own entries, as it is written.
type TenantCatalogSave struct {
	At       time.Time
	Entries  []Revision // new versions; their numbers are given by the store
	Revision int64      // of the tenant's catalog that it was worked out on
	AsOf     int64      // that the person saw; -1 does not look
	// Accounts are the names of providers that become other accounts than they were, or none: nothing may stand there.
	Accounts []string
	// Templates are what templates are from then on that are made of own entries; see Service.Template.
	Templates []template.CatalogVersion
}

// ProviderUse is what is at a provider, or may still.
type ProviderUse struct {
	Clusters []string // by name, at most 20
	Pools    []string
	More     int // that are not listed
	Orphans  int
	Unproven int // clusters that were deleted, and of which it is not proven yet that nothing is left
}

// None reports whether nothing is there.
func (u ProviderUse) None() bool {
	return len(u.Clusters)+len(u.Pools)+u.More+u.Orphans+u.Unproven == 0
}

// MaxCounted is up to how many clusters of a template or provider are counted: this number means that many or more.
const MaxCounted = 1000

// Use counts the live clusters of a tenant up to MaxCounted of each template and provider.
type Use struct {
	Templates map[string]int
	Providers map[string]int
}

// Refusal says why a provider cannot become another account, or none.
func (u ProviderUse) Refusal(provider string) *app.Error {
	var what []string
	if n := len(u.Clusters); n > 0 {
		what = append(what, "clusters "+humanize.And(u.Clusters))
	}
	if n := len(u.Pools); n > 0 {
		what = append(what, "pools "+humanize.And(u.Pools))
	}
	if u.More > 0 {
		what = append(what, fmt.Sprintf("%d more", u.More))
	}
	if u.Orphans > 0 {
		what = append(what, humanize.Count(u.Orphans, "orphaned machine"))
	}
	if u.Unproven > 0 {
		what = append(what, humanize.Count(u.Unproven, "deleted cluster")+" without a final receipt")
	}
	return &app.Error{Code: app.EConflict, Reason: "in_use", Field: "provider",
		Message: fmt.Sprintf("Provider %s is in use, so you can't delete it or change its account: %s.", provider, strings.Join(what, "; ")),
		Hint:    "Delete these first. You can change labels, zones, rate, provisioner and the values of secrets at any time."}
}

// ProviderSecretName names the secret that holds a setting of an own provider, where no one has chosen another name: hetzner and
// api-token give PROVIDER_HETZNER_API_TOKEN.
func ProviderSecretName(provider, field string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper("provider_"+provider+"_"+field))
	if len(name) > 64 {
		name = name[:55] + "_" + strings.ToUpper(template.Digest(name)[:8])
	}
	return name
}
