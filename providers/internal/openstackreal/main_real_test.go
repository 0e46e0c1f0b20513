//go:build real && openstack && linux

package openstackreal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inside names the directory of the tests, in the process that runs them: one in namespaces of its own.
const inside = "MUSTER_OPENSTACK_REAL"

// cloud is what all tests share: it takes minutes to start.
var cloud *openStack

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir := os.Getenv(inside)
	if dir == "" {
		return enter()
	}
	c, err := start(dir)
	if err != nil {
		fmt.Fprintf(os.Stderr, "OpenStack doesn't start: %v\n", err)
		return 1
	}
	cloud = c
	return m.Run() // nothing has to be stopped: this is process 1 of its namespace
}

// enter runs the tests in a process with its own network, processes and mounts, so that listeners, addresses and whatever the tests leave running end
// with it, also if it's killed.
func enter() int {
	if err := missing(); err != nil {
		if os.Getenv("CI") == "true" {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println("skipped:", err)
		return 0
	}
	dir, err := os.MkdirTemp("", "openstack")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	runtime.LockOSThread() // Pdeathsig is of the thread that starts the process
	c := exec.Command("unshare", append([]string{"--net", "--mount", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc", self}, os.Args[1:]...)...)
	c.Env = append(os.Environ(), inside+"="+dir)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	err = c.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// missing says what these tests lack here.
func missing() error {
	var lacks []string
	if os.Geteuid() != 0 {
		lacks = append(lacks, "root, for namespaces")
	}
	for _, program := range []string{"unshare", "mount", "ip", "mariadbd", "/usr/lib/rabbitmq/bin/rabbitmq-server", "/usr/sbin/sshd", python} {
		if _, err := exec.LookPath(program); err != nil {
			lacks = append(lacks, program)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	const modules = "keystone, nova, placement, glance, neutron.tests, waitress, pymysql"
	if err := exec.CommandContext(ctx, python, "-c", "import "+modules).Run(); err != nil {
		lacks = append(lacks, "one of the Python modules "+modules)
	}
	if len(lacks) == 0 {
		return nil
	}
	return fmt.Errorf("a real OpenStack needs %s: run deploy/ci/setup.sh openstack", strings.Join(lacks, "; "))
}

// settle prepares the namespaces: memory for all files, and a loopback.
func settle(dir string) error {
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"); err != nil {
		return fmt.Errorf("mount memory for the files: %w", err)
	}
	return command("ip", "link", "set", "lo", "up")
}

func command(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}
