package resource

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"muster/app"
	"muster/app/template"
)

// Family says for whom a resource is.
type Family string

// The families whose members may have resources.
const (
	ForAutomator Family = "automator"
	ForProvider  Family = "provider"
)

// The formats.
const (
	FormatFile    template.ResourceFormat = "file"    // one file, as it is
	FormatArchive template.ResourceFormat = "archive" // a tar, tar.gz or zip, unpacked into a directory
)

// Types are the types that one member declares.
type Types struct {
	Family Family                  `json:"family"`
	Member string                  `json:"member"`
	Types  []template.ResourceType `json:"types"`
}

// ID names a resource within its tenant.
type ID struct {
	Family Family `json:"family"`
	Member string `json:"member"` // the automator or type of provider, such as shell
	Type   string `json:"type"`   // one that the member declares, such as archive
	Name   string `json:"name"`
}

// String writes it as member/type/name, with the family before it where that is no automator.
func (id ID) String() string {
	s := id.Member + "/" + id.Type + "/" + id.Name
	if id.Family != ForAutomator {
		s = string(id.Family) + "/" + s
	}
	return s
}

// Path is String with colons between, as a part of addresses.
func (id ID) Path() string { return strings.ReplaceAll(id.String(), "/", ":") }

// ParseResourceID reads what String and Path write.
func ParseResourceID(s string) (ID, error) {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == ':' })
	if len(parts) == 3 {
		parts = append([]string{string(ForAutomator)}, parts...)
	}
	if len(parts) != 4 {
		return ID{}, &app.Error{Code: app.EInvalid, Field: "resource", Message: fmt.Sprintf("Invalid resource name %.100q.", s),
			Hint: "Use AUTOMATOR/TYPE/NAME, such as shell/archive/site."}
	}
	id := ID{Family: Family(parts[0]), Member: parts[1], Type: parts[2], Name: parts[3]}
	return id, id.check()
}

var resourceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

func (id ID) check() error {
	if id.Family != ForAutomator && id.Family != ForProvider {
		return &app.Error{Code: app.EInvalid, Field: "family", Message: fmt.Sprintf("Unknown resource family %.40q.", string(id.Family)),
			Hint: "Use automator or provider."}
	}
	for _, part := range []struct{ field, text string }{{"member", id.Member}, {"type", id.Type}, {"name", id.Name}} {
		if !resourceName.MatchString(part.text) {
			return &app.Error{Code: app.EInvalid, Field: part.field, Message: fmt.Sprintf("Invalid %[2]s %.100[1]q of a resource.", part.text, part.field),
				Hint: "Start with a letter or digit, and use at most 100 letters, digits, dots, dashes and underscores."}
		}
	}
	return nil
}

// State is the state of a version. Staging and recalling mark what the next sync makes of it.
type State string

// The states, which are Coopr's.
const (
	StateInactive State = "inactive" // not in use
	StateStaged   State = "staged"   // in use from the next sync on
	StateActive   State = "active"   // in use
	StateRecalled State = "recalled" // in use until the next sync
)

// StateOf is the state of a version that is or is not in use now, and after the next sync.
func StateOf(live, slated bool) State {
	switch {
	case live && slated:
		return StateActive
	case live:
		return StateRecalled
	case slated:
		return StateStaged
	}
	return StateInactive
}

// Live reports whether clusters that name no version get this one.
func (s State) Live() bool { return s == StateActive || s == StateRecalled }

// Info is a named archive or file, in numbered versions. What is active counts for clusters that name no version.
type Info struct {
	ID
	Tenant string                  `json:"-"`
	Format template.ResourceFormat `json:"format"`
	Mode   int                     `json:"mode,omitempty"` // permission bits of a file on nodes
	MadeAt time.Time               `json:"made_at"`
	Latest int64                   `json:"latest"`           // the newest version's number, also of one that was deleted
	Active int64                   `json:"active,omitempty"` // 0: none is in use
	Staged int64                   `json:"staged,omitempty"` // what is in use from the next sync on; 0: nothing changes, or it goes out of use
	Recall bool                    `json:"recall,omitempty"` // the next sync takes it out of use
	Size   int64                   `json:"size"`             // bytes of the versions that are not deleted
	// Versions are those of a single resource, newest first, deleted ones among them.
	Versions []Version `json:"versions,omitempty"`
}

// Version is one content of a resource. Its number is never given to another one.
type Version struct {
	Number int64     `json:"number"`
	Hash   string    `json:"hash"` // SHA-256 of the content, hex
	Size   int64     `json:"size"`
	State  State     `json:"state"`
	Source Source    `json:"source"`
	Note   string    `json:"note,omitempty"`
	By     string    `json:"by"`
	At     time.Time `json:"at"`
	// DeletedAt is set of one that was deleted; its content is kept for as long as a cluster may need it.
	DeletedAt time.Time `json:"deleted_at,omitzero"`
	Clusters  int       `json:"clusters,omitempty"` // that use this content now
	// Held are the provisioners that have the content on their disks.
	Held []CachedCopy `json:"held,omitempty"`
}

// Source says where a version comes from.
type Source struct {
	File string `json:"file,omitempty"` // the name of the file that was uploaded
	// Of what was read from git: where it is, without what may be secret, what was asked for, and what that was.
	Git    string `json:"git,omitempty"`
	Ref    string `json:"ref,omitempty"`
	Folder string `json:"folder,omitempty"`
	Commit string `json:"commit,omitempty"`
	// Secret names the tenant's secret that let us in: user:token, or a token.
	Secret string `json:"secret,omitempty"`
	// Trusted versions were pushed by a superadmin: they may be used on machines that are on Muster's own hosts.
	Trusted bool `json:"trusted,omitempty"`
}

// CachedCopy says that a provisioner has a content on its disk.
type CachedCopy struct {
	Provisioner string    `json:"provisioner"`
	At          time.Time `json:"at"` // since when it says so
}

// File is one entry of an archive, or the file that a resource is.
type File struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
	Mode int    `json:"mode"`
	Hash string `json:"hash,omitempty"` // SHA-256, hex; of a regular file
	Link string `json:"link,omitempty"` // of a symbolic link
}

// ParseResourceRef reads what catalogs say: name, name@version, type/name or type/name@version.
func ParseResourceRef(s string) (template.ResourceRef, error) {
	var r template.ResourceRef
	wrong := func(why string) (template.ResourceRef, error) {
		return r, &app.Error{Code: app.EInvalid, Reason: "resource", Message: fmt.Sprintf("Invalid resource name %.120q: %s", s, why),
			Hint: "Use NAME, TYPE/NAME or NAME@VERSION, such as site, archive/site or site@3."}
	}
	name, version, numbered := strings.Cut(s, "@")
	if numbered {
		n, err := strconv.ParseInt(version, 10, 64)
		if err != nil || n < 1 || version[0] == '+' || version[0] == '0' {
			return wrong("the part after @ must be a version number.")
		}
		r.Version = n
	}
	if kind, rest, both := strings.Cut(name, "/"); both {
		if r.Type, name = kind, rest; !resourceName.MatchString(kind) {
			return wrong("the part before / must be a type.")
		}
	}
	if r.Name = name; !resourceName.MatchString(name) {
		return wrong("a name must start with a letter or digit and have at most 100 letters, digits, dots, dashes and underscores.")
	}
	return r, nil
}

// Bounds of resources.
const (
	MaxResources      = 2000    // of one tenant
	maxActionRefs     = 20      // resources that one service action names
	maxCommonRefs     = 200     // resources that an action has without naming any
	MaxResourceFiles  = 50_000  // entries of an archive
	maxResourceNote   = 500     // letters
	MaxResourcePage   = 200     // resources on a page
	DefaultFileLimit  = 2 << 30 // bytes of one version
	DefaultStoreLimit = 20 << 30
)

// BlobStore keeps contents by name. Errors are *Error: ENotFound, ETransient, ECapacity, ECredentials.
type BlobStore interface {
	// Take reads all of r into a temporary place, and finds its hash on the way; more than limit bytes are ETooLarge, 0 is no
	// limit. Close what it returns. What breaks off leaves nothing.
	Take(ctx context.Context, r io.Reader, limit int64) (TakenBlob, error)
	// Fetch takes a git repository at a tag, branch or commit as a tar.gz of its files. The credential is user:token, "" for none.
	// The same commit returns the same bytes.
	Fetch(ctx context.Context, source Source, credential string, limit int64) (taken TakenBlob, commit string, err error)
	// Open returns a content from an offset on. ENotFound where it is not there. Anyone who reads checks the hash.
	Open(ctx context.Context, name string, from int64) (io.ReadCloser, error)
	// Delete removes a content; one that is not there is success.
	Delete(ctx context.Context, name string) error
	// List calls each for every content whose name begins so.
	List(ctx context.Context, prefix string, each func(name string, at time.Time) error) error
}

// TakenBlob is a content that was read and is not kept yet.
type TakenBlob interface {
	Hash() string // SHA-256, hex
	Size() int64
	// Files looks into it: EInvalid with what is wrong where an archive is none, or could not be unpacked safely.
	Files(ctx context.Context, format template.ResourceFormat, name string) ([]File, error)
	// Keep adds its name in the store, as a whole or not at all. One that has the name already is not written again.
	Keep(ctx context.Context, name string) error
	Close() error
}

// Filter chooses resources. Empty fields choose all.
type Filter struct {
	Family Family
	Member string
	Type   string
	Search string // a part of the name
	After  string // the cursor: the String of the last resource before
	Limit  int    // 0: a page of ordinary size
}

// Push is a version that comes.
type Push struct {
	ID
	Source Source
	Note   string
	Hash   string // where it is set, the content must have it
	Stage  bool   // it is staged at once
	// Filled in by the use case, as the member declares the type:
	Format template.ResourceFormat
	Mode   int
}

// Sync says what a sync makes, or would make, of a tenant's resources.
type Sync struct {
	Changes []VersionSwitch `json:"changes"`
}

// VersionSwitch is one resource whose version in use is another one after a sync; 0 is none.
type VersionSwitch struct {
	ID
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// Diff is how two versions differ.
type Diff struct {
	From    int64    `json:"from"`
	To      int64    `json:"to"`
	Same    int      `json:"same"` // entries that are alike
	Changes []Change `json:"changes"`
	More    int      `json:"more,omitempty"` // changes that are left out
}

// Change is one entry that differs; nil where a version does not have it.
type Change struct {
	Path   string `json:"path"`
	Before *File  `json:"before,omitempty"`
	After  *File  `json:"after,omitempty"`
}
