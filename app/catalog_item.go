package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	usedByNamed  = 100  // entries that refer to one, as far as they are named
	historyShown = 1000 // versions of an entry
)

// CatalogItems lists entries of the tenant's catalog; kind "" is all. Query narrows by name, label or description.
func (a *App) CatalogItems(ctx context.Context, actor Actor, kind, query string) ([]CatalogItem, error) {
	if err := actor.may("CatalogItems"); err != nil {
		return nil, err
	}
	if kind != "" {
		if err := (CatalogKey{Kind: kind}).checkKind(); err != nil {
			return nil, err
		}
	}
	v, err := a.catalogView(ctx, actor)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(strings.ToLower(query))
	items := []CatalogItem{}
	for _, k := range v.keys() {
		if kind != "" && k.Kind != kind {
			continue
		}
		item := v.item(k)
		text := strings.ToLower(item.Name + " " + item.Label + " " + item.Description)
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			items = append(items, item)
		}
	}
	return items, nil
}

// CatalogSource gives one entry with its text; ENotFound where there is none.
func (a *App) CatalogSource(ctx context.Context, actor Actor, k CatalogKey) (CatalogSource, error) {
	if err := actor.may("CatalogSource"); err != nil {
		return CatalogSource{}, err
	}
	if err := k.checkKind(); err != nil {
		return CatalogSource{}, err
	}
	v, err := a.catalogView(ctx, actor)
	if err != nil {
		return CatalogSource{}, err
	}
	if own, ok := v.own[k]; ok {
		return CatalogSource{CatalogItem: v.item(k), Text: own.Text, Revision: v.revisionText()}, nil
	}
	if !v.has(v.base, k) {
		var names []string
		for _, other := range v.keys() {
			if other.Kind == k.Kind {
				names = append(names, other.Name)
			}
		}
		e := &Error{Code: ENotFound, Message: fmt.Sprintf("There is no %s %.70q in the catalog.", k.Kind, k.Name)}
		if near := Nearest(k.Name, names); near != "" {
			e.Hint = "Did you mean " + near + "?"
		}
		return CatalogSource{}, e
	}
	s := CatalogSource{CatalogItem: v.item(k), Origin: v.base.about(k).Origin.String(), Revision: v.revisionText()}
	if a.Reader != nil {
		s.Text, _ = a.Reader.Write(v.base, k)
	}
	return s, nil
}

// CatalogHistory gives versions of an own entry, newest first (none: empty).
func (a *App) CatalogHistory(ctx context.Context, actor Actor, k CatalogKey) ([]CatalogRevision, error) {
	if err := actor.may("CatalogHistory"); err != nil {
		return nil, err
	}
	if err := k.checkKind(); err != nil {
		return nil, err
	}
	return a.Store.OwnCatalogHistory(ctx, actor.Tenant, k, historyShown)
}

// CatalogFamilies gives the descriptors for forms.
func (a *App) CatalogFamilies(_ context.Context, actor Actor) (Families, error) {
	if err := actor.may("CatalogFamilies"); err != nil {
		return Families{}, err
	}
	if a.Reader == nil {
		return Families{}, errNoOwnCatalog
	}
	return a.Reader.Families(), nil
}

// ExportCatalog gives own entries as files named kind/name.yaml; all: also the installation's.
func (a *App) ExportCatalog(ctx context.Context, actor Actor, all bool) ([]CatalogFile, error) {
	if err := actor.may("ExportCatalog"); err != nil {
		return nil, err
	}
	v, err := a.catalogView(ctx, actor)
	if err != nil {
		return nil, err
	}
	files := []CatalogFile{}
	for _, k := range v.keys() {
		own, is := v.own[k]
		text := own.Text
		if !is {
			if !all || a.Reader == nil {
				continue
			}
			if text, is = a.Reader.Write(v.base, k); !is {
				continue
			}
		}
		files = append(files, CatalogFile{Name: k.Kind + "/" + k.Name + ".yaml", Text: text})
	}
	return files, nil
}

var errNoOwnCatalog = &Error{Code: EInvalid, Reason: "no_own_catalog", Message: "This installation lets tenants have no entries of their own."}

func (k CatalogKey) checkKind() error {
	if slices.Contains(CatalogKinds, k.Kind) {
		return nil
	}
	e := &Error{Code: EInvalid, Field: "kind", Message: fmt.Sprintf("There is no kind %.40q of catalog entries.", k.Kind), Hint: "One of " + strings.Join(CatalogKinds, ", ") + "."}
	if near := Nearest(k.Kind, CatalogKinds); near != "" {
		e.Hint = "Did you mean " + near + "?"
	}
	return e
}

// String gives "kind name".
func (k CatalogKey) String() string { return k.Kind + " " + k.Name }

func compareKeys(a, b CatalogKey) int {
	return cmp.Or(cmp.Compare(slices.Index(CatalogKinds, a.Kind), slices.Index(CatalogKinds, b.Kind)), strings.Compare(a.Name, b.Name))
}

// catalogView is a tenant's catalog as its admins look at it.
type catalogView struct {
	base, catalog *Catalog
	own           map[CatalogKey]CatalogRevision
	revision      int64
	use           CatalogUse
	users         map[CatalogKey][]CatalogKey
}

func (a *App) catalogView(ctx context.Context, actor Actor) (*catalogView, error) {
	v := &catalogView{base: a.Deps.Catalog(), own: map[CatalogKey]CatalogRevision{}}
	list, revision, err := a.Store.OwnCatalog(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	v.revision = revision
	for _, r := range list {
		v.own[r.CatalogKey] = r
	}
	if v.catalog, err = a.catalogOf(ctx, actor.Tenant); err != nil {
		return nil, err
	}
	v.use, err = a.Store.CatalogUse(ctx, actor.Tenant)
	v.users = v.catalog.references()
	return v, err
}

func (v *catalogView) revisionText() string { return strconv.FormatInt(v.revision, 10) }

// keys are all entries, in the order in which people look at them; own ones that cannot be read among them.
func (v *catalogView) keys() []CatalogKey {
	all := map[CatalogKey]bool{}
	for k := range v.own {
		all[k] = true
	}
	for _, k := range v.catalog.keys() {
		all[k] = true
	}
	return slices.SortedFunc(maps.Keys(all), compareKeys)
}

func (v *catalogView) has(c *Catalog, k CatalogKey) bool { return c.entry(k) != nil }

func (v *catalogView) item(k CatalogKey) CatalogItem {
	item := CatalogItem{CatalogKey: k}
	if about := v.catalog.about(k); about != nil {
		item.Label, item.Description = about.Label, about.Description
	}
	switch k.Kind {
	case KindTemplate:
		if t := v.catalog.Written[k.Name]; t != nil {
			item.State, item.Partial = t.State, t.Partial
		}
		item.Clusters = v.use.Templates[k.Name]
	case KindProvider:
		if p := v.catalog.Providers[k.Name]; p != nil {
			item.Type = p.Type
		}
		item.Clusters = v.use.Providers[k.Name]
	}
	if own, ok := v.own[k]; ok {
		item.Own, item.Number, item.At, item.By, item.Replaces = true, own.Number, own.At, own.By, v.has(v.base, k)
	}
	for _, user := range v.users[k] {
		if len(item.UsedBy) == usedByNamed {
			break
		}
		item.UsedBy = append(item.UsedBy, user.String())
	}
	return item
}

// keys are all entries of a catalog, in no order.
func (c *Catalog) keys() (list []CatalogKey) {
	for n := range c.Templates {
		if c.Written[n] == nil {
			list = append(list, CatalogKey{KindTemplate, n})
		}
	}
	for n := range c.Written {
		list = append(list, CatalogKey{KindTemplate, n})
	}
	for n := range c.Services {
		list = append(list, CatalogKey{KindService, n})
	}
	for n := range c.Images {
		list = append(list, CatalogKey{KindImage, n})
	}
	for n := range c.Hardware {
		list = append(list, CatalogKey{KindHardware, n})
	}
	for n := range c.Providers {
		list = append(list, CatalogKey{KindProvider, n})
	}
	return list
}

// entry gives an entry as it is written; nil where there is none.
func (c *Catalog) entry(k CatalogKey) any {
	switch k.Kind {
	case KindTemplate:
		if t := c.Written[k.Name]; t != nil {
			return t
		}
		if t := c.Templates[k.Name]; t != nil {
			return t
		}
	case KindService:
		if s := c.Services[k.Name]; s != nil {
			return s
		}
	case KindImage:
		if i := c.Images[k.Name]; i != nil {
			return i
		}
	case KindHardware:
		if h := c.Hardware[k.Name]; h != nil {
			return h
		}
	case KindProvider:
		if p := c.Providers[k.Name]; p != nil {
			return p
		}
	}
	return nil
}

func (c *Catalog) about(k CatalogKey) *About {
	switch e := c.entry(k).(type) {
	case *Template:
		return &e.About
	case *Service:
		return &e.About
	case *ImageType:
		return &e.About
	case *HardwareType:
		return &e.About
	case *ProviderSpec:
		return &e.About
	}
	return nil
}

// references gives by entry which others name it, in order.
func (c *Catalog) references() map[CatalogKey][]CatalogKey {
	by := map[CatalogKey][]CatalogKey{}
	for _, user := range slices.SortedFunc(slices.Values(c.keys()), compareKeys) {
		seen := map[CatalogKey]bool{user: true}
		for _, k := range c.named(user) {
			if k.Name != "" && !seen[k] {
				seen[k] = true
				by[k] = append(by[k], user)
			}
		}
	}
	return by
}

// named gives the entries that one names.
func (c *Catalog) named(k CatalogKey) (list []CatalogKey) {
	add := func(kind string, names ...string) {
		for _, n := range names {
			list = append(list, CatalogKey{kind, n})
		}
	}
	switch e := c.entry(k).(type) {
	case *Template:
		add(KindTemplate, append(slices.Clone(e.Includes), e.Extends, e.ReplacedBy)...)
		add(KindService, slices.Concat(e.Defaults.Services, e.Compatibility.Services, slices.Collect(maps.Keys(e.Constraints.Services)))...)
		for _, groups := range [][][]string{e.Constraints.MustCoexist, e.Constraints.CantCoexist, e.Constraints.CantCoexistPairs} {
			add(KindService, slices.Concat(groups...)...)
		}
		for _, r := range e.Constraints.Ratios {
			add(KindService, r.Service, r.Of)
		}
		for _, h := range e.Hooks {
			add(KindService, h.Services...)
		}
		add(KindHardware, append(slices.Concat(e.Compatibility.Hardware, slices.Collect(maps.Keys(e.Constraints.Hardware))), e.Defaults.Hardware)...)
		for name, others := range e.FallbackHardware {
			add(KindHardware, append(slices.Clone(others), name)...)
		}
		add(KindImage, append(slices.Clone(e.Compatibility.Images), e.Defaults.Image)...)
		for _, s := range e.Constraints.Services {
			add(KindHardware, s.Hardware...)
			add(KindImage, s.Images...)
		}
		add(KindProvider, e.Defaults.Provider)
	case *Service:
		add(KindService, slices.Concat(e.Conflicts, e.Install.Requires, e.Install.Uses, e.Runtime.Requires, e.Runtime.Uses)...)
	case *HardwareType:
		add(KindProvider, slices.Collect(maps.Keys(e.Providers))...)
	case *ImageType:
		add(KindProvider, slices.Collect(maps.Keys(e.Providers))...)
	}
	return list
}

// Catalog gives what is published. Every signed-in person may read it; it shows no settings of providers, and drafts to admins only.
func (a *App) Catalog(ctx context.Context, actor Actor) (*Catalog, error) {
	if err := actor.may("Catalog"); err != nil {
		return nil, err
	}
	c, err := a.catalogOf(ctx, actor.Tenant)
	if err != nil {
		return nil, err
	}
	return c.For(actor), nil
}
