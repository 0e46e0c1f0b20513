//go:build unix

package fake

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
	"muster/app"
	"muster/app/family"
)

// Nodes are SSH servers in this process that answer as the machines of a Cloud: give Bind to Cloud.Bind, and tell Keep
// from time to time which machines there are. What they are asked to run they run, with a directory of the machine's own as
// home, which stays when the machine is gone. Close them.
type Nodes struct {
	// Path is a directory whose programs commands find before those of the host; "" is none. Say it before there are machines.
	Path string

	dir string

	mu     sync.Mutex
	nodes  map[string]*node // by address and port
	serial int
	closed bool
	lose   int // so many commands still end without telling their exit status
	lost   int
	ran    int
	work   sync.WaitGroup
}

// NewNodes returns nodes whose directories are made below dir: <cluster>/<node>.<intent>.<number>, one for each machine.
func NewNodes(dir string) *Nodes { return &Nodes{dir: dir, nodes: make(map[string]*node)} }

// Bind starts a server for a machine. Where it cannot, the machine has an address where no one answers.
func (n *Nodes) Bind(spec family.MachineSpec) Endpoint {
	nowhere := Endpoint{Address: "127.0.0.1", Port: 1}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nowhere
	}
	// Each machine has an address of its own, so that one who comes too late never talks to another.
	n.serial++
	address := fmt.Sprintf("127.%d.%d.%d", 160+n.serial/(250*250)%64, n.serial/250%250, n.serial%250+1)
	m, err := newNode(n, filepath.Join(n.dir, file(spec.Tags[family.TagCluster]), file(spec.Tags[family.TagNode])+"."+file(spec.Intent)+"."+strconv.Itoa(n.serial)), spec)
	if err != nil {
		return nowhere
	}
	if m.listener, err = net.Listen("tcp4", address+":0"); err != nil {
		// Outside of Linux only 127.0.0.1 is there by itself.
		if m.listener, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			return nowhere
		}
	}
	at := m.listener.Addr().(*net.TCPAddr)
	n.nodes[at.String()] = m
	n.work.Go(m.accept)
	return Endpoint{Address: at.IP.String(), Port: at.Port, User: "root"}
}

// Adopt lets the key of a machine's next node in, and the old one no more: give it to Cloud.OnAdopt.
func (n *Nodes) Adopt(at Endpoint, spec family.MachineSpec) {
	allowed, _, _, _, err := ssh.ParseAuthorizedKey([]byte(spec.AuthorizedKey))
	if err != nil {
		return
	}
	n.mu.Lock()
	m := n.nodes[net.JoinHostPort(at.Address, strconv.Itoa(at.Port))]
	n.mu.Unlock()
	if m != nil {
		m.allowed.Store(&allowed)
	}
}

// file makes a name that is one element of a path.
func file(name string) string {
	if name == "" || strings.HasPrefix(name, ".") {
		name = "_" + name
	}
	return strings.NewReplacer("/", "_", "\x00", "_").Replace(name)
}

// Keep ends the nodes whose machine was among those that run and is not any more, with all that they are doing. One that has
// never been among them is still to come.
func (n *Nodes) Keep(machines []family.Machine) {
	running := make(map[string]bool, len(machines))
	for _, m := range machines {
		at := net.JoinHostPort(m.Addresses[app.AddressAccess], strconv.Itoa(m.SSHPort))
		running[at] = m.State == family.MachineRunning
	}
	n.end(func(at string, m *node) bool {
		m.seen = m.seen || running[at]
		return m.seen && !running[at]
	})
}

// end ends the nodes that are chosen; choose is called with the lock held.
func (n *Nodes) end(choose func(at string, m *node) bool) {
	n.mu.Lock()
	var gone []*node
	for at, m := range n.nodes {
		if choose(at, m) {
			gone = append(gone, m)
			delete(n.nodes, at)
		}
	}
	n.mu.Unlock()
	for _, m := range gone {
		m.stop()
	}
}

// Close ends all nodes. A second time does nothing.
func (n *Nodes) Close() error {
	n.mu.Lock()
	n.closed = true
	n.mu.Unlock()
	n.end(func(string, *node) bool { return true })
	n.work.Wait()
	return nil
}

// Busy returns how many commands run now.
func (n *Nodes) Busy() (commands int) {
	for _, m := range n.all() {
		commands += m.busy()
	}
	return commands
}

// Commands returns how many commands were started so far.
func (n *Nodes) Commands() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ran
}

func (n *Nodes) count() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ran++
}

// Cut ends all connections of some nodes, as a network does that breaks: those that run commands first. It returns how many
// nodes had connections to lose.
func (n *Nodes) Cut(nodes int) (cut int) {
	all := n.all()
	slices.SortStableFunc(all, func(a, b *node) int { return b.busy() - a.busy() })
	for _, m := range all {
		if cut < nodes && m.drop() {
			cut++
		}
	}
	return cut
}

// LoseExits lets so many more commands end unheard: the connection breaks after the command has ended and before its exit
// status is sent. LostExits counts those that have.
func (n *Nodes) LoseExits(commands int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lose = commands
}

// LostExits returns how many commands have ended unheard so far.
func (n *Nodes) LostExits() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lost
}

func (n *Nodes) losesExit() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lose == 0 {
		return false
	}
	n.lose--
	n.lost++
	return true
}

func (n *Nodes) all() []*node {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]*node, 0, len(n.nodes))
	for _, m := range n.nodes {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *node) int { return strings.Compare(a.dir, b.dir) })
	return all
}

// newNode makes a node's directories and reads its keys.
func newNode(all *Nodes, dir string, spec family.MachineSpec) (*node, error) {
	for _, d := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	host, err := ssh.ParsePrivateKey(spec.HostKey)
	if err != nil {
		return nil, err
	}
	allowed, _, _, _, err := ssh.ParseAuthorizedKey([]byte(spec.AuthorizedKey))
	if err != nil {
		return nil, err
	}
	m := &node{all: all, dir: dir, conns: make(map[net.Conn]struct{}), groups: make(map[int]struct{})}
	m.allowed.Store(&allowed)
	m.config = serverConfig(host, func() ssh.PublicKey { return *m.allowed.Load() })
	return m, nil
}
