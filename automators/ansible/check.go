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

// Check carries out app.Automator.
func (Ansible) Check(fields map[string]string) error {
	no := func(field, reason, message, hint string) error {
		return &app.Error{Code: app.EInvalid, Reason: reason, Field: field, Message: message, Hint: hint}
	}
	for _, f := range []string{"playbook", "playbook_file", "roles", "tags", "skip_tags", "version"} {
		if strings.ContainsRune(fields[f], 0) {
			return no(f, "not_text", "The field \""+f+"\" holds NUL characters, so it is no text.", "")
		}
	}
	first := ""
	for _, f := range []string{"playbook", "playbook_file", "roles"} {
		if strings.TrimSpace(fields[f]) == "" {
			continue
		}
		if first != "" {
			return no(f, "two_playbooks", "There is something to play already, in the field \""+first+"\".", "Keep one of them.")
		}
		first = f
	}
	if first == "" {
		return no("playbook", "missing_field", "The ansible automator needs a playbook, the name of a file that is one, or roles.", "Put the text of a playbook into the field \"playbook\".")
	}
	if file := strings.TrimSpace(fields["playbook_file"]); file != "" && !inResource(file) {
		return no("playbook_file", "bad_path", "The playbook file is named by a resource, or by a resource and a path in it.", "Such as site.yml, or site/playbooks/web.yml.")
	}
	for _, r := range strings.Fields(fields["roles"]) {
		if !roleName.MatchString(r) {
			return no("roles", "bad_role", quoted(r)+" cannot be the name of a role.", "Names of roles are split at spaces: common web, or acme.site.web of a collection.")
		}
	}
	for _, f := range []string{"tags", "skip_tags"} {
		for _, t := range strings.Fields(fields[f]) {
			if !tagName.MatchString(t) {
				return no(f, "bad_tag", quoted(t)+" cannot be a tag.", "Tags are split at spaces.")
			}
		}
	}
	if v := strings.TrimSpace(fields["version"]); v != "" && !version.MatchString(v) {
		return no("version", "bad_version", quoted(v)+" is no version.", "Such as 2.14.")
	}
	return nil
}

// inResource tells whether a path leads into a resource, and not out of it again.
func inResource(p string) bool {
	name, rest, deep := strings.Cut(p, "/")
	return resource.MatchString(name) && (!deep || rest != "" && path.Clean("/"+rest) == "/"+rest) && !strings.ContainsAny(p, "\n")
}
