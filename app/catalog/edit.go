package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"muster/app"
	"muster/app/humanize"
	"muster/app/template"
)

// changesShown is how many fields of an entry a report names.
const changesShown = 200

// describe says what happens to each entry.
func (a *Service) describe(ctx context.Context, actor app.Actor, d *catalogDraft) error {
	if len(d.Entries) == 0 {
		return nil
	}
	use, err := a.Uses.CatalogUse(ctx, actor.Tenant)
	if err != nil {
		return err
	}
	users := d.Before.References()
	for _, e := range d.Entries {
		edit := Edit{CatalogKey: e.CatalogKey, Act: "change", Number: e.Number}
		_, had := d.own[e.CatalogKey]
		switch {
		case e.Deleted:
			edit.Act = "remove"
		case !had:
			edit.Act = "add"
		}
		if edit.Fields, err = FieldChanges(d.Before.Entry(e.CatalogKey), d.After.Entry(e.CatalogKey)); err != nil {
			return err
		}
		edit.Warnings = d.warnings(e, use, users[e.CatalogKey])
		d.Report.Changes = append(d.Report.Changes, edit)
	}
	return nil
}

// warnings are what people would want to know of a change.
func (d *catalogDraft) warnings(e Revision, use Use, users []template.CatalogKey) (list []string) {
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	if d.comments[e.CatalogKey] {
		say("Only comments differ. Clusters aren't affected.")
		return list
	}
	_, had := d.own[e.CatalogKey]
	under := d.Base.Entry(e.CatalogKey) != nil
	switch {
	case e.Deleted && under:
		say("The shared catalog's %s is used again.", e.CatalogKey)
	case !e.Deleted && !had && under:
		say("Overrides the shared catalog's %s.", e.CatalogKey)
	}
	if n := use.Templates[e.Name]; e.Kind == template.KindTemplate && n > 0 {
		if e.Deleted && !under {
			say("%s won't change, but can no longer be upgraded.", humanize.CountUpTo(n, MaxCounted, "existing cluster"))
		} else {
			say("%s won't change until upgraded.", humanize.CountUpTo(n, MaxCounted, "existing cluster"))
		}
	}
	if n := use.Providers[e.Name]; e.Kind == template.KindProvider && n > 0 {
		say("Used by %s.", humanize.CountUpTo(n, MaxCounted, "cluster"))
	}
	if len(users) > 0 && (e.Deleted || had || under) {
		const named = 10
		var names []string
		for _, u := range users[:min(len(users), named)] {
			names = append(names, u.String())
		}
		if more := len(users) - named; more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		say("Used by %s.", humanize.And(names))
	}
	return list
}

// FieldChanges compares two states of an entry, nil where there is none, in order of path.
func FieldChanges(before, after any) ([]FieldChange, error) {
	var texts [2]map[string]string
	for i, v := range []any{before, after} {
		texts[i] = map[string]string{}
		if v == nil {
			continue
		}
		var err error
		if texts[i], err = template.Flatten(template.CatalogText(v)); err != nil {
			return nil, err
		}
		template.InWords(texts[i], "")
	}
	paths := maps.Clone(texts[0])
	maps.Copy(paths, texts[1])
	var list []FieldChange
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, is := texts[0][path], texts[1][path]
		if was != is && path != "name" && path != "tenant" {
			list = append(list, FieldChange{Path: path, Before: was, After: is})
		}
	}
	list = append(list, settingChanges(before, after)...)
	return list[:min(len(list), changesShown)], nil
}

// settingChanges names the settings of a provider that are other than they were, without their values.
func settingChanges(before, after any) (list []FieldChange) {
	settings := func(v any) map[string]any {
		if p, ok := v.(*template.ProviderSpec); ok {
			return p.Settings
		}
		return nil
	}
	was, is := settings(before), settings(after)
	for _, name := range slices.Sorted(maps.Keys(template.MergeConfig(was, is))) {
		x, had := was[name]
		y, has := is[name]
		if had == has && template.CatalogText(x) == template.CatalogText(y) {
			continue
		}
		c := FieldChange{Path: "settings." + name}
		if had {
			c.Before = "(a value)"
		}
		if has {
			c.After = "(another value)"
		}
		if !had {
			c.After = "(a value)"
		}
		list = append(list, c)
	}
	return list
}
