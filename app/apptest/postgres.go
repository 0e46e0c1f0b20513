//go:build real

package apptest

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Postgres is a throwaway PostgreSQL: a cluster of its own in a temporary directory, reached through a Unix socket there
// (without a password) and a loopback port (with one). Close it.
type Postgres struct {
	Dir      string
	Port     int
	User     string
	Password string

	bin     string
	options []string
	who     *syscall.SysProcAttr // PostgreSQL refuses to run as root
	cmd     *exec.Cmd
	count   atomic.Int64
}

// StartPostgres makes and starts one. Settings are PostgreSQL's own, such as "fsync=on"; the default is to be quick and to
// lose everything in a power cut.
func StartPostgres(settings ...string) (p *Postgres, err error) {
	p = &Postgres{User: "app", Password: "p@ss/word#1"}
	if p.bin, err = postgresPrograms(); err != nil {
		return nil, err
	}
	if p.Dir, err = os.MkdirTemp(postgresPlace(settings), "muster-pg-"); err != nil {
		return nil, err
	}
	if err := p.make(settings); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

// postgresPlace is where the files go: into memory where there is room for them and no one asks for what a disk would keep. Every database is some
// 700 files, and ext4 takes fifteen times as long for them.
func postgresPlace(settings []string) string {
	const shm, room = "/dev/shm", 2 << 30
	var fs unix.Statfs_t
	if slices.Contains(settings, "fsync=on") || unix.Statfs(shm, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < room || unix.Access(shm, unix.W_OK) != nil {
		return "" // that of TMPDIR
	}
	return shm
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
		return "", errors.New("PostgreSQL is not here (Debian: apt-get install postgresql)")
	}
	return filepath.Dir(path), nil
}

func (p *Postgres) make(settings []string) error {
	if os.Getuid() == 0 {
		nobody, err := user.Lookup("nobody")
		if err != nil {
			return err
		}
		uid, _ := strconv.Atoi(nobody.Uid)
		gid, _ := strconv.Atoi(nobody.Gid)
		p.who = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		if err := os.Chown(p.Dir, uid, gid); err != nil {
			return err
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.Port = l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	password := filepath.Join(p.Dir, "password")
	if err := os.WriteFile(password, []byte(p.Password), 0o644); err != nil {
		return err
	}
	if err := p.run("initdb", "-D", p.data(), "-U", p.User, "--auth-local=trust", "--auth-host=scram-sha-256", "--pwfile="+password,
		"--no-sync", "-E", "UTF8", "--locale=C"); err != nil {
		return err
	}
	p.options = []string{"-D", p.data(), "-k", p.Dir, "-c", "listen_addresses=127.0.0.1", "-c", "port=" + strconv.Itoa(p.Port),
		"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "max_connections=200"}
	for _, s := range settings {
		p.options = append(p.options, "-c", s)
	}
	return p.Start()
}

func (p *Postgres) data() string { return filepath.Join(p.Dir, "data") }

func (p *Postgres) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, program), args...)
	cmd.Dir, cmd.SysProcAttr = p.Dir, p.who
	cmd.Env = append(os.Environ(), "PGHOST="+p.Dir, "PGPORT="+strconv.Itoa(p.Port), "PGUSER="+p.User, "LC_ALL=C")
	return cmd
}

func (p *Postgres) run(program string, args ...string) error {
	if out, err := p.command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, out)
	}
	return nil
}

// Start starts it and waits until it answers.
func (p *Postgres) Start() error {
	log, err := os.OpenFile(filepath.Join(p.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := p.command("postgres", p.options...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd = cmd
	for deadline := time.Now().Add(Hangs); ; time.Sleep(20 * time.Millisecond) {
		if err = p.run("psql", "-q", "-d", "postgres", "-c", "SELECT 1"); err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			text, _ := os.ReadFile(filepath.Join(p.Dir, "log"))
			return fmt.Errorf("PostgreSQL did not start: %w\n%s", err, text)
		}
	}
}

// Stop stops it as a power cut of its host does: at once, in the middle of everything. Start starts it again.
func (p *Postgres) Stop() error { return p.stop(syscall.SIGQUIT) }

func (p *Postgres) stop(how syscall.Signal) error {
	if p.cmd == nil {
		return nil
	}
	err := p.cmd.Process.Signal(how)
	_ = p.cmd.Wait() // an immediate stop is no success
	p.cmd = nil
	return err
}

// Close ends it and removes its files.
func (p *Postgres) Close() error {
	return errors.Join(p.stop(syscall.SIGQUIT), os.RemoveAll(p.Dir))
}

// SQL says something to a database and returns the answer, unaligned.
func (p *Postgres) SQL(database, text string) (string, error) {
	out, err := p.command("psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", text).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("psql: %w: %s", err, out)
	}
	return strings.TrimSpace(string(out)), err
}

// Make makes a database, like the template where that is not "".
func (p *Postgres) Make(name, template string) error {
	if template == "" {
		template = "template0"
	}
	return p.run("createdb", "-T", template, name)
}

// Fresh makes a database for a test, like the template where that is not "", and returns its address.
func (p *Postgres) Fresh(t testing.TB, template string) string {
	t.Helper()
	name := fmt.Sprintf("test%d", p.count.Add(1))
	if err := p.Make(name, template); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd == nil {
			return
		}
		if err := p.run("dropdb", "--force", name); err != nil {
			t.Error(err)
		}
	})
	return p.URL(name)
}

// URL is the address of a database by the socket.
func (p *Postgres) URL(database string) string {
	return fmt.Sprintf("postgres:///%s?%s", database, url.Values{"host": {p.Dir}, "port": {strconv.Itoa(p.Port)}, "user": {p.User}}.Encode())
}

// NetworkURL is the address of a database by TCP, with the password given.
func (p *Postgres) NetworkURL(database, password string) string {
	return p.URLBy(p.Port, database, password)
}

// URLBy is NetworkURL by way of another loopback port.
func (p *Postgres) URLBy(port int, database, password string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(p.User, password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		Path: database, RawQuery: "sslmode=disable"}
	return u.String()
}
