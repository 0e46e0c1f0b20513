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

// Check carries out app.Automator.
func (Puppet) Check(fields map[string]string) error {
	no := func(field, reason, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Reason: reason, Field: field, Message: message, Hint: hint}
	}
	for _, f := range []string{"manifest", "manifest_file", "classes", "modules", "tags", "version"} {
		if strings.ContainsRune(fields[f], 0) {
			return no(f, "not_text", "The field \""+f+"\" holds NUL characters, so it is no text.", "")
		}
	}
	manifest, file := strings.TrimSpace(fields["manifest"]) != "", strings.TrimSpace(fields["manifest_file"])
	switch classes := strings.Fields(fields["classes"]); {
	case manifest && file != "":
		return no("manifest_file", "two_manifests", "There is a manifest already, in the field \"manifest\".", "Keep one of them.")
	case file != "" && len(classes) > 0:
		return no("classes", "two_manifests", "Classes are included after the text of a manifest, not after a file.", "Include them in the file.")
	case !manifest && file == "" && len(classes) == 0:
		return no("manifest", "missing_field", "The puppet automator needs a manifest, the name of a file that is one, or classes.",
			"Put the text of a manifest into the field \"manifest\".")
	}
	if file != "" && !inResource(file) {
		return no("manifest_file", "bad_path", "The manifest file is named by a resource, or by a resource and a path in it.", "Such as site.pp, or site/manifests/site.pp.")
	}
	for _, c := range strings.Fields(fields["classes"]) {
		if !className.MatchString(c) {
			return no("classes", "bad_class", quoted(c)+" cannot be the name of a class.", "Names of classes are of lower-case letters, digits and underscores, with :: between their parts.")
		}
	}
	for _, m := range strings.Fields(fields["modules"]) {
		if !resource.MatchString(m) && (!path.IsAbs(m) || strings.Contains(m, ":")) {
			return no("modules", "bad_module", quoted(m)+" is neither the name of a resource nor a directory on the node.", "Such as stdlib, or /opt/modules.")
		}
	}
	for _, t := range strings.Fields(fields["tags"]) {
		if !tagName.MatchString(t) {
			return no("tags", "bad_tag", quoted(t)+" cannot be a tag.", "Tags are split at spaces.")
		}
	}
	if v := strings.TrimSpace(fields["version"]); v != "" && !version.MatchString(v) {
		return no("version", "bad_version", quoted(v)+" is no version.", "Such as 7, or 6.24.")
	}
	return nil
}

// inResource tells whether a path leads into a resource, and not out of it again.
func inResource(p string) bool {
	name, rest, deep := strings.Cut(p, "/")
	return resource.MatchString(name) && (!deep || rest != "" && path.Clean("/"+rest) == "/"+rest) && !strings.ContainsAny(p, "\n")
}
