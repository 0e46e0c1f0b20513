package chef

import (
	"path"
	"strings"

	"muster/app/family"
	"muster/automators/internal/node"
)

// exitMissing is the exit code of a run for which there is no Chef; it is not one of Chef's own.
const exitMissing = 97

// markOutputs is how the line of a dry run begins that tells which file is none of the node's.
const markOutputs = "muster-chef-outputs "

var runLine = node.Alone("chef")

// findChef is shell text that finds the program, as $muster_chef, with what it wants to hear to work without a server. Cinc is Chef under a free licence.
const findChef = `muster_chef= muster_local=
for muster_tool in chef-solo cinc-solo chef-client cinc-client; do
for muster_place in "$(command -v "$muster_tool")" "/opt/${muster_tool%%-*}/bin/$muster_tool"; do
[ -z "$muster_chef" ] && [ -x "$muster_place" ] || continue
muster_chef=$muster_place
case $muster_tool in *-client) muster_local=--local-mode ;; esac
done
done
`

// layout is shell text that lays out links to the resources as Chef wants them. Nothing is copied, and resources are never written to. An archive
// holds folders, or is
// itself the one that is wanted: a cookbook has metadata or recipes, and of a data bag the items lie there. With muster_beside, what is there already wins.
const layout = `muster_beside=
mkdir "${muster_dir}cookbooks" "${muster_dir}data_bags" "${muster_dir}roles" "${muster_dir}nodes" "${muster_dir}backup" || exit 1
muster_link() { [ -n "$muster_beside" ] && [ -e "$2" ] || ln -sfn "$1" "$2" || exit 1; }
muster_each() {
for muster_one in "$1"/*; do [ ! -d "$muster_one" ] || muster_link "$muster_one" "$2/${muster_one##*/}"; done
}
muster_cookbooks() {
if [ -e "$1/metadata.rb" ] || [ -e "$1/metadata.json" ] || [ -d "$1/recipes" ]; then muster_link "$1" "${muster_dir}cookbooks/$2"
elif [ -d "$1/cookbooks" ]; then muster_each "$1/cookbooks" "${muster_dir}cookbooks"
else muster_each "$1" "${muster_dir}cookbooks"; fi
}
muster_bags() {
for muster_one in "$1"/*.json; do if [ -f "$muster_one" ]; then muster_link "$1" "${muster_dir}data_bags/$2"; return; fi; done
if [ -d "$1/data_bags" ]; then muster_each "$1/data_bags" "${muster_dir}data_bags"; else muster_each "$1" "${muster_dir}data_bags"; fi
}
muster_role() {
case $2 in
*.json|*.rb) muster_link "$1" "${muster_dir}roles/$2" ;;
*) muster_word=
while [ -z "$muster_word" ] && read -r muster_word; do :; done <"$1"
case $muster_word in "{"*) muster_link "$1" "${muster_dir}roles/$2.json" ;; *) muster_link "$1" "${muster_dir}roles/$2.rb" ;; esac ;;
esac
}
muster_roles() {
for muster_one in "$1"/*.json "$1"/*.rb; do
muster_word=${muster_one##*/}
[ ! -f "$muster_one" ] || [ -e "${muster_dir}roles/${muster_word%.*}.json" ] || [ -e "${muster_dir}roles/${muster_word%.*}.rb" ] || muster_link "$muster_one" "${muster_dir}roles/$muster_word"
done
}
`

// cooprHome is where Coopr kept what now are resources, and where images have what they bring along.
const cooprHome = "/var/chef"

// start is shell text that runs Chef. What stays between runs is the cache of downloads and the lock that lets one run at a time; failed-run-data.json and
// chef-stacktrace.out, which Chef leaves there when it fails, hold attributes and go away.
const start = `muster_cache=$muster_root/.chef
[ -d "$muster_cache" ] || mkdir -m 700 "$muster_cache" || [ -d "$muster_cache" ] || exit 1
muster_clean() { rm -f "$muster_cache/failed-run-data.json" "$muster_cache/chef-stacktrace.out"; }
muster_clean
trap 'muster_clean; rm -rf "$muster_dir"' EXIT
{
printf 'cookbook_path ["%scookbooks"]\n' "$muster_dir"
printf 'data_bag_path "%sdata_bags"\nrole_path "%sroles"\nnode_path "%snodes"\n' "$muster_dir" "$muster_dir" "$muster_dir"
printf 'file_backup_path "%sbackup"\nfile_cache_path "%s"\n' "$muster_dir" "$muster_cache"
cat "${muster_dir}solo.part"
} >"${muster_dir}solo.rb" || exit 1
"$muster_chef" $muster_local --config "${muster_dir}solo.rb" --json-attributes "${muster_dir}attributes.json" --override-runlist "$muster_run_list" \
--format doc --force-formatter --no-color --log_level warn $muster_how </dev/null
`

// payload writes what is done on the node: the same text for the same call, so that it's known whether that was done before.
func payload(call family.ServiceCall, dry bool) (string, error) {
	if err := node.Service(call.Service); err != nil {
		return "", err
	}
	runList, err := readRunList(call.Fields["run_list"])
	if err != nil {
		return "", err
	}
	before, after, err := cutAttributes(call)
	if err != nil {
		return "", err
	}
	var s node.Script
	s.Do(findChef)
	s.Do(`[ -n "$muster_chef" ] || { echo "the node has neither chef-solo nor cinc-solo" >&2; exit 97; }`)
	if dry {
		s.Do(`MUSTER_OUTPUTS=${muster_dir}outputs
export MUSTER_OUTPUTS
echo "` + markOutputs + `$MUSTER_OUTPUTS"`)
	} else {
		s.Do(node.Outputs(call))
	}
	s.Do(`case $MUSTER_OUTPUTS in *\"*|*\\*) echo "Chef can't use the file $MUSTER_OUTPUTS" >&2; exit 1 ;; esac`)
	s.Dof(`printf '%%s%%s%%s\n' %s "$MUSTER_OUTPUTS" %s >"${muster_dir}attributes.json" || exit 1`, before, after)
	s.File("solo.part", soloPart(call))
	s.Do(layout)
	had := map[string]bool{} // what an action has without naming it says nothing of what it wants of the image
	for _, r := range call.Refs {
		had[r.Type] = had[r.Type] || !r.Common
		place := path.Join(call.Resources, r.Name)
		switch r.Type {
		case typeCookbooks:
			s.Dof("muster_cookbooks %s %s", place, r.Name)
		case typeDataBags:
			s.Dof("muster_bags %s %s", place, r.Name)
		case typeRoles:
			s.Dof("muster_role %s %s", place, r.Name)
		}
	}
	s.Do("muster_beside=1")
	for _, own := range []struct{ kind, do string }{{typeCookbooks, "muster_cookbooks"}, {typeDataBags, "muster_bags"}, {typeRoles, "muster_roles"}} {
		if !had[own.kind] {
			s.Dof("[ ! -d %[1]s ] || "+own.do+" %[1]s none", cooprHome+"/"+own.kind)
		}
	}
	s.Set("muster_run_list", runList)
	s.Set("muster_how", how(dry))
	if v := call.Fields["chef_license"]; v != "" {
		s.Dof("CHEF_LICENSE=%s; export CHEF_LICENSE", v)
	}
	s.Do(start)
	return s.String(), nil
}

func how(dry bool) string {
	if dry {
		return "--why-run"
	}
	return ""
}

// soloPart is the part of the configuration that is not about places.
func soloPart(call family.ServiceCall) string {
	return strings.Join([]string{
		"node_name " + rubyText(call.Hostname, call.Node),
		"log_location STDOUT",
		"ssl_verify_mode :verify_peer",
	}, "\n")
}

// rubyText writes the first name that is there as a text of Ruby's in single quotes.
func rubyText(names ...string) string {
	for _, n := range names {
		if n != "" {
			return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", "").Replace(n) + "'"
		}
	}
	return "'node'"
}
