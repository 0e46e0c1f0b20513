package form

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"muster/app/humanize"
)

// place is where a key belongs: the keys above it, from the top of the entry. Where any name may stand it is anyName.
type place struct {
	above []string
	key   string
}

const anyName = "NAME"

func (p place) String() string { return strings.Join(append(slices.Clone(p.above), p.key), ".") }

var placesByType sync.Map // of reflect.Type to []place; they are asked for once per document

// placesOf lists the keys of a struct of our own form and of all mappings in it.
func placesOf(t reflect.Type) []place {
	if known, ok := placesByType.Load(t); ok {
		return known.([]place)
	}
	all := placesUnder(t, nil)
	placesByType.Store(t, all)
	return all
}

func placesUnder(t reflect.Type, above []string) (out []place) {
	for _, f := range FieldsOf(t) {
		p := place{above: above, key: f.Key}
		out = append(out, p)
		inner, deeper := f.Type, append(slices.Clone(above), f.Key)
		if inner.Kind() == reflect.Map {
			inner, deeper = inner.Elem(), append(deeper, anyName)
		}
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct {
			out = append(out, placesUnder(inner, deeper)...)
		}
	}
	return out
}

// elsewhere returns a hint for a key that is under path, where it is not known, but is known nearby: size at the top
// of a template belongs under constraints. It returns "" where there is no such place, or too many.
func elsewhere(places []place, path, key string) string {
	var here []string
	if path != "" {
		here = strings.Split(path, ".")
	}
	best, found := 0, []string(nil)
	for _, p := range places {
		if humanize.FoldName(p.key) != humanize.FoldName(key) {
			continue
		}
		steps := p.stepsFrom(here)
		if len(found) == 0 || steps < best {
			best, found = steps, nil
		}
		if steps == best {
			found = append(found, p.String())
		}
	}
	if len(found) == 0 || len(found) > 2 {
		return ""
	}
	return "did you mean " + strings.Join(found, " or ") + "?"
}

// stepsFrom counts how often one goes up and down to come from under here to the place.
func (p place) stepsFrom(here []string) int {
	same := 0
	for same < len(here) && same < len(p.above) && (here[same] == p.above[same] || p.above[same] == anyName) {
		same++
	}
	return len(here) - same + len(p.above) - same
}
