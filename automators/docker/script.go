package docker

import (
	"strconv"
	"strings"

	"muster/app"
	"muster/app/humanize"
	"muster/automators/internal/node"
)

// exitMissing is the exit code of an action on a node without docker.
const exitMissing = 97

var runLine = node.Alone("docker")

// functions are what the actions are made of. muster_quietly shows what a command says on its error output only where it fails.
const functions = `command -v docker >/dev/null || { echo "docker is not installed on the node" >&2; exit 97; }
muster_say() { echo "$*"; }
muster_no() { echo "$*" >&2; exit 1; }
muster_quietly() { "$@" >/dev/null 2>"${muster_dir}err" </dev/null || { muster_code=$?; cat "${muster_dir}err" >&2; return "$muster_code"; }; }
muster_get() { docker container inspect --format "$1" "$muster_name" 2>/dev/null </dev/null; }
muster_there() { docker container inspect "$muster_name" >/dev/null 2>&1 </dev/null; }
muster_ours() {
[ -n "$(muster_get '{{index .Config.Labels "muster.parts"}}')" ] || muster_no "the container $muster_name is there already, and Muster has not made it"
}
muster_pull() {
if [ -n "$muster_user" ]; then
DOCKER_CONFIG=${muster_dir}config
export DOCKER_CONFIG
mkdir -m 700 "$DOCKER_CONFIG" || exit 1
docker login --username "$muster_user" --password-stdin $muster_registry <"${muster_dir}password" >/dev/null 2>"${muster_dir}err" ||
{ cat "${muster_dir}err" >&2; muster_no "the registry ${muster_registry:-of Docker} does not let us in"; }
fi
docker pull "$muster_image" </dev/null || exit
}
muster_need() {
muster_want=$(docker image inspect --format '{{.Id}}' "$muster_image" 2>/dev/null </dev/null)
if [ -z "$muster_want" ]; then
[ "$muster_policy" != never ] || muster_no "the image $muster_image is not on the node, and is not to be pulled"
muster_pull
muster_want=$(docker image inspect --format '{{.Id}}' "$muster_image" </dev/null) || exit 1
fi
}
muster_clash() {
for muster_port in $muster_ports; do
muster_who=$(docker ps --filter "publish=$muster_port" --format '{{.Names}}' </dev/null | while read -r muster_one; do
[ "$muster_one" = "$muster_name" ] || { echo "$muster_one"; break; }; done)
[ -z "$muster_who" ] || muster_no "port $muster_port of the node is taken by the container $muster_who"
done
}
muster_refused() {
cat "${muster_dir}err" >&2
muster_clash
muster_no "port $(sed -n 's/.*listen \(tcp\|udp\)[46]* [^ ]*:\([0-9]*\): bind: .*/\2 /p' "${muster_dir}err" | head -n 1)of the node is taken by another program"
}
muster_begin() {
[ "$(muster_get '{{.State.Running}}')" != true ] || return 0
muster_clash
docker start "$muster_name" >/dev/null 2>"${muster_dir}err" </dev/null || {
if grep -q -e 'already allocated' -e 'address already in use' "${muster_dir}err"; then muster_refused; fi
cat "${muster_dir}err" >&2
exit 1
}
muster_say "started the container $muster_name"
}
muster_fell() {
docker logs --tail 20 "$muster_name" >"${muster_dir}out" 2>"${muster_dir}log" </dev/null
sed 's/^/log: /' "${muster_dir}out" "${muster_dir}log" >&2
grep -q '[^[:space:]]' "${muster_dir}log" || cat "${muster_dir}out" >"${muster_dir}log"
muster_no "$1: $(grep '[^[:space:]]' "${muster_dir}log" | tail -n 1)"
}
muster_look() {
set -- $(muster_get '{{.State.Running}} {{.State.Restarting}} {{.RestartCount}} {{.State.ExitCode}} {{if .State.Health}}{{.State.Health.Status}}{{else}}none{{end}}')
[ "$#" = 5 ] || muster_no "the container $muster_name does not exist"
[ "$1 $2" = "true false" ] && [ "$3" -le "${muster_restarts:-$3}" ] || muster_fell "the container $muster_name exited with code $4"
muster_restarts=$3 muster_health=$5
}
muster_watch() {
muster_restarts=0
muster_look
[ "$muster_settle" -lt 10 ] || muster_say "watching the container for $muster_settle s"
muster_now=$(date +%s)
muster_until=$((muster_now + muster_settle)) muster_late=$((muster_now + muster_settle + muster_patience))
while :; do
muster_look
muster_now=$(date +%s)
case $muster_health in
unhealthy) muster_fell "the container $muster_name is unhealthy" ;;
starting) [ "$muster_now" -lt "$muster_late" ] || muster_fell "the container $muster_name did not become healthy within $muster_patience s" ;;
*) [ "$muster_now" -lt "$muster_until" ] || return 0 ;;
esac
sleep 0.2 2>/dev/null || sleep 1
done
}
muster_make() {
muster_need
muster_was=
if muster_there; then
muster_ours
[ "$(muster_get '{{index .Config.Labels "muster.parts"}} {{.Image}}')" != "$muster_parts $muster_want" ] || { muster_say "the container $muster_name is up to date"; return 0; }
muster_was=$(muster_get '{{.State.Running}}')
muster_say "recreating the container $muster_name: its configuration changed"
muster_quietly docker stop "$muster_name" || exit
muster_quietly docker rm --volumes "$muster_name" || exit
fi
case $muster_network in
""|host|none|bridge|default) ;;
*) docker network inspect "$muster_network" >/dev/null 2>&1 </dev/null || muster_quietly docker network create --label muster.made=yes "$muster_network" ||
docker network inspect "$muster_network" >/dev/null </dev/null || exit 1 ;;
esac
muster_create || exit
}
`

// actions are what is done for each action; the functions come before it.
var actions = map[app.Action]string{
	app.ActionInstall: `if [ "$muster_policy" != always ] && docker image inspect "$muster_image" >/dev/null 2>&1 </dev/null; then muster_say "the node already has the image $muster_image"
else [ "$muster_policy" != never ] || muster_no "the image $muster_image is not on the node, and is not to be pulled"
muster_pull; fi`,
	app.ActionConfigure:  remake,
	app.ActionInitialize: remake,
	app.ActionStart: `muster_make
muster_begin
muster_watch
muster_say "the container $muster_name is running"`,
	app.ActionStop: `if [ "$(muster_get '{{.State.Running}}')" = true ]; then muster_ours; muster_quietly docker stop "$muster_name" || exit
elif muster_there; then muster_ours; muster_quietly docker stop "$muster_name" || exit; fi
muster_say "the container $muster_name is stopped"`,
	app.ActionRemove: `if muster_there; then muster_ours; docker stop "$muster_name" >/dev/null 2>&1 </dev/null
muster_quietly docker rm --force --volumes "$muster_name" || ! muster_there || exit 1; fi
muster_say "the container $muster_name does not exist"`,
	app.ActionReload: `muster_ours
muster_quietly docker kill --signal HUP "$muster_name" || exit
muster_say "signalled the container $muster_name to reload its configuration"`,
	app.ActionCheck: `muster_look
[ "$muster_health" != unhealthy ] || muster_fell "the container $muster_name is unhealthy"
muster_say "the container $muster_name is running"`,
}

// remake is for actions that change what the container is made of: one that ran then runs again.
const remake = `muster_make
if [ "$muster_was" = true ]; then muster_begin; muster_watch; fi
:`

// payload writes what is done on the node: the same text for the same call.
func (s spec) payload(action app.Action) string {
	var p node.Script
	for _, v := range [][2]string{{"name", s.name}, {"image", s.image}, {"parts", s.parts()}, {"network", s.network}, {"policy", s.policy()}, {"user", s.user}, {"registry", s.registry()},
		{"ports", s.taken()}, {"settle", strconv.Itoa(s.settle)}, {"patience", strconv.Itoa(s.health)}} {
		p.Set("muster_"+v[0], v[1])
	}
	if s.password != "" {
		p.File("password", s.password)
	}
	var file strings.Builder
	args := s.args()
	var exports []string
	for _, v := range s.env {
		if strings.ContainsAny(v.value, "\n\r") {
			exports = append(exports, "export "+v.name+"="+humanize.ShellQuote(v.value))
			args = append(args, "--env", v.name)
		} else {
			file.WriteString(v.name + "=" + v.value + "\n")
		}
	}
	p.File("environment", file.String())
	p.Do("muster_create() {\n(")
	for _, e := range exports {
		p.Do(e)
	}
	line := "exec docker create --env-file \"${muster_dir}environment\""
	for _, a := range args {
		line += " " + humanize.ShellQuote(a)
	}
	line += " " + humanize.ShellQuote(s.image)
	for _, w := range s.command {
		line += " " + humanize.ShellQuote(w)
	}
	p.Do(line + " >/dev/null </dev/null\n)\n}")
	p.Do(functions)
	p.Do(actions[action])
	return p.String()
}

// policy is when to pull: an image that is named by its content does not become another one.
func (s spec) policy() string {
	if s.pull == pullAlways && s.digest() {
		return pullMissing
	}
	return s.pull
}

// taken are the ports of the node that the container needs, as `docker ps` filters by them; of a range, each.
func (s spec) taken() string {
	var out []string
	for _, p := range s.ports {
		from, to, ranged := strings.Cut(p.host, "-")
		if !ranged {
			to = from
		}
		a, _ := strconv.Atoi(from)
		b, _ := strconv.Atoi(to)
		for n := a; n > 0 && n <= b && len(out) < 200; n++ {
			out = append(out, strconv.Itoa(n)+"/"+p.protocol)
		}
	}
	return strings.Join(out, " ")
}
