package app

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ImmutableParts are the parts of a template that can be immutable as a whole; of the configuration also any path in it, such
// as config.ssl.
var ImmutableParts = []string{"config", "services", "provider", "hardware", "image", "dns_suffix", "lease"}

// Override is what somebody wants to be otherwise than it is. Only what is set counts, so leave out what stays.
type Override struct {
	Config map[string]any // is laid over the configuration, map by map
	Parts  []string       // of ImmutableParts, without config, that would be others
}

// CheckImmutable refuses what a request or an amendment wants otherwise though the template does not let it: EInvalid, with the
// path in Field. Configuration that says what the template says already is none.
func (t *Template) CheckImmutable(o Override) error {
	return checkImmutable("Template "+t.Name, t.Immutable, t.Defaults.Config, o)
}

// CheckImmutable is that of the template that the cluster was made from.
func (d Definition) CheckImmutable(o Override) error {
	return checkImmutable("The cluster's template", d.Immutable, d.Config, o)
}

func checkImmutable(who string, immutable []string, config map[string]any, o Override) error {
	for _, path := range immutable {
		said := slices.Contains(o.Parts, path)
		if under, ok := strings.CutPrefix(path, "config."); ok {
			path, said = changedAt(o.Config, config, under)
			path = "config." + path
		} else if path == "config" {
			for _, key := range slices.Sorted(maps.Keys(o.Config)) {
				if p, changed := changedAt(o.Config, config, key); changed {
					path, said = "config."+p, true
					break
				}
			}
		}
		if said {
			return &Error{Code: EInvalid, Reason: "immutable", Field: path, Message: fmt.Sprintf("%s does not let %s be changed.", who, path),
				Hint: "Leave it out, or ask an admin for a template that allows it."}
		}
	}
	return nil
}

// changedAt tells whether a configuration laid over base would change what is at a path, under it, or a place above it, and
// where it says so. Keys may themselves hold dots.
func changedAt(over, base map[string]any, path string) (at string, changed bool) {
	for _, key := range slices.Sorted(maps.Keys(over)) {
		v := over[key]
		rest, under := strings.CutPrefix(path, key+".")
		if key != path && !under && !strings.HasPrefix(key, path+".") { // whose keys are written in one
			continue
		}
		had, is := base[key]
		if under {
			deeper, isMap := v.(map[string]any)
			old, wasMap := had.(map[string]any)
			if isMap && (wasMap || !is) {
				if at, changed := changedAt(deeper, old, rest); changed {
					return key + "." + at, true
				}
				continue
			}
		}
		if !sameUnder(v, had, is) {
			return key, true
		}
	}
	return path, false
}

// sameUnder tells whether laying v over what was there leaves it as it was.
func sameUnder(v, had any, is bool) bool {
	over, isMap := v.(map[string]any)
	old, wasMap := had.(map[string]any)
	if !isMap || !wasMap {
		return is && sameJSON(v, had)
	}
	for key, x := range over {
		h, has := old[key]
		if !sameUnder(x, h, has) {
			return false
		}
	}
	return true
}

// Override is what a request wants otherwise than the template.
func (r ClusterRequest) Override(t *Template) Override {
	o := Override{Config: r.Config}
	d := t.Defaults
	for part, different := range map[string]bool{
		"services":   len(r.Services) > 0 && !sameSet(r.Services, d.Services),
		"provider":   r.Provider != "" && r.Provider != d.Provider,
		"hardware":   r.Hardware != "" && r.Hardware != d.Hardware,
		"image":      r.Image != "" && r.Image != d.Image,
		"dns_suffix": r.DNSSuffix != "" && r.DNSSuffix != d.DNSSuffix,
		"lease":      r.Lease != nil && *r.Lease != t.Lease.Initial,
	} {
		if different {
			o.Parts = append(o.Parts, part)
		}
	}
	return o
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}
