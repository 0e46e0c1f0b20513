package output

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"muster/cmd/muster/cli"
	"muster/cmd/muster/cluster"
	"muster/jobs/remote"

	"golang.org/x/crypto/ssh"
)

const (
	// connectionTime is how long a certificate is valid. It's checked at sign-in only; an open session continues.
	connectionTime = "5m"
	// leastTime is how long one must still be valid to be used again.
	leastTime = time.Minute
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
	if f.valid(id, public, time.Now()) {
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
	if err := cli.WritePrivate(f.of(id, ".known_hosts"), []byte(cluster.KnownHosts(v.Nodes))); err != nil {
		return err
	}
	return cli.WritePrivate(f.of(id, "-cert.pub"), []byte(cert.Certificate+"\n"))
}

// key returns the public key of a cluster's files, and makes a key where there is none. Of several that do so at once, the first one counts.
func (f sshFiles) key(id string) (public string, err error) {
	public, err = publicOf(f.of(id, ""))
	if !errors.Is(err, fs.ErrNotExist) {
		return public, err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return "", err
	}
	private, _, err := remote.Keys{}.NewKey("muster")
	if err != nil {
		return "", err
	}
	mine := f.of(id, ".new-"+rand.Text())
	defer os.Remove(mine)
	if err := cli.WritePrivate(mine, private); err != nil {
		return "", err
	}
	if err := os.Link(mine, f.of(id, "")); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return publicOf(f.of(id, ""))
}

func publicOf(file string) (string, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	key, err := ssh.ParsePrivateKey(b)
	if err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey()))), nil
}

// valid reports whether there is a certificate for the key that holds for a while.
func (f sshFiles) valid(id, public string, now time.Time) bool {
	b, err := os.ReadFile(f.of(id, "-cert.pub"))
	if err != nil {
		return false
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(b)
	cert, is := key.(*ssh.Certificate)
	if err != nil || !is {
		return false
	}
	ours, _, _, _, err := ssh.ParseAuthorizedKey([]byte(public))
	return err == nil && string(ours.Marshal()) == string(cert.Key.Marshal()) && int64(cert.ValidBefore) > now.Add(leastTime).Unix()
}
