package ansible

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"muster/app"
)

var (
	roleName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
	tagName  = regexp.MustCompile(`^[^\s,]+$`)
	version  = regexp.MustCompile(`^[0-9]{1,4}(\.[0-9]{1,4}){0,2}$`)
	resource = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
)

func quoted(s string) string { return strconv.Quote(s) }

// Check carries out family.Automator.
func (Ansible) Check(fields map[string]string) error {
	no := func(field, reason, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Reason: reason, Field: field, Message: message, Hint: hint}
	}
	for _, f := range []string{"playbook", "playbook_file", "roles", "tags", "skip_tags", "version"} {
		if strings.ContainsRune(fields[f], 0) {
			return no(f, "not_text", "Field \""+f+"\" contains NUL characters.", "")
		}
	}
	first := ""
	for _, f := range []string{"playbook", "playbook_file", "roles"} {
		if strings.TrimSpace(fields[f]) == "" {
			continue
		}
		if first != "" {
			return no(f, "two_playbooks", "A playbook is already set in the field \""+first+"\".", "Remove one of the two.")
		}
		first = f
	}
	if first == "" {
		return no("playbook", "missing_field", "The ansible automator needs a playbook, a playbook file or roles.", "Enter the playbook's text in the field \"playbook\".")
	}
	if file := strings.TrimSpace(fields["playbook_file"]); file != "" && !inResource(file) {
		return no("playbook_file", "bad_path", "The playbook file must be a resource, or a path in a resource.", "For example, site.yml or site/playbooks/web.yml.")
	}
	for _, r := range strings.Fields(fields["roles"]) {
		if !roleName.MatchString(r) {
			return no("roles", "bad_role", quoted(r)+" isn't a valid role name.", "Separate roles with spaces: common web, or acme.site.web for a role of a collection.")
		}
	}
	for _, f := range []string{"tags", "skip_tags"} {
		for _, t := range strings.Fields(fields[f]) {
			if !tagName.MatchString(t) {
				return no(f, "bad_tag", quoted(t)+" isn't a valid tag.", "Separate tags with spaces.")
			}
		}
	}
	if v := strings.TrimSpace(fields["version"]); v != "" && !version.MatchString(v) {
		return no("version", "bad_version", quoted(v)+" isn't a valid version.", "For example, 2.14.")
	}
	return nil
}

// inResource reports whether a path leads into a resource, and not out of it again.
func inResource(p string) bool {
	name, rest, deep := strings.Cut(p, "/")
	return resource.MatchString(name) && (!deep || rest != "" && path.Clean("/"+rest) == "/"+rest) && !strings.ContainsAny(p, "\n")
}
