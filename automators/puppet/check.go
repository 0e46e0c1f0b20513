package puppet

import (
	"path"
	"regexp"
	"strings"

	"muster/app"
)

var (
	className = regexp.MustCompile(`^(::)?[a-z][a-z0-9_]*(::[a-z][a-z0-9_]*)*$`)
	tagName   = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_:.-]*$`)
	version   = regexp.MustCompile(`^[0-9]{1,4}(\.[0-9]{1,4}){0,2}$`)
	resource  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
)

// Check carries out family.Automator.
func (Puppet) Check(fields map[string]string) error {
	no := func(field, reason, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Reason: reason, Field: field, Message: message, Hint: hint}
	}
	for _, f := range []string{"manifest", "manifest_file", "classes", "modules", "tags", "version"} {
		if strings.ContainsRune(fields[f], 0) {
			return no(f, "not_text", "Field \""+f+"\" contains NUL characters.", "")
		}
	}
	manifest, file := strings.TrimSpace(fields["manifest"]) != "", strings.TrimSpace(fields["manifest_file"])
	switch classes := strings.Fields(fields["classes"]); {
	case manifest && file != "":
		return no("manifest_file", "two_manifests", "A manifest is already set in the field \"manifest\".", "Remove one of the two.")
	case file != "" && len(classes) > 0:
		return no("classes", "two_manifests", "Classes can follow a manifest's text, but not a manifest file.", "Include them in the file.")
	case !manifest && file == "" && len(classes) == 0:
		return no("manifest", "missing_field", "The puppet automator needs a manifest, a manifest file or classes.",
			"Enter the manifest's text in the field \"manifest\".")
	}
	if file != "" && !inResource(file) {
		return no("manifest_file", "bad_path", "The manifest file must be a resource, or a path in a resource.", "For example, site.pp or site/manifests/site.pp.")
	}
	for _, c := range strings.Fields(fields["classes"]) {
		if !className.MatchString(c) {
			return no("classes", "bad_class", quoted(c)+" isn't a valid class name.", "Use lowercase letters, digits and underscores, with :: between parts.")
		}
	}
	for _, m := range strings.Fields(fields["modules"]) {
		if !resource.MatchString(m) && (!path.IsAbs(m) || strings.Contains(m, ":")) {
			return no("modules", "bad_module", quoted(m)+" is neither a resource nor a directory on the node.", "For example, stdlib or /opt/modules.")
		}
	}
	for _, t := range strings.Fields(fields["tags"]) {
		if !tagName.MatchString(t) {
			return no("tags", "bad_tag", quoted(t)+" isn't a valid tag.", "Separate tags with spaces.")
		}
	}
	if v := strings.TrimSpace(fields["version"]); v != "" && !version.MatchString(v) {
		return no("version", "bad_version", quoted(v)+" isn't a valid version.", "For example, 7 or 6.24.")
	}
	return nil
}

// inResource reports whether a path leads into a resource, and not out of it again.
func inResource(p string) bool {
	name, rest, deep := strings.Cut(p, "/")
	return resource.MatchString(name) && (!deep || rest != "" && path.Clean("/"+rest) == "/"+rest) && !strings.ContainsAny(p, "\n")
}
