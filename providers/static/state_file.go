package static

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"muster/app"
)

// memory keeps what was last known of machines, for when they cannot be asked, and the host keys that were pinned: a file for each machine in the
// account's data
// directory. Without a directory it lasts as long as the process.
type memory struct {
	dir string

	mu   sync.Mutex
	seen map[string]*remembered // by the machine's name
}

// remembered is bound to the address: a machine that was moved is asked again, and one that took its place proves itself again.
type remembered struct {
	At     string  `json:"at"`
	Pinned string  `json:"pinned,omitempty"`
	Seen   bool    `json:"seen,omitempty"`
	Record *record `json:"record,omitempty"`
}

func newMemory(dir string) *memory { return &memory{dir: dir, seen: map[string]*remembered{}} }

func (m *memory) file(name string) string { return filepath.Join(m.dir, name+".json") }

// load returns what is known of a machine. m.mu is held.
func (m *memory) load(of *machine) (*remembered, error) {
	if r := m.seen[of.name]; r != nil && r.At == of.at() {
		return r, nil
	}
	fresh := &remembered{At: of.at()}
	if m.dir == "" {
		m.seen[of.name] = fresh
		return fresh, nil
	}
	b, err := os.ReadFile(m.file(of.name))
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil // another process may come to know it
	}
	if err != nil {
		return nil, app.Errorf(app.EInternal, "can't read the state of machine %s: %w", of.name, err)
	}
	r := new(remembered)
	if err := json.Unmarshal(b, r); err != nil {
		return nil, app.Errorf(app.EInternal, "can't read the state of machine %s in %s: %w", of.name, m.file(of.name), err)
	}
	if r.At != of.at() {
		return fresh, nil
	}
	m.seen[of.name] = r
	return r, nil
}

// save writes what is known where it has changed. m.mu is held.
func (m *memory) save(of *machine, r *remembered) error {
	if m.dir == "" {
		m.seen[of.name] = r
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if old, err := os.ReadFile(m.file(of.name)); err == nil && bytes.Equal(old, b) {
		m.seen[of.name] = r
		return nil
	}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(m.dir, ".new-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), m.file(of.name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	m.seen[of.name] = r
	return nil
}

// note keeps that a machine was seen, and with what record; nil is free.
func (m *memory) note(of *machine, rec *record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.load(of)
	if err != nil {
		return err
	}
	if r.Seen && (r.Record == nil) == (rec == nil) && (rec == nil || r.Record.line() == rec.line()) {
		return nil
	}
	return m.save(of, &remembered{At: r.At, Pinned: r.Pinned, Seen: true, Record: rec})
}

// last returns what was last known, and whether anything was.
func (m *memory) last(of *machine) (*record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.load(of)
	if err != nil {
		return nil, false, err
	}
	return r.Record, r.Seen, nil
}

// hostKey returns the key that a machine is held to, "" where none is known yet.
func (m *memory) hostKey(of *machine) (string, error) {
	if of.hostKey != "" {
		return of.hostKey, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.load(of)
	if err != nil {
		return "", err
	}
	return r.Pinned, nil
}

// pin keeps the key that a machine presents first, and returns the one that counts.
func (m *memory) pin(of *machine, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.load(of)
	if err != nil || r.Pinned != "" {
		if err != nil {
			return "", err
		}
		return r.Pinned, nil
	}
	if err := m.save(of, &remembered{At: r.At, Pinned: key, Seen: r.Seen, Record: r.Record}); err != nil {
		return "", app.Errorf(app.EInternal, "can't save the host key of machine %s: %w", of.name, err)
	}
	return key, nil
}
