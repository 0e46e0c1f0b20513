package resource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"muster/app"
)

// mostText is how many bytes a resource can have that is used as a text.
const mostText = 64 << 10

// ProviderText returns a file for a type of provider as a text, and its name with the version: that in use where ref names none. The content is
// what was pushed, or an error.
func (a *Service) ProviderText(ctx context.Context, tenant, member, kind, ref string) (text, pinned string, err error) {
	r, err := ParseResourceRef(ref)
	if err != nil {
		return "", "", err
	}
	if r.Type != "" && r.Type != kind {
		return "", "", app.Errorf(app.EInvalid, "Resource %q has type %s, but a resource of type %s is needed.", ref, r.Type, kind)
	}
	id := ID{Family: ForProvider, Member: member, Type: kind, Name: r.Name}
	info, err := a.Store.ResourceInfo(ctx, tenant, id)
	if app.CodeOf(err) == app.ENotFound {
		e := app.Errorf(app.EInvalid, "Your tenant has no resource %s.", id)
		e.Hint = fmt.Sprintf("Push it: muster resource push %s FILE --stage, then muster resource sync.", id)
		return "", "", e
	}
	if err != nil {
		return "", "", err
	}
	at := slices.IndexFunc(info.Versions, func(v Version) bool {
		return v.DeletedAt.IsZero() && (r.Version == v.Number || r.Version == 0 && v.State.Live())
	})
	if at < 0 && r.Version != 0 {
		return "", "", app.Errorf(app.EInvalid, "Resource %s has no version %d.", id, r.Version)
	}
	if at < 0 {
		e := app.Errorf(app.EInvalid, "No version of resource %s is in use.", id)
		e.Hint = fmt.Sprintf("Name a version (%s@%d), or use muster resource stage and muster resource sync.", r.Name, info.Latest)
		return "", "", e
	}
	v := info.Versions[at]
	text, err = a.textOf(ctx, tenant, id, v)
	return text, fmt.Sprintf("%s@%d", r.Name, v.Number), err
}

func (a *Service) textOf(ctx context.Context, tenant string, id ID, v Version) (string, error) {
	if v.Size > mostText {
		return "", app.Errorf(app.EInvalid, "Resource %s@%d has %d bytes; texts can have %d.", id, v.Number, v.Size, mostText)
	}
	name, _, err := a.Contents.BlobName(ctx, tenant, v.Hash)
	if err != nil {
		return "", err
	}
	content, err := a.Blobs.Open(ctx, name, 0)
	if err != nil {
		return "", err
	}
	defer content.Close()
	b, err := io.ReadAll(io.LimitReader(content, mostText+1))
	if err != nil {
		return "", app.Errorf(app.ETransient, "resource %s@%d can't be read: %w", id, v.Number, err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != v.Hash {
		return "", app.Errorf(app.EInternal, "the content of resource %s@%d isn't what was pushed", id, v.Number)
	}
	if !utf8.Valid(b) {
		return "", app.Errorf(app.EInvalid, "Resource %s@%d isn't text in UTF-8.", id, v.Number)
	}
	return string(b), nil
}
