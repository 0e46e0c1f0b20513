package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Kinds of catalog entries whose versions are kept.
const (
	KindHardware = "hardware"
	KindImage    = "image"
	KindProvider = "provider" // without its settings, which may be secret
	KindService  = "service"
	KindTemplate = "template" // as it is made whole; parts as they are written
)

// CatalogVersion is a state in which a catalog entry was published. Number counts from 1 for each entry.
type CatalogVersion struct {
	Kind   string    `json:"kind"`
	Name   string    `json:"name"`
	Number int       `json:"number"`
	Hash   string    `json:"hash"` // SHA-256 of Text, in hex
	At     time.Time `json:"at"`
	By     string    `json:"by"` // the server that first published it
	Text   string    `json:"-"`  // JSON
}

// CatalogStore keeps every state in which catalog entries were published.
type CatalogStore interface {
	// RecordCatalog writes those of the versions that are not what was last written of their entries, with their numbers. It gives
	// how many.
	RecordCatalog(ctx context.Context, versions []CatalogVersion) (int, error)
	// CatalogVersions gives those of an entry, newest first, with text; none is an empty list.
	CatalogVersions(ctx context.Context, kind, name string) ([]CatalogVersion, error)
	// CatalogHashes gives them without text.
	CatalogHashes(ctx context.Context, kind, name string) ([]CatalogVersion, error)
}

// Digest tells states of the template apart. It is hex, 64 digits.
func (t *Template) Digest() string { return digest(t.text()) }

func (t *Template) text() string { return catalogText(t) }

func catalogText(entry any) string {
	b, err := json.Marshal(entry)
	if err != nil {
		panic("app: a catalog holds only plain values: " + err.Error())
	}
	return string(b)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// RecordCatalog keeps what a server has just published, as far as it was not kept before. It gives how many entries are new or
// have changed.
func (a *App) RecordCatalog(ctx context.Context, server string) (int, error) {
	return a.Store.RecordCatalog(ctx, a.Deps.Catalog().versions(server, a.Now()))
}

// versions are all entries, in the order of kinds and names.
func (c *Catalog) versions(by string, at time.Time) (list []CatalogVersion) {
	add := func(kind, name string, entry any) {
		text := catalogText(entry)
		list = append(list, CatalogVersion{Kind: kind, Name: name, Hash: digest(text), Text: text, At: at, By: by})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Hardware)) {
		add(KindHardware, name, c.Hardware[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Images)) {
		add(KindImage, name, c.Images[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Providers)) {
		add(KindProvider, name, c.Providers[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Services)) {
		add(KindService, name, c.Services[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Templates)) {
		add(KindTemplate, name, c.Templates[name])
	}
	for _, name := range slices.Sorted(maps.Keys(c.Written)) {
		if t := c.Written[name]; t.Partial {
			add(KindTemplate, name, t)
		}
	}
	return list
}

// TemplateVersion is a version of a template that somebody looks at.
type TemplateVersion struct {
	CatalogVersion
	// Template is what it said. What is not published any more may be of a form that this version of Muster does not know whole.
	Template Template `json:"template"`
	// Stands tells that the catalog says so now.
	Stands bool `json:"stands"`
}

// TemplateVersions gives all versions of a template, newest first: to all but admins those that were no drafts. ENotFound where
// there never was such a template.
func (a *App) TemplateVersions(ctx context.Context, actor Actor, name string) ([]TemplateVersion, error) {
	if err := actor.may("TemplateVersions"); err != nil {
		return nil, err
	}
	return a.templateVersions(ctx, actor, name)
}

func (a *App) templateVersions(ctx context.Context, actor Actor, name string) ([]TemplateVersion, error) {
	c, err := a.catalogOf(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	kept, err := a.Store.TemplateHistory(ctx, actor.Tenant, name, true)
	if err != nil {
		return nil, err
	}
	now := c.Templates[name]
	if now == nil {
		now = c.Written[name]
	}
	list := make([]TemplateVersion, 0, len(kept))
	for _, k := range kept {
		v := TemplateVersion{CatalogVersion: k}
		if err := json.Unmarshal([]byte(k.Text), &v.Template); err != nil {
			return nil, fmt.Errorf("version %d of template %s: %w", k.Number, name, err)
		}
		if v.Template.State == TemplateDraft && !actor.seesDrafts() {
			continue
		}
		v.Stands = now != nil && len(list) == 0 && now.Digest() == k.Hash
		list = append(list, v)
	}
	if len(list) == 0 {
		return nil, c.For(actor).noTemplate(name)
	}
	return list, nil
}

// TemplateChanges tells how one version of a template differs from another, in order of path. To 0 is the newest, from 0 the one
// before to.
func (a *App) TemplateChanges(ctx context.Context, actor Actor, name string, from, to int) (TemplateDiff, error) {
	if err := actor.may("TemplateChanges"); err != nil {
		return TemplateDiff{}, err
	}
	all, err := a.templateVersions(ctx, actor, name)
	if err != nil {
		return TemplateDiff{}, err
	}
	if to == 0 {
		to = all[0].Number
	}
	if from == 0 {
		from = max(to-1, 1)
	}
	d := TemplateDiff{Name: name, From: from, To: to, Changes: []ValueChange{}}
	var texts [2]map[string]string
	for i, number := range []int{from, to} {
		at := slices.IndexFunc(all, func(v TemplateVersion) bool { return v.Number == number })
		if at < 0 {
			return d, &Error{Code: ENotFound, Field: []string{"from", "to"}[i], Message: fmt.Sprintf("Template %s has no version %d.", name, number),
				Hint: fmt.Sprintf("The newest is %d.", all[0].Number)}
		}
		if texts[i], err = flatten(all[at].Text); err != nil {
			return d, err
		}
		inWords(texts[i], "")
	}
	paths := maps.Clone(texts[0])
	maps.Copy(paths, texts[1])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if before, after := texts[0][path], texts[1][path]; before != after {
			d.Changes = append(d.Changes, ValueChange{Path: path, Before: before, After: after})
		}
	}
	return d, nil
}

// TemplateDiff is how two versions of a template differ.
type TemplateDiff struct {
	Name    string        `json:"name"`
	From    int           `json:"from"`
	To      int           `json:"to"`
	Changes []ValueChange `json:"changes" nullable:"false"`
}

// flatten gives the values of a JSON text by path. Lists of plain values are one value, since their places mean nothing; other
// lists are told apart by the names in them, or else by place.
func flatten(text string) (map[string]string, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("a kept catalog entry: %w", err)
	}
	out := map[string]string{}
	flattenInto(out, "", v)
	return out, nil
}

func flattenInto(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			if path != "" {
				key = path + "." + key
			}
			flattenInto(out, key, x)
		}
	case []any:
		if !slices.ContainsFunc(v, func(x any) bool { _, is := x.(map[string]any); return is }) {
			out[path] = catalogText(v)
			return
		}
		for i, x := range v {
			name := fmt.Sprint(i)
			if m, ok := x.(map[string]any); ok && m["name"] != nil {
				name = fmt.Sprint(m["name"])
			}
			flattenInto(out, fmt.Sprintf("%s[%s]", path, name), x)
		}
	case string:
		out[path] = v
	default:
		out[path] = catalogText(v)
	}
}

// MadeFrom says from which version of its template a cluster was made, and whether there is a newer one.
type MadeFrom struct {
	Number int  `json:"number,omitempty"` // 0: not known
	Latest int  `json:"latest,omitempty"` // that the actor may see; 0: not known
	Newer  bool `json:"newer,omitempty"`  // the template says something else by now
	Gone   bool `json:"gone,omitempty"`   // the catalog has no such template any more
	// Warnings are those of the template as it is now, such as that it is deprecated.
	Warnings []string `json:"warnings,omitempty"`
}

// madeFrom gives nil for clusters of which it is not known.
func (a *App) madeFrom(ctx context.Context, actor Actor, template, hash string) (*MadeFrom, error) {
	if hash == "" {
		return nil, nil
	}
	c, err := a.catalogOf(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	kept, err := a.Store.TemplateHistory(ctx, actor.Tenant, template, false)
	if err != nil {
		return nil, err
	}
	m := &MadeFrom{}
	for _, k := range kept { // newest first: what came back has the number that it had last
		if k.Hash == hash && m.Number == 0 {
			m.Number = k.Number
		}
	}
	t := c.For(actor).Templates[template]
	if t == nil {
		m.Gone = true
		return m, nil
	}
	now := t.Digest()
	m.Newer, m.Warnings = now != hash, t.Warnings()
	for _, k := range kept {
		if k.Hash == now && m.Latest == 0 {
			m.Latest = k.Number
		}
	}
	return m, nil
}
