package template

import (
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

// Digest tells states of the template apart. It is hex, 64 digits.
func (t *Template) Digest() string { return Digest(t.text()) }

func (t *Template) text() string { return CatalogText(t) }

func CatalogText(entry any) string {
	b, err := json.Marshal(entry)
	if err != nil {
		panic("app: writing a catalog value: " + err.Error())
	}
	return string(b)
}

func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Versions are all entries, in the order of kinds and names.
func (c *Catalog) Versions(by string, at time.Time) (list []CatalogVersion) {
	add := func(kind, name string, entry any) {
		text := CatalogText(entry)
		list = append(list, CatalogVersion{Kind: kind, Name: name, Hash: Digest(text), Text: text, At: at, By: by})
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

// Flatten returns the values of a JSON text by path. Lists of plain values are one value, since their places mean nothing; other
// lists are distinguished by the names in them, or else by place.
func Flatten(text string) (map[string]string, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("a stored catalog entry: %w", err)
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
			out[path] = CatalogText(v)
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
		out[path] = CatalogText(v)
	}
}

// UsedVersion says from which version of its template a cluster was made, and whether there is a newer one.
type UsedVersion struct {
	Number  int  `json:"number,omitempty"`  // 0: not known
	Latest  int  `json:"latest,omitempty"`  // that the actor may see; 0: not known
	Newer   bool `json:"newer,omitempty"`   // the template says something else by now
	Deleted bool `json:"deleted,omitempty"` // the catalog has no such template any more
	// Warnings are those of the template as it is now, such as that it is deprecated.
	Warnings []string `json:"warnings,omitempty"`
}
