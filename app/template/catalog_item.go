package template

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/humanize"
)

func (k CatalogKey) CheckKind() error {
	if slices.Contains(CatalogKinds, k.Kind) {
		return nil
	}
	e := &app.Error{Code: app.EInvalid, Field: "kind", Message: fmt.Sprintf("Unknown kind of catalog entry %.40q.", k.Kind), Hint: "Use " + humanize.Or(CatalogKinds) + "."}
	if near := humanize.Nearest(k.Kind, CatalogKinds); near != "" {
		e.Hint = "Did you mean " + near + "?"
	}
	return e
}

// String returns "kind name".
func (k CatalogKey) String() string { return k.Kind + " " + k.Name }

func CompareKeys(a, b CatalogKey) int {
	return cmp.Or(cmp.Compare(slices.Index(CatalogKinds, a.Kind), slices.Index(CatalogKinds, b.Kind)), strings.Compare(a.Name, b.Name))
}

// Keys are all entries of a catalog, in no order.
func (c *Catalog) Keys() (list []CatalogKey) {
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

// Entry returns an entry as it is written; nil where there is none.
func (c *Catalog) Entry(k CatalogKey) any {
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

func (c *Catalog) About(k CatalogKey) *About {
	switch e := c.Entry(k).(type) {
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

// References returns by entry which others name it, in order.
func (c *Catalog) References() map[CatalogKey][]CatalogKey {
	by := map[CatalogKey][]CatalogKey{}
	for _, user := range slices.SortedFunc(slices.Values(c.Keys()), CompareKeys) {
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

// named returns the entries that one names.
func (c *Catalog) named(k CatalogKey) (list []CatalogKey) {
	add := func(kind string, names ...string) {
		for _, n := range names {
			list = append(list, CatalogKey{kind, n})
		}
	}
	switch e := c.Entry(k).(type) {
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
		for _, p := range e.Places {
			add(KindHardware, p.Hardware)
			add(KindProvider, p.Provider)
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
