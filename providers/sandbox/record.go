//go:build unix

package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"muster/app/family"
)

// record is what machine.json holds. It is written before anything is made, so that whatever a crash leaves behind
// is found again.
type record struct {
	ID       string            `json:"id"`
	Intent   string            `json:"intent"`
	Hostname string            `json:"hostname"`
	Mode     string            `json:"mode"`
	Flavor   string            `json:"flavor"`
	Image    string            `json:"image"`
	Baked    string            `json:"baked,omitempty"` // the baked image that its files came from
	Tags     map[string]string `json:"tags"`
	HostKey  string            `json:"host_key"` // public half, authorized_keys form
	Address  string            `json:"address,omitempty"`
	Port     int               `json:"port,omitempty"`
	User     string            `json:"user,omitempty"`
	Created  time.Time         `json:"created"`
	Ready    bool              `json:"ready"` // Create has got to its end
	Init     *initProcess      `json:"init,omitempty"`
	Asleep   bool              `json:"asleep,omitempty"`    // it was stopped, and is not to be taken up again by itself
	Base     string            `json:"base,omitempty"`      // the lower directory of its root, in the data directory
	InMemory bool              `json:"in_memory,omitempty"` // its files are on a tmpfs
}

// initProcess names process 1 of a machine as this host sees it. Start and Boot keep a process that got the same number
// later from being taken for it.
type initProcess struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks after boot
	Boot  string `json:"boot"`  // the kernel's boot id
}

// idOf derives the machine's id from its intent, which makes a second Create find the first one's machine.
func idOf(intent string) string {
	sum := sha256.Sum256([]byte(intent))
	return "sb-" + hex.EncodeToString(sum[:6])
}

var idForm = regexp.MustCompile(`^sb-[0-9a-f]{12}$`)

// layout names the places in a data directory.
type layout struct{ dir string }

func (l layout) nodes() string               { return filepath.Join(l.dir, "nodes") }
func (l layout) node(id string) string       { return filepath.Join(l.dir, "nodes", id) }
func (l layout) addresses() string           { return filepath.Join(l.dir, "addresses") }
func (l layout) trash() string               { return filepath.Join(l.dir, "trash") }
func (l layout) lock() string                { return filepath.Join(l.dir, "lock") }
func (l layout) file(id, n string) string    { return filepath.Join(l.dir, "nodes", id, n) }
func (l layout) recordFile(id string) string { return l.file(id, "machine.json") }

// prepare makes the directories that everything else expects.
func (l layout) prepare() error {
	for _, d := range []string{l.nodes(), l.addresses(), l.trash()} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	return nil
}

// load reads a record; fs.ErrNotExist where there is none, also for an id that no machine can have.
func (l layout) load(id string) (*record, error) {
	if !idForm.MatchString(id) {
		return nil, fs.ErrNotExist
	}
	b, err := os.ReadFile(l.recordFile(id))
	if err != nil {
		return nil, err
	}
	r := new(record)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", l.recordFile(id), err)
	}
	return r, nil
}

// save writes a record so that a reader, also one after a power loss, sees the old one or the new one.
func (l layout) save(r *record) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(l.recordFile(r.ID), append(b, '\n'), 0o600)
}

// unfinishedFile is the pattern of names of files that are being written.
const unfinishedFile = ".new-*"

func writeFile(path string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), unfinishedFile)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// ids returns the machines that have a directory, sorted; some may be half made or half gone.
func (l layout) ids() ([]string, error) {
	entries, err := os.ReadDir(l.nodes())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, e := range entries {
		if idForm.MatchString(e.Name()) {
			ids = append(ids, e.Name())
		}
	}
	return ids, nil
}

// discard removes a machine's directory. It is moved out of the way first, so that a crash leaves no half of a machine.
func (l layout) discard(id string) error {
	grave, err := os.MkdirTemp(l.trash(), id+"-")
	if err != nil {
		return err
	}
	if err := os.Rename(l.node(id), filepath.Join(grave, id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(grave)
}

// sweep finishes discards that a crash cut short.
func (l layout) sweep() {
	entries, _ := os.ReadDir(l.trash())
	for _, e := range entries {
		_ = os.RemoveAll(filepath.Join(l.trash(), e.Name()))
	}
}

// machine is what the outside sees of a record.
func (r *record) machine(state family.MachineState, note string) family.Machine {
	m := family.Machine{
		ID:        r.ID,
		State:     state,
		Hostname:  r.Hostname,
		SSHUser:   r.User,
		SSHPort:   r.Port,
		Tags:      maps.Clone(r.Tags),
		HostKey:   r.HostKey,
		OwnRoot:   r.Mode == ModeNamespaces,
		Note:      note,
		CreatedAt: r.Created,
	}
	if r.Address != "" {
		m.Addresses = map[string]string{"access_v4": r.Address, "bind_v4": r.Address}
	}
	return m
}
