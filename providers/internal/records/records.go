package records

import (
	"context"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
)

// Set is all that a name has of one type.
type Set struct {
	Name   string // whole, such as web-1.example.org; in small letters and without a dot at its end
	Type   string
	Values []string
	// Routed tells of a set that does more than lead to its values, such as an alias or one of several that are weighed against each other. None of ours does.
	Routed bool
}

// Zone is a zone as its cloud keeps it. Names are whole.
type Zone interface {
	// Sets returns what the zone has of a type, or by a name, or both; "" is every one. None is an empty list and no error.
	Sets(ctx context.Context, name, kind string) ([]Set, error)
	// Write has a name have just these values of a type, whatever it had before.
	Write(ctx context.Context, s Set) error
	// Remove takes all of a type from a name; what is not there is success.
	Remove(ctx context.Context, name, kind string) error
}

// Batcher is a Zone that makes several changes at once: all of them, or none. Without it, they are made one after the other.
type Batcher interface {
	Zone
	// Change has each of the names have just these values of the type, as Write does; without values, nothing of it is left, as with Remove.
	Change(ctx context.Context, all []Set) error
}

// change makes changes, in one batch where the zone takes that.
func change(ctx context.Context, z Zone, all []Set) error {
	if b, ok := z.(Batcher); ok && len(all) > 0 {
		return b.Change(ctx, all)
	}
	for _, s := range all {
		var err error
		if len(s.Values) == 0 {
			err = z.Remove(ctx, s.Name, s.Type)
		} else {
			err = z.Write(ctx, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Keep has a machine's name lead to its addresses, and to nothing else. Names that its intent had before go. Doing it again changes nothing.
// EConflict where the name
// is someone else's.
func Keep(ctx context.Context, z Zone, zone string, m family.Machine) error {
	name := Plain(m.Hostname)
	if !family.InZone(name, zone) {
		return app.Errorf(app.EInvalid, "%s isn't in zone %s.", name, zone)
	}
	text, err := claim(m.Tags)
	if err != nil {
		return err
	}
	claims, err := claimsOf(ctx, z, map[string]string{family.TagInstallation: m.Tags[family.TagInstallation], family.TagIntent: m.Tags[family.TagIntent]})
	if err != nil {
		return err
	}
	have, err := z.Sets(ctx, name, "")
	if err != nil {
		return err
	}
	beside, err := z.Sets(ctx, claimPrefix+name, typeTXT)
	if err != nil {
		return err
	}
	if err := free(name, m.Tags, have, beside); err != nil {
		return err
	}
	var all []Set
	for _, old := range slices.Sorted(maps.Keys(claims)) {
		if old != name {
			all = append(all, without(old)...)
		}
	}
	if len(beside) == 0 || !slices.Equal(beside[0].Values, []string{text}) {
		all = append(all, Set{Name: claimPrefix + name, Type: typeTXT, Values: []string{text}})
	}
	wanted := addresses(m)
	for _, kind := range []string{typeA, typeAAAA} {
		i := slices.IndexFunc(have, func(s Set) bool { return s.Type == kind })
		switch at := wanted[kind]; {
		case at == "" && i >= 0:
			all = append(all, Set{Name: name, Type: kind})
		case at != "" && (i < 0 || !slices.Equal(have[i].Values, []string{at})):
			all = append(all, Set{Name: name, Type: kind, Values: []string{at}})
		}
	}
	return change(ctx, z, all)
}

// free reports whether a name may be ours: it is, or it has nothing yet.
func free(name string, tags map[string]string, have, beside []Set) error {
	foreign := func(what string) error {
		e := app.Errorf(app.EConflict, "The zone already has %s for %s that belongs to something else.", what, name)
		e.Hint = "Remove it, or choose another DNS suffix for the cluster."
		return e
	}
	mine := false
	for _, s := range beside {
		_, of := ours(s)
		if of[family.TagInstallation] != tags[family.TagInstallation] || len(s.Values) != 1 {
			return foreign("a TXT record " + s.Name)
		}
		mine = true
	}
	for _, s := range have {
		if s.Type == typeCNAME || (!mine || s.Routed) && (s.Type == typeA || s.Type == typeAAAA) {
			return foreign("a record of type " + s.Type)
		}
	}
	return nil
}

// claimsOf returns the names that are claimed with all of the tags, with what is claimed.
func claimsOf(ctx context.Context, z Zone, tags map[string]string) (map[string]map[string]string, error) {
	all, err := z.Sets(ctx, "", typeTXT)
	out := map[string]map[string]string{}
	for _, s := range all {
		if name, of := ours(s); of != nil && carries(of, tags) {
			out[name] = of
		}
	}
	return out, err
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// without takes what a claimed name has. The claim goes last: it is what leads to the others.
func without(name string) []Set {
	return []Set{{Name: name, Type: typeA}, {Name: name, Type: typeAAAA}, {Name: claimPrefix + name, Type: typeTXT}}
}

// Drop removes the records of a machine that is deleted.
func Drop(ctx context.Context, z Zone, tags map[string]string) error {
	if tags[family.TagIntent] == "" {
		return nil
	}
	claims, err := claimsOf(ctx, z, map[string]string{family.TagInstallation: tags[family.TagInstallation], family.TagIntent: tags[family.TagIntent]})
	if err != nil {
		return err
	}
	var all []Set
	for _, name := range slices.Sorted(maps.Keys(claims)) {
		all = append(all, without(name)...)
	}
	return change(ctx, z, all)
}

// kindRecord is what records are called among what a cluster shares.
const kindRecord = "dns_record"

// Shared returns the names that are claimed with all of the tags.
func Shared(ctx context.Context, z Zone, tags map[string]string) ([]family.SharedThing, error) {
	claims, err := claimsOf(ctx, z, tags)
	var out []family.SharedThing
	for _, name := range slices.Sorted(maps.Keys(claims)) {
		out = append(out, family.SharedThing{ID: kindRecord + "/" + name, Kind: kindRecord, Name: name,
			Tags: map[string]string{family.TagInstallation: claims[name][family.TagInstallation], family.TagCluster: claims[name][family.TagCluster]}})
	}
	return out, err
}

// DropShared removes one of them, where the id is of one; others are left to the member. exists reports whether a machine with all of the tags does:
// its name stays.
func DropShared(ctx context.Context, z Zone, id string, exists func(tags map[string]string) (bool, error)) (was bool, err error) {
	name, was := strings.CutPrefix(id, kindRecord+"/")
	if !was {
		return false, nil
	}
	beside, err := z.Sets(ctx, claimPrefix+name, typeTXT)
	if err != nil {
		return true, err
	}
	for _, s := range beside {
		_, of := ours(s)
		if of == nil {
			continue
		}
		still, err := exists(map[string]string{family.TagInstallation: of[family.TagInstallation], family.TagIntent: of[family.TagIntent]})
		if err != nil {
			return true, err
		}
		if still {
			return true, app.Errorf(app.ETransient, "Machine %s still exists.", name)
		}
		return true, change(ctx, z, without(name))
	}
	return true, nil
}
