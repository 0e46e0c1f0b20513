package ansible

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/automators/internal/node"
)

// line is the same for every call; what is to be done comes on the standard input.
var line = node.Alone("ansible")

// callback is a plugin that tells us how the run went: Ansible's own output is for people, and its output as JSON is in a collection that is not
// installed everywhere.
//
//go:embed callback.py
var callback string

// settings say where Ansible finds things, and that it keeps nothing. With pipelining modules get their arguments on the standard input and not in files.
const settings = `PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8 ANSIBLE_NOCOLOR=1 ANSIBLE_FORKS=1 ANSIBLE_PIPELINING=True ANSIBLE_STDOUT_CALLBACK=default
ANSIBLE_RETRY_FILES_ENABLED=False ANSIBLE_CACHE_PLUGIN=memory ANSIBLE_NO_TARGET_SYSLOG=True ANSIBLE_CONFIG=${muster_dir}ansible.cfg ANSIBLE_HOME=${muster_dir}home
ANSIBLE_LOCAL_TEMP=${muster_dir}tmp ANSIBLE_REMOTE_TEMP=${muster_dir}tmp ANSIBLE_REMOTE_TMP=${muster_dir}tmp ANSIBLE_ASYNC_DIR=${muster_dir}async
ANSIBLE_CALLBACK_PLUGINS=${muster_dir}callbacks ANSIBLE_COLLECTIONS_PATH=${muster_dir}collections:/usr/share/ansible/collections MUSTER_ANSIBLE=${muster_dir}
ANSIBLE_ROLES_PATH=$muster_roles
unset ANSIBLE_CALLBACKS_ENABLED ANSIBLE_CALLBACK_WHITELIST ANSIBLE_LOG_PATH ANSIBLE_DEBUG ANSIBLE_VERBOSITY ANSIBLE_VAULT_PASSWORD_FILE
export PYTHONDONTWRITEBYTECODE LC_ALL ANSIBLE_NOCOLOR ANSIBLE_FORKS ANSIBLE_PIPELINING ANSIBLE_STDOUT_CALLBACK ANSIBLE_RETRY_FILES_ENABLED ANSIBLE_CACHE_PLUGIN ANSIBLE_NO_TARGET_SYSLOG
export ANSIBLE_CONFIG ANSIBLE_HOME ANSIBLE_LOCAL_TEMP ANSIBLE_REMOTE_TEMP ANSIBLE_REMOTE_TMP ANSIBLE_ASYNC_DIR ANSIBLE_CALLBACK_PLUGINS ANSIBLE_COLLECTIONS_PATH MUSTER_ANSIBLE ANSIBLE_ROLES_PATH`

// The words that come before what the plugin has written.
const (
	markFailed  = "muster-ansible-failed "
	markChanged = "muster-ansible-changed"
)

var collectionName = regexp.MustCompile(`^([a-z0-9_]+)\.([a-z0-9_]+)$`)

// script is what the node does for a call: the same text for the same call.
func (a Ansible) script(call family.ServiceCall, dry bool) (text string, warnings []string, err error) {
	if err := a.Check(call.Fields); err != nil {
		return "", nil, err
	}
	if err := node.Service(call.Service); err != nil {
		return "", nil, err
	}
	vars, warnings, err := variables(call)
	if err != nil {
		return "", nil, err
	}

	var s node.Script
	s.Do(`PATH=$PATH:/usr/local/bin
cd / && mkdir -p "${muster_dir}home" "${muster_dir}tmp" "${muster_dir}callbacks" "${muster_dir}roles" "${muster_dir}collections/ansible_collections" || exit 1
command -v ansible-playbook >/dev/null 2>&1 || { echo 'ansible-playbook is not installed on this node' >&2; exit 127; }
muster_roles=${muster_dir}roles`)
	if err := addResources(&s, call); err != nil {
		return "", nil, err
	}
	s.Do(settings)
	if v := strings.TrimSpace(call.Fields["version"]); v != "" {
		s.AtLeast("Ansible", "ansible-playbook --version", v)
	}
	s.File("ansible.cfg", "[defaults]")
	s.File("callbacks/muster.py", callback)
	s.File("inventory.yaml", inventory(call))
	s.File("vars.yaml", vars)
	s.Dof(`muster_state=$muster_root/%s`, call.Service)
	s.Do(`[ -d "$muster_state" ] || (umask 022; mkdir -p "$muster_state") || exit 1
case $muster_root in *\"*|*\\*|*{*) echo "Ansible can't use the directory $muster_root" >&2; exit 1 ;; esac
printf '{"muster_state": "%s"}\n' "$muster_state" >"${muster_dir}state.yaml" || exit 1`)
	if dry {
		s.Do("unset MUSTER_OUTPUTS")
	} else {
		s.Do(node.Outputs(call))
	}
	if file := strings.TrimSpace(call.Fields["playbook_file"]); file != "" {
		s.Dof(`muster_playbook=%s
[ -r "$muster_playbook" ] || { echo %s >&2; exit 1; }`, call.Resources+"/"+file, "The action's resources don't contain the file "+file)
	} else {
		s.File("playbook.yml", playbook(call.Fields))
		s.Do(`muster_playbook=${muster_dir}playbook.yml`)
	}
	s.Dof(`set -- -i "${muster_dir}inventory.yaml" --limit %s -e "@${muster_dir}state.yaml" -e "@${muster_dir}vars.yaml"`, call.Node)
	for _, f := range []struct{ field, option string }{{"tags", "--tags"}, {"skip_tags", "--skip-tags"}} {
		if tags := strings.Fields(call.Fields[f.field]); len(tags) > 0 {
			s.Dof(`set -- "$@" `+f.option+` %s`, strings.Join(tags, ","))
		}
	}
	if dry {
		s.Do(`set -- "$@" --check`)
	}
	s.Do(`ansible-playbook "$@" "$muster_playbook" </dev/null
muster_code=$?
if [ "$muster_code" != 0 ] && [ -f "${muster_dir}failed" ]; then
while IFS= read -r muster_said; do printf '%s\n' "` + markFailed + `$muster_said" >&2; done <"${muster_dir}failed"
fi`)
	if dry {
		s.Do("echo " + markChanged + `
[ ! -f "${muster_dir}changed" ] || cat "${muster_dir}changed"`)
	}
	s.Do(`exit "$muster_code"`)
	return s.String(), warnings, nil
}

// playbook is the text of the playbook, or one that plays roles.
func playbook(fields map[string]string) string {
	if p := fields["playbook"]; strings.TrimSpace(p) != "" {
		return strings.ReplaceAll(p, "\r\n", "\n")
	}
	var b strings.Builder
	b.WriteString("- hosts: all\n  roles:\n")
	for _, r := range strings.Fields(fields["roles"]) {
		b.WriteString("  - \"" + r + "\"\n")
	}
	return b.String()
}

// addResources puts roles and collections where they are looked for.
func addResources(s *node.Script, call family.ServiceCall) error {
	for _, r := range call.Refs {
		place := call.Resources + "/" + r.Name
		switch r.Type {
		case "role":
			s.Dof(`ln -s %s "${muster_dir}roles/"%s || exit 1`, place, r.Name)
		case "roles":
			s.Dof(`muster_roles=$muster_roles:%s`, place)
		case "collection":
			m := collectionName.FindStringSubmatch(r.Name)
			if m == nil {
				return &app.Error{Code: app.EInvalid, Reason: "bad_collection", Field: "resources", Message: fmt.Sprintf("Resource %q can't be used as a collection.", r.Name),
					Hint: "Name the resource after the collection, such as ansible.posix."}
			}
			dir := "collections/ansible_collections/" + m[1]
			s.Dof(`mkdir -p "${muster_dir}"%s && ln -s %s "${muster_dir}"%s || exit 1`, dir, place, dir+"/"+m[2])
		}
	}
	return nil
}
