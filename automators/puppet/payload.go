package puppet

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/app/humanize"
	"muster/automators/internal/node"
)

// line is the same for every call; what is to be done comes on the standard input.
var line = node.Alone("puppet")

func quoted(s string) string { return strconv.Quote(s) }

// settings are the puppet.conf of a run. All that Puppet keeps is beside it, and so goes away with the run: copies of files that it replaced, reports and
// states hold whatever secrets the resources have. What a version of Puppet does not know it leaves alone.
// Its directories are made for it: below /dev, as in /dev/shm, it makes none.
const settings = `[main]
vardir = $confdir/../var
statedir = $confdir/../var/state
publicdir = $confdir/../var/public
ssldir = $confdir/../ssl
logdir = $confdir/../var
rundir = $confdir/../var
codedir = $confdir/../code
environmentpath = $confdir/../env
environment = production
hiera_config = $confdir/hiera.yaml
pluginfactdest = $confdir/../facts
report = false
show_diff = false
splay = false
`

// The word that comes before what a dry run has logged, and the one before the file for outputs.
const (
	markLog     = "muster-puppet-log"
	markOutputs = "muster-puppet-outputs "
)

var hostName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)

// script is what the node does for a call: the same text for the same call.
func (p Puppet) script(call family.ServiceCall, dry bool) (string, error) {
	if err := p.Check(call.Fields); err != nil {
		return "", err
	}
	if err := node.Service(call.Service); err != nil {
		return "", err
	}
	whole, classes, err := hieraData(call.Config)
	if err != nil {
		return "", err
	}
	modules, data, err := modulesOf(call)
	if err != nil {
		return "", err
	}

	var s node.Script
	s.Do(`PATH=$PATH:/opt/puppetlabs/bin LC_ALL=C.UTF-8
export PATH LC_ALL
cd / && mkdir -p "${muster_dir}conf" "${muster_dir}var/state" "${muster_dir}var/public" "${muster_dir}facts" "${muster_dir}data" "${muster_dir}modules" "${muster_dir}env/production" || exit 1
command -v puppet >/dev/null 2>&1 || { echo 'puppet is not installed on this node' >&2; exit 127; }`)
	if v := strings.TrimSpace(call.Fields["version"]); v != "" {
		s.AtLeast("Puppet", "puppet --version", v)
	}
	conf := settings
	if hostName.MatchString(call.Hostname) {
		conf += "certname = " + call.Hostname + "\n"
	}
	s.File("conf/puppet.conf", conf)
	s.File("conf/hiera.yaml", hieraYAML(call, data))
	s.File("data/config.json", whole)
	s.File("data/classes.json", classes)
	s.Dof(`muster_state=$muster_root/%s`, call.Service)
	s.Do(`[ -d "$muster_state" ] || (umask 022; mkdir -p "$muster_state") || exit 1`)
	if dry {
		s.Do(`MUSTER_OUTPUTS=${muster_dir}outputs
echo "` + markOutputs + `$MUSTER_OUTPUTS"`)
	} else {
		s.Do(node.Outputs(call))
	}
	facts, err := factsOf(call)
	if err != nil {
		return "", err
	}
	s.Do(`case $muster_root in *\"*|*\\*) echo "Puppet can't use the directory $muster_root" >&2; exit 1 ;; esac`)
	s.Do(`printf '{"muster":{"outputs":"%s","state":"%s",%s}\n' "$MUSTER_OUTPUTS" "$muster_state" ` + humanize.ShellQuote(strings.TrimPrefix(facts, "{")) + ` >"${muster_dir}facts/muster.json" || exit 1`)
	s.Do(`muster_path=${muster_dir}modules`)
	for _, m := range modules {
		if m.name == "" {
			s.Dof("muster_path=$muster_path:%s", m.place)
		} else {
			s.Dof(`ln -s %s "${muster_dir}modules/"%s || exit 1`, m.place, m.name)
		}
	}
	if file := strings.TrimSpace(call.Fields["manifest_file"]); file != "" {
		s.Dof(`muster_manifest=%s
[ -r "$muster_manifest" ] || { echo %s >&2; exit 1; }`, call.Resources+"/"+file, "The action's resources don't contain the file "+file)
	} else {
		s.File("site.pp", manifest(call.Fields))
		s.Do(`muster_manifest=${muster_dir}site.pp`)
	}
	s.Do(`set -- apply --confdir "${muster_dir}conf" --detailed-exitcodes --color=false --modulepath "$muster_path"`)
	if tags := strings.Fields(call.Fields["tags"]); len(tags) > 0 {
		s.Dof(`set -- "$@" --tags %s`, strings.Join(tags, ","))
	}
	if dry {
		s.Do(`set -- "$@" --noop --logdest console --logdest "${muster_dir}log.json"`)
	}
	s.Do(`puppet "$@" "$muster_manifest" </dev/null
muster_code=$?`)
	if dry {
		s.Do("echo; echo " + markLog + `
[ ! -f "${muster_dir}log.json" ] || cat "${muster_dir}log.json"
[ "$muster_code" != 2 ] || muster_code=0`)
	} else {
		s.Do(`case $muster_code in
0) echo "Puppet: no changes." ;;
2) echo "Puppet: changes applied."; muster_code=0 ;;
esac`)
	}
	s.Do(`exit "$muster_code"`)
	return s.String(), nil
}

// manifest is the text of the manifest and of the classes.
func manifest(fields map[string]string) string {
	var b strings.Builder
	if m := fields["manifest"]; strings.TrimSpace(m) != "" {
		b.WriteString(strings.ReplaceAll(m, "\r\n", "\n") + "\n")
	}
	for _, c := range strings.Fields(fields["classes"]) {
		b.WriteString("include " + c + "\n")
	}
	return b.String()
}

// module is one module by its name, or a directory of modules where it has none.
type module struct{ name, place string }

// modulesOf says where modules and Hiera data lie.
func modulesOf(call family.ServiceCall) (modules []module, data []string, err error) {
	of := map[string]string{} // type by name
	var names []string
	for _, r := range call.Refs {
		of[r.Name] = r.Type
		switch r.Type {
		case "module", "modules":
			names = append(names, r.Name)
		case "data":
			data = append(data, call.Resources+"/"+r.Name)
		}
	}
	if asked := strings.Fields(call.Fields["modules"]); len(asked) > 0 {
		names = asked
	}
	for _, n := range names {
		switch {
		case strings.HasPrefix(n, "/"):
			modules = append(modules, module{place: n})
		case of[n] == "modules":
			modules = append(modules, module{place: call.Resources + "/" + n})
		case of[n] == "module":
			m := module{n[strings.LastIndexByte(n, '-')+1:], call.Resources + "/" + n}
			if !className.MatchString(m.name) {
				return nil, nil, &app.Error{Code: app.EInvalid, Reason: "bad_module", Field: "modules", Message: fmt.Sprintf("Resource %q can't be used as a module: %q isn't a valid module name.", n, m.name),
					Hint: "Name the resource after the module, such as stdlib or puppetlabs-stdlib."}
			}
			if slices.ContainsFunc(modules, func(o module) bool { return o.name == m.name }) {
				return nil, nil, &app.Error{Code: app.EInvalid, Reason: "bad_module", Field: "modules", Message: fmt.Sprintf("Two resources of this action are module %s.", m.name)}
			}
			modules = append(modules, m)
		default:
			return nil, nil, &app.Error{Code: app.EInvalid, Reason: "no_resource", Field: "modules", Message: fmt.Sprintf("The action has no resource %q of type module or modules.", n),
				Hint: "Add it to the action's resources."}
		}
	}
	return modules, data, nil
}
