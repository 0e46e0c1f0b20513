package tenantfile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"muster/app/file/yamlfile"
	"muster/app/settings"
)

type Files struct{}

var _ settings.TenantFiles = Files{}

func (Files) ReadTenant(text string) (s settings.TenantSettings, places map[string]settings.TenantPlace, problems []settings.TenantProblem) {
	f := yamlfile.Parse(text)
	f.Complete = true
	switch {
	case f.Empty:
		f.Wrong(0, 0, "", "The file is empty.", "Start with a file from muster tenant export.")
	case f.Root == nil:
	case f.Root.Kind != yaml.MappingNode:
		f.Bad(f.Root, "", "The file doesn't contain tenant settings: it must be keys and values.")
	case form(f):
		var t tenantForm
		f.Read(f.Root, &t, "")
		s = t.settings()
	}
	places = make(map[string]settings.TenantPlace, len(f.Places))
	for path, p := range f.Places {
		places[path] = settings.TenantPlace{Line: p.Line, Column: p.Column}
	}
	for _, p := range f.Problems {
		problems = append(problems, settings.TenantProblem{TenantPlace: settings.TenantPlace{Line: p.Line, Column: p.Column}, Path: p.Path, Severity: "error", Message: p.Message, Hint: p.Hint})
	}
	return s, places, problems
}

// form looks at the version of the form before anything else: by another one all else may mean something else.
func form(f *yamlfile.File) bool {
	const key = "muster_tenant"
	root := f.Root
	for i := 0; i+1 < len(root.Content); i += 2 {
		v := root.Content[i+1]
		if root.Content[i].Value != key {
			continue
		}
		if v.Value == strconv.Itoa(settings.TenantForm) && v.Kind == yaml.ScalarNode {
			return true
		}
		f.Wrong(v.Line, v.Column, key, fmt.Sprintf("The file has format %.20s; this version of Muster reads format %d.", v.Value, settings.TenantForm), "Export the settings again, or import the file with the version that wrote it.")
		return false
	}
	f.Wrong(root.Line, root.Column, key, "The file isn't marked as tenant settings.", fmt.Sprintf("Start the file with %s: %d.", key, settings.TenantForm))
	return false
}

// sorted returns the keys of a map of texts in the order in which people look for them: versions by number, all else by letter.
func sorted(keys []string) []string {
	slices.SortFunc(keys, func(a, b string) int {
		x, errX := strconv.Atoi(a)
		y, errY := strconv.Atoi(b)
		if errX == nil && errY == nil {
			return cmp.Compare(x, y)
		}
		return strings.Compare(a, b)
	})
	return keys
}
