package sandbox

import (
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"syscall"
)

// programs remembers what the images' SSH servers are able to do.
type programs struct {
	mu      sync.Mutex
	servers map[string]sshServer
}

// sshServer is an SSH server as seen from inside an image.
type sshServer struct {
	path      string
	penalties bool // it locks out addresses that knock too often, which would be us
}

func newPrograms() *programs { return &programs{servers: make(map[string]sshServer)} }

func (p *programs) sshd(image string) (sshServer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s, ok := p.servers[image]; ok {
		return s, nil
	}
	root := image
	if image == HostImage {
		root = "/"
	}
	path, err := sshdPath(root)
	if err != nil {
		return sshServer{}, err
	}
	// Old servers do not know -V, but their complaint holds the version as well.
	cmd := &exec.Cmd{Path: path, Args: []string{path, "-V"}, Dir: "/", Env: []string{}}
	if root != "/" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	}
	out, _ := cmd.CombinedOutput()
	s := sshServer{path: path, penalties: atLeast(out, 9, 8)}
	p.servers[image] = s
	return s, nil
}

var versionForm = regexp.MustCompile(`OpenSSH_(\d+)\.(\d+)`)

func atLeast(banner []byte, major, minor int) bool {
	m := versionForm.FindSubmatch(banner)
	if m == nil {
		return false
	}
	a, _ := strconv.Atoi(string(m[1]))
	b, _ := strconv.Atoi(string(m[2]))
	return a > major || a == major && b >= minor
}
