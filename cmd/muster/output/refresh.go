package output

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
	"muster/jobs/remote"
)

const (
	// connectionTime is how long a certificate is valid. It's checked at sign-in only; an open session continues.
	connectionTime = "5m"
	// usedFor is how long one is used again.
	usedFor = 4 * time.Minute
)

// refreshSSH makes sure that a cluster's certificate is valid for a while, and its host keys are known.
func refreshSSH(ctx context.Context, c *cli.Context, f sshFiles, id string) error {
	if !sshWord.MatchString(id) {
		return cli.Usagef("%q isn't the ID of a cluster", id)
	}
	public, err := f.key(id)
	if err != nil {
		return err
	}
	if is, err := os.Stat(f.of(id, certificateFile)); err == nil && time.Since(is.ModTime()).Abs() < usedFor {
		return nil
	}
	cl, v, err := cluster.ConnectTo(ctx, c, id, false)
	if err != nil {
		return err
	}
	cert, err := cl.Clusters.Certificate(ctx, v.ID, public, connectionTime)
	if err != nil {
		return err
	}
	if err := cli.WritePrivate(f.of(id, knownHosts), []byte(cluster.KnownHosts(v.Nodes))); err != nil {
		return err
	}
	return cli.WritePrivate(f.of(id, certificateFile), []byte(cert.Certificate+"\n"))
}

// key returns the public key of a cluster's folder, and makes the folder where there is none. Of several that do so
// at once, the first one counts.
func (f sshFiles) key(id string) (public string, err error) {
	have := func() (string, error) {
		b, err := os.ReadFile(f.of(id, keyFile+".pub"))
		return strings.TrimSpace(string(b)), err
	}
	if public, err = have(); !os.IsNotExist(err) {
		return public, err
	}
	mine := filepath.Join(f.dir, ".new-"+rand.Text())
	if err := os.MkdirAll(mine, 0o700); err != nil {
		return "", err
	}
	defer os.RemoveAll(mine)
	private, public, err := remote.Keys{}.NewKey("muster")
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{keyFile: string(private), keyFile + ".pub": public + "\n"} {
		if err := cli.WritePrivate(filepath.Join(mine, name), []byte(text)); err != nil {
			return "", err
		}
	}
	if err := os.Rename(mine, f.of(id, "")); err != nil && !os.IsExist(err) {
		return "", err
	}
	return have()
}
