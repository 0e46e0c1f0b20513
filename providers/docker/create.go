package docker

import (
	"archive/tar"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"muster/app"
	"muster/app/family"
	"muster/providers/internal/account"
)

// Labels. Those of images are seen on their containers too, so ours have a prefix.
const (
	tagPrefix     = "muster.tag."
	labelHostname = "muster.hostname"
	labelHostKey  = "muster.host-key"
	labelUser     = "muster.ssh-user"
)

// Where our files are in a container.
const (
	keyDir   = "/etc/muster-ssh"
	hostFile = keyDir + "/host_key"
	letsIn   = keyDir + "/authorized_keys"
)

var sshPort = network.MustParsePort("22/tcp")

// name is of a machine alone, among those of all installations.
func name(tags map[string]string) string {
	sum := sha256.Sum256([]byte(tags[family.TagInstallation] + "\x00" + tags[family.TagIntent]))
	return "muster-" + hex.EncodeToString(sum[:12])
}

// order is what one container is made of.
type order struct {
	name    string
	config  *container.Config
	host    *container.HostConfig
	files   []byte // an archive for the container's root
	hostKey string
}

// sshdCommand starts the container's sshd, with a host key of ours where there is one.
func sshdCommand(sshd string, ownKey bool) []string {
	command := []string{sshd, "-D", "-e", "-o", "PidFile=none", "-o", "PasswordAuthentication=no", "-o", "PermitRootLogin=prohibit-password",
		"-o", "AuthorizedKeysFile=" + letsIn + " .ssh/authorized_keys"}
	if ownKey {
		command = append(command, "-h", hostFile)
	}
	return command
}

func (e *engine) order(spec family.MachineSpec) (*order, error) {
	extra, err := read(e.raw.With(spec.Image.Extra))
	if err != nil {
		return nil, err
	}
	size, ok := readFlavor(spec.Flavor.Flavor)
	if !ok {
		return nil, unknownFlavor(spec.Flavor.Flavor)
	}
	if spec.Flavor.GPUs > 0 {
		return nil, &app.Error{Code: app.EInvalid, Message: "Containers of this provider can't have GPUs.",
			Hint: "Remove gpus from the hardware type, or use another provider."}
	}
	image, err := e.imageName(spec.Image)
	if err != nil {
		return nil, err
	}
	o := &order{name: name(spec.Tags)}
	if len(spec.HostKey) > 0 {
		if o.hostKey, err = account.PublicLine(spec.HostKey); err != nil {
			return nil, err
		}
	}
	user := cmp.Or(spec.Image.SSHUser, "root")
	labels := map[string]string{labelHostname: spec.Hostname, labelHostKey: o.hostKey, labelUser: user, labelTags: tagList(spec.Tags)}
	for k, v := range spec.Tags {
		labels[tagPrefix+k] = v
	}
	command := sshdCommand(extra.sshd, o.hostKey != "")
	o.config = &container.Config{Image: image, Hostname: shortEnough(spec.Hostname), User: "0:0", Entrypoint: command[:1], Cmd: command[1:], Labels: labels, StopSignal: "SIGTERM"}
	o.host = &container.HostConfig{
		NetworkMode:   container.NetworkMode(e.network),
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyUnlessStopped},
		Resources:     container.Resources{NanoCPUs: int64(size.cpus * 1e9), Memory: size.bytes},
	}
	if e.publish.IsValid() {
		o.config.ExposedPorts = network.PortSet{sshPort: {}}
		o.host.PortBindings = network.PortMap{sshPort: {{HostIP: e.publish}}}
	}
	o.files, err = archive(spec)
	return o, err
}

// shortEnough returns a host name that the kernel takes.
func shortEnough(hostname string) string {
	if len(hostname) <= 63 {
		return hostname
	}
	return account.Name(hostname)
}

// archive holds the host key, the key that lets us in, and the folder that sshd wants to be there.
func archive(spec family.MachineSpec) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	put := func(name string, mode int64, content []byte) error {
		h := &tar.Header{Name: name[1:], Mode: mode, Size: int64(len(content)), Typeflag: tar.TypeReg, ModTime: time.Unix(0, 0)}
		if content == nil {
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		}
		if err := w.WriteHeader(h); err != nil {
			return err
		}
		_, err := w.Write(content)
		return err
	}
	for _, dir := range []string{"/run/sshd", keyDir} {
		if err := put(dir, 0o755, nil); err != nil {
			return nil, err
		}
	}
	if len(spec.HostKey) > 0 {
		if err := put(hostFile, 0o600, spec.HostKey); err != nil {
			return nil, err
		}
	}
	if err := put(letsIn, 0o644, []byte(spec.AuthorizedKey+"\n")); err != nil {
		return nil, err
	}
	return b.Bytes(), w.Close()
}

// Create makes the container where there is none of its name, puts the keys into one that never ran, and starts it: a retry after a failure continues
// where it was.
func (e *engine) Create(ctx context.Context, spec family.MachineSpec) (family.Machine, error) {
	o, err := e.order(spec)
	if err != nil {
		return family.Machine{}, err
	}
	release, err := e.locks.Lock(ctx, o.name)
	if err != nil {
		return family.Machine{}, err
	}
	defer release()
	ctx, h, err := e.asking(ctx)
	if err != nil {
		return family.Machine{}, err
	}
	c, err := e.inspect(ctx, o.name)
	if absent(err) {
		if err := e.permitted(ctx, h, o.config.Image, spec.Tags); err != nil {
			return family.Machine{}, err
		}
		if err := e.provide(ctx, h, spec.Image, o.config.Image); err != nil {
			return family.Machine{}, err
		}
		if o.host.Mounts, err = e.mounts(ctx, spec); err != nil {
			return family.Machine{}, err
		}
		_, err = e.api.ContainerCreate(ctx, client.ContainerCreateOptions{Config: o.config, HostConfig: o.host, Name: o.name})
		if err = failure(ctx, h, err); absent(err) {
			err = &app.Error{Code: app.EInvalid, Reason: reasonAbsent, Message: app.AsError(err).Message, Hint: neverPulls}
		}
		// That the name is taken means that another process was faster: then it is there.
		if err != nil && h.code() != 409 {
			return family.Machine{}, err
		}
		c, err = e.inspect(ctx, o.name)
	}
	if err != nil {
		return family.Machine{}, err
	}
	if !ours(c, spec.Tags) {
		return family.Machine{}, app.Errorf(app.EInvalid, "Container %s already exists and wasn't created by Muster.", o.name)
	}
	if c.State != nil && c.State.Status == container.StateCreated {
		if c, err = e.begin(ctx, h, o, c.ID); err != nil {
			return family.Machine{}, err
		}
	}
	return e.machine(c), nil
}

// begin installs a container's keys and starts it. One that can never start is removed.
func (e *engine) begin(ctx context.Context, h *heard, o *order, id string) (*container.InspectResponse, error) {
	_, err := e.api.CopyToContainer(ctx, id, client.CopyToContainerOptions{DestinationPath: "/", Content: bytes.NewReader(o.files)})
	if err == nil {
		_, err = e.api.ContainerStart(ctx, id, client.ContainerStartOptions{})
	}
	if err = failure(ctx, h, err); err != nil {
		if refused(err) {
			_, _ = e.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}) // what it was refused for counts
		}
		return nil, err
	}
	return e.inspect(ctx, id)
}

func unknownFlavor(name string) *app.Error {
	e := app.Errorf(app.EInvalid, "%q isn't a valid container size.", name)
	e.Hint = "Use 2cpu-4gb, 0.5cpu-256mb or unlimited."
	return e
}
