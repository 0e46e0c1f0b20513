package docker

import (
	"context"
	"fmt"
	"strings"

	"muster/app"
	"muster/app/family"
	"muster/automators/internal/node"
)

const adviceMissing = "Use an image with Docker, or one whose package manager has it (docker.io, docker or moby-engine)."

// software says how Docker is installed. Debian keeps the command line in a package of its own since its thirteenth release.
var software = node.Software{
	Name: "Docker", Program: "docker", APT: []string{"docker.io"}, With: []string{"docker-cli"}, RPM: []string{"docker", "moby-engine"},
	Zypper: []string{"docker"}, APK: []string{"docker"}, Hint: adviceMissing,
}

// startDocker starts the engine's service where none answers, and waits until one does.
const startDocker = `muster_ready() { docker version --format '{{.Server.Version}}' 2>"${muster_dir}err" </dev/null; }
muster_ready && exit 0
if command -v systemctl >/dev/null && [ -d /run/systemd/system ]; then systemctl enable --now docker </dev/null
elif command -v rc-service >/dev/null; then rc-update add docker </dev/null; rc-service docker start </dev/null
elif command -v service >/dev/null; then service docker start </dev/null; fi
muster_left=150
until muster_ready; do
muster_left=$((muster_left - 1))
[ "$muster_left" -gt 0 ] || { cat "${muster_dir}err" >&2; exit 1; }
sleep 0.2 2>/dev/null || { sleep 1; muster_left=$((muster_left - 4)); }
done
`

// Bootstrap carries out family.Automator: it looks for an engine that answers, and gets and starts one where there is none.
func (Docker) Bootstrap(ctx context.Context, sh family.Shell, n family.NodeContext, out family.Output) error {
	if err := node.Install(ctx, sh, n, software, out); err != nil {
		return fmt.Errorf("docker: %w", err)
	}
	var s node.Script
	s.Do(startDocker)
	var last node.LastLine
	exit, err := node.Do(ctx, sh, family.Command{Line: runLine, Stdin: strings.NewReader(s.String())}, last.Watch(out))
	if err != nil {
		if ctx.Err() != nil {
			node.Sweep(ctx, sh)
		}
		return fmt.Errorf("docker: bootstrap: %w", err)
	}
	if exit != 0 {
		return &app.Error{Code: app.EScript, Reason: "bootstrap", Message: "Can't prepare node " + n.Node + " for containers" + last.Because(), Hint: adviceMissing}
	}
	return nil
}
