package resource

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// PushResource takes a new version of a resource, which comes to be with its first one. The content is read to its end before anything
// is kept of it. Where the newest version has the same content, that one is given.
func (a *Service) PushResource(ctx context.Context, actor app.Actor, p Push, r io.Reader) (Version, error) {
	if err := actor.Authorize("PushResource"); err != nil {
		return Version{}, err
	}
	p.Source = Source{File: cleanFileName(p.Source.File)}
	t, err := a.checkPush(ctx, actor, p)
	if err != nil {
		return Version{}, err
	}
	taken, err := a.Blobs.Take(ctx, r, a.ResourceLimits.File)
	if err != nil {
		return Version{}, err
	}
	defer taken.Close()
	return a.keepVersion(ctx, actor, p, t, taken)
}

// ImportResource takes a version from a git repository: its files at a tag, branch or commit, as an archive.
func (a *Service) ImportResource(ctx context.Context, actor app.Actor, p Push) (Version, error) {
	if err := actor.Authorize("ImportResource"); err != nil {
		return Version{}, err
	}
	t, err := a.checkPush(ctx, actor, p)
	if err != nil {
		return Version{}, err
	}
	if t.Format != FormatArchive {
		return Version{}, &app.Error{Code: app.EInvalid, Field: "type", Message: fmt.Sprintf("Content from git is an archive, but type %s is a single file.", p.Type)}
	}
	credential := ""
	if name := p.Source.Secret; name != "" {
		if err := app.CheckSecretName(name); err != nil {
			return Version{}, err
		}
		values, err := a.Store.SecretValues(ctx, actor.Tenant, []string{name}, a.Now())
		if err != nil {
			return Version{}, err
		}
		if credential = values[name]; credential == "" {
			return Version{}, &app.Error{Code: app.EInvalid, Field: "secret", Message: "Secret " + name + " doesn't exist in your tenant.", Hint: "Set it with muster secret set."}
		}
	}
	taken, commit, err := a.Blobs.Fetch(ctx, p.Source, credential, a.ResourceLimits.File)
	if err != nil {
		return Version{}, err
	}
	defer taken.Close()
	p.Source = Source{Git: redactGit(p.Source.Git), Ref: p.Source.Ref, Folder: p.Source.Folder, Secret: p.Source.Secret, Commit: commit}
	return a.keepVersion(ctx, actor, p, t, taken)
}

// Limits bound contents; 0 is no limit.
type Limits struct {
	File   int64 // bytes of one version
	Tenant int64 // bytes of all contents of a tenant that are kept
}

// errNoBlobs is of a server without a place for contents.
var errNoBlobs = &app.Error{Code: app.EInvalid, Reason: "no_blobs", Message: "This server has no storage for resources."}

func (a *Service) checkPush(ctx context.Context, actor app.Actor, p Push) (template.ResourceType, error) {
	if a.Blobs == nil {
		return template.ResourceType{}, errNoBlobs
	}
	t, err := a.resourceType(p.ID)
	if err != nil {
		return t, err
	}
	if p.Hash != "" && !IsHash(p.Hash) {
		return t, &app.Error{Code: app.EInvalid, Field: "sha256", Message: "SHA-256 must be 64 hex digits."}
	}
	if utf8.RuneCountInString(p.Note) > maxResourceNote || strings.ContainsFunc(p.Note, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }) {
		return t, &app.Error{Code: app.EInvalid, Field: "note", Message: fmt.Sprintf("Note must be at most %d characters, with no control characters.", maxResourceNote)}
	}
	if a.ResourceLimits.Tenant > 0 {
		// What is full already need not be sent for it.
		_, size, err := a.Contents.BlobsOf(ctx, actor.Tenant)
		if err != nil {
			return t, err
		}
		if size >= a.ResourceLimits.Tenant {
			e := OverStoreLimit(size, a.ResourceLimits.Tenant)
			e.Message = fmt.Sprintf("Your tenant's resources use %s, the whole quota.", humanize.Bytes(size))
			return t, e
		}
	}
	return t, nil
}

// OverStoreLimit says that a tenant's contents would be more than they may.
func OverStoreLimit(would, most int64) *app.Error {
	return &app.Error{Code: app.EQuota, Reason: "resource_quota", Field: "content",
		Message: fmt.Sprintf("Your tenant's resources would use %s; the quota is %s.", humanize.Bytes(would), humanize.Bytes(most)),
		Hint:    "Delete unused versions. Content that clusters may still need counts until they're deleted. The server's operator sets the quota with --resource-quota."}
}

// resourceType finds what the member declares of the type.
func (a *Service) resourceType(id ID) (template.ResourceType, error) {
	if err := id.check(); err != nil {
		return template.ResourceType{}, err
	}
	for _, m := range a.ResourceKinds {
		if m.Family != id.Family || m.Member != id.Member {
			continue
		}
		for _, t := range m.Types {
			if t.Name == id.Type {
				return t, nil
			}
		}
		names := make([]string, len(m.Types))
		for i, t := range m.Types {
			names[i] = t.Name
		}
		return template.ResourceType{}, &app.Error{Code: app.EInvalid, Field: "type", Message: fmt.Sprintf("%s %s has no resource type %q.", humanize.Upper(string(id.Family)), id.Member, id.Type),
			Hint: "It has " + humanize.And(names) + "."}
	}
	return template.ResourceType{}, &app.Error{Code: app.EInvalid, Field: "member", Message: fmt.Sprintf("No %s %q uses resources.", id.Family, id.Member),
		Hint: "Run muster resource types."}
}

// keepVersion looks into a content, keeps it and writes its version. Dying in between leaves at most an announced content, which is
// swept when no one has needed it for a while.
func (a *Service) keepVersion(ctx context.Context, actor app.Actor, p Push, t template.ResourceType, taken TakenBlob) (Version, error) {
	p.Source.Trusted = actor.Role == app.RoleSuperadmin
	if p.Hash != "" && !strings.EqualFold(p.Hash, taken.Hash()) {
		return Version{}, &app.Error{Code: app.EInvalid, Reason: "wrong_hash", Field: "sha256",
			Message: "The upload was altered in transit: the received SHA-256 is " + taken.Hash() + ".", Hint: "Upload again."}
	}
	if taken.Size() == 0 {
		return Version{}, &app.Error{Code: app.EInvalid, Field: "content", Message: "The content is empty."}
	}
	files, err := taken.Files(ctx, t.Format, p.Name)
	if err != nil {
		return Version{}, err
	}
	b := Blob{Hash: taken.Hash(), Size: taken.Size(), Files: files}
	name, err := a.Contents.AnnounceBlob(ctx, actor.Tenant, b, a.ResourceLimits.Tenant, a.Now())
	if err != nil {
		return Version{}, err
	}
	if err := a.fault("announced"); err != nil {
		return Version{}, err
	}
	if err := taken.Keep(ctx, name); err != nil {
		return Version{}, err
	}
	if err := a.fault("kept"); err != nil {
		return Version{}, err
	}
	p.Format, p.Mode = t.Format, t.Mode
	v, _, err := a.Store.AddResourceVersion(ctx, actor, p, b, name, a.Now())
	return v, err
}

// fault lets tests stop between two steps.
func (a *Service) fault(where string) error {
	if a.Faults == nil {
		return nil
	}
	return a.Faults(where)
}

func IsHash(s string) bool {
	return len(s) == 64 && !strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') && (r < 'A' || r > 'F') })
}

// cleanFileName keeps the last part of what a browser or program calls the file.
func cleanFileName(s string) string {
	s = path.Base("/" + strings.ReplaceAll(s, `\`, "/"))
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || r == 0x7f {
			return -1
		}
		return r
	}, s)
	if s == "/" || s == "." {
		return ""
	}
	if runes := []rune(s); len(runes) > 100 {
		s = string(runes[:100])
	}
	return s
}

// redactGit returns the address of a repository without what may be secret.
func redactGit(s string) string {
	if before, rest, ok := strings.Cut(s, "://"); ok {
		host, tail, slash := strings.Cut(rest, "/")
		if _, h, user := cutLast(host, "@"); user {
			host = h
		}
		tail, _, _ = strings.Cut(tail, "?")
		tail, _, _ = strings.Cut(tail, "#")
		if slash {
			tail = "/" + tail
		}
		return before + "://" + host + tail
	}
	return s
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Types returns what members of families declare, by family and member.
func (a *Service) ResourceTypes(_ context.Context, actor app.Actor) ([]Types, error) {
	if err := actor.Authorize("ResourceTypes"); err != nil {
		return nil, err
	}
	return slices.Clone(a.ResourceKinds), nil
}
