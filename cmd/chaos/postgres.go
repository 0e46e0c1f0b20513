//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	accounts "os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// addPostgres prepares a PostgreSQL of its own, which is killed and started again like the rest. It returns where it listens.
func (y *system) addPostgres(s setup) (address string, err error) {
	bin, err := postgresPrograms()
	if err != nil {
		return "", err
	}
	// It refuses to be root, so it cannot live in the directory of the run, which is for us alone.
	dir, err := os.MkdirTemp("", "muster-chaos-pg-")
	if err != nil {
		return "", err
	}
	y.closers = append(y.closers, func() error { return os.RemoveAll(dir) })
	var who *syscall.Credential
	if os.Getuid() == 0 {
		if who, err = unprivileged(); err != nil {
			return "", err
		}
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			return "", err
		}
	}
	data := filepath.Join(dir, "data")
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-U", "app", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C")
	initdb.Dir, initdb.SysProcAttr = dir, &syscall.SysProcAttr{Credential: who}
	if out, err := initdb.CombinedOutput(); err != nil {
		return "", fmt.Errorf("initdb: %w: %s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	address = "127.0.0.1:" + strconv.Itoa(port)
	y.database = &process{name: "postgres", log: filepath.Join(s.dir, "postgres.log"), died: s.died, dir: dir, who: who,
		end:   syscall.SIGQUIT, // it ends at once, as in a crash, and takes its children along
		stops: syscall.SIGINT,
		argv: []string{filepath.Join(bin, "postgres"), "-D", data, "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "port=" + strconv.Itoa(port),
			"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200"},
		ready: func(ctx context.Context) error {
			out, err := exec.CommandContext(ctx, filepath.Join(bin, "psql"), "-h", "127.0.0.1", "-p", strconv.Itoa(port), "-U", "app", "-d", "postgres", "-qc", "SELECT 1").CombinedOutput()
			if err != nil {
				return fmt.Errorf("%w: %s", err, out)
			}
			return nil
		}}
	return address, nil
}

// postgresPrograms finds the newest installed version.
func postgresPrograms() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) > 0 {
		slices.SortFunc(found, func(a, b string) int { return len(a) - len(b) + strings.Compare(a, b) })
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		return "", errors.New("PostgreSQL isn't installed (Debian: apt-get install postgresql)")
	}
	return filepath.Dir(path), nil
}

func unprivileged() (*syscall.Credential, error) {
	u, err := accounts.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, uidErr := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(uidErr, gidErr)
}
