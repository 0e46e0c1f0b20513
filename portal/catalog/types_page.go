package catalog

import (
	"slices"
	"strings"

	"muster/app/family"
	"muster/app/template"
)

// The families that have types.
const (
	familyProvider  = "provider"
	familyAutomator = "automator"
)

func familyTitle(of string) string {
	if of == familyAutomator {
		return "Automator"
	}
	return "Provider"
}

// TypeShow is the page of a type of provider or automator.
type TypeShow struct {
	Family string
	family.Descriptor
}

// typeField is a field with where it's set.
type typeField struct {
	family.Field
	Where string
}

// fields are all fields, with where entries set them.
func (s TypeShow) fields() (all []typeField) {
	first := "account"
	if s.Family == familyAutomator {
		first = "action"
	}
	for _, group := range []struct {
		where  string
		fields []family.Field
	}{{first, s.Fields}, {"hardware", s.FlavorFields}, {"image", s.ImageFields}} {
		for _, f := range group.fields {
			if i := slices.IndexFunc(all, func(x typeField) bool { return x.Name == f.Name }); i >= 0 {
				all[i].Where += ", " + group.where
				continue
			}
			all = append(all, typeField{f, group.where})
		}
	}
	return all
}

// format is what a field's value looks like: "secret text, required".
func (f typeField) format() string {
	text := map[family.FieldType]string{family.FieldText: "text", family.FieldLines: "text of several lines", family.FieldInt: "whole number",
		family.FieldBool:   "true or false",
		family.FieldChoice: strings.Join(f.Options, ", "), family.FieldList: "list"}[f.Kind()]
	if f.Kind() == family.FieldChoice {
		text = "one of " + text
	}
	if f.Secret {
		text = "secret " + text
	}
	if f.Required {
		text += ", required"
	}
	return text
}

// by is who can set a field.
func (f typeField) by() string {
	switch f.SetBy {
	case family.SetByTenant:
		return "tenants"
	case family.SetByAccountOwner:
		return "owner of the account"
	}
	return "shared catalog"
}

// can lists what machines of a type can do beyond being created and deleted.
func (s TypeShow) can() string {
	var all []string
	if s.Sleeps {
		all = append(all, "sleep")
	}
	for _, x := range []struct {
		can  bool
		name string
	}{{s.Firewalls, "firewalls"}, {s.Volumes, "volumes"}, {s.VolumeSnapshots, "volume snapshots"}, {s.Bakes, "baked images"}, {s.Host, "machines on Muster's own host"}} {
		if x.can {
			all = append(all, x.name)
		}
	}
	if len(all) == 0 {
		return "none"
	}
	return strings.Join(all, ", ")
}

func resourceFormat(r template.ResourceType) string {
	if r.Format == "archive" {
		return "archive: tar, tar.gz or zip"
	}
	return string(r.Format)
}
