package cache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/template"
)

// cupboard returns contents as a server does, and counts what it was asked.
type cupboard struct {
	mu    sync.Mutex
	all   map[string][]byte
	froms []int64           // from where each was asked
	spoil func(try int) int // how many bytes of an answer come; -1 for all, with one of them changed below -1
	held  []string
}

func (s *cupboard) FetchResource(_ context.Context, _ app.WorkerID, _ app.Fence, hash string, from int64) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.all[hash]
	if !ok {
		return nil, app.Errorf(app.ENotFound, "there is no %s", hash)
	}
	s.froms = append(s.froms, from)
	rest := bytes.Clone(content[from:])
	if s.spoil != nil {
		switch n := s.spoil(len(s.froms)); {
		case n >= 0:
			return io.NopCloser(io.MultiReader(bytes.NewReader(rest[:min(n, len(rest))]), broken{})), nil
		case n < -1:
			rest[len(rest)/2] ^= 1
		}
	}
	return io.NopCloser(bytes.NewReader(rest)), nil
}

func (s *cupboard) HoldResources(_ context.Context, _ app.WorkerID, hashes []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = slices.Sorted(slices.Values(hashes))
	return nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the line is cut") }

// shelved puts a content of so many bytes in the cupboard.
func (s *cupboard) shelved(name string, size int) template.ResourceRef {
	content := bytes.Repeat([]byte(name), size)[:size]
	sum := sha256.Sum256(content)
	if s.all == nil {
		s.all = map[string][]byte{}
	}
	ref := template.ResourceRef{Type: "file", Name: name, Version: 1, Hash: hex.EncodeToString(sum[:]), Size: int64(size)}
	s.all[ref.Hash] = content
	return ref
}

// takes asks a cache for a content, and returns what the file holds.
func takes(t *testing.T, c *Resources, s *cupboard, ref template.ResourceRef, tenant string) (content []byte, fetched bool, err error) {
	t.Helper()
	file, fetched, err := Fetch{From: s, As: &execution.Assignment{}, ID: app.WorkerID{Tenant: tenant, Name: "w1"}, Ref: ref, Cache: c}.Open(t.Context())
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	if content, err = io.ReadAll(file); err != nil {
		t.Fatal(err)
	}
	return content, fetched, nil
}

func newCache(t *testing.T, limit int64) *Resources {
	return &Resources{Dir: filepath.Join(t.TempDir(), "cache"), Limit: limit}
}

// wants takes a content that must be right, fetched or not.
func wants(t *testing.T, c *Resources, s *cupboard, ref template.ResourceRef, tenant string, fetched bool) {
	t.Helper()
	content, was, err := takes(t, c, s, ref, tenant)
	if err != nil || was != fetched || !bytes.Equal(content, s.all[ref.Hash]) {
		t.Errorf("%s of %s: %d bytes, fetched: %t, %v; want %d, fetched: %t", ref.Name, tenant, len(content), was, err, ref.Size, fetched)
	}
}

func TestCacheFetchesOnceForEachTenant(t *testing.T) {
	s, c := &cupboard{}, newCache(t, 1<<20)
	ref := s.shelved("site", 100_000)
	wants(t, c, s, ref, "acme", true)
	wants(t, c, s, ref, "acme", false)
	wants(t, c, s, ref, "other", true)                                      // no one learns by a hash what another tenant has
	wants(t, &Resources{Dir: c.Dir, Limit: c.Limit}, s, ref, "acme", false) // another process, or the same one started again
	if !slices.Equal(s.froms, []int64{0, 0}) || !slices.Equal(s.held, []string{ref.Hash}) {
		t.Errorf("asked from %v, asked to hold %q", s.froms, s.held)
	}
}

func TestCacheResumesDownloads(t *testing.T) {
	s, c := &cupboard{spoil: func(try int) int { return []int{40_000, 0, 30_000, -1}[min(try, 4)-1] }}, newCache(t, 1<<20)
	ref := s.shelved("site", 100_000)
	wants(t, c, s, ref, "acme", true)
	if !slices.Equal(s.froms, []int64{0, 40_000, 40_000, 70_000}) {
		t.Errorf("asked from %v", s.froms)
	}
}

func TestCacheGivesUpOnStalledDownloads(t *testing.T) {
	t.Parallel()
	s, c := &cupboard{spoil: func(int) int { return 0 }}, newCache(t, 1<<20)
	ref := s.shelved("site", 10)
	if _, _, err := takes(t, c, s, ref, "acme"); app.CodeOf(err) != app.ETransient || len(s.froms) != fetchTries {
		t.Errorf("after %d tries: %v", len(s.froms), err)
	}
	if _, _, err := takes(t, c, s, template.ResourceRef{Name: "no", Hash: strings.Repeat("a", 64), Size: 1}, "acme"); app.CodeOf(err) != app.ENotFound {
		t.Errorf("what there is not: %v", err)
	}
	if list := c.all(); len(list) != 0 {
		t.Errorf("kept: %+v", list)
	}
}

// What is changed on its way is refused, and said to be, and not kept; the next try has it right.
func TestCacheRejectsCorruptDownloads(t *testing.T) {
	s, c := &cupboard{}, newCache(t, 1<<20)
	ref := s.shelved("site", 100_000)
	s.spoil = func(int) int { return -2 }
	_, _, err := takes(t, c, s, ref, "acme")
	if app.CodeOf(err) != app.ETransient || !strings.Contains(app.AsError(err).Message, "Resource file/site@1 doesn't match its recorded hash") {
		t.Errorf("changed on its way: %v", err)
	}
	left, _ := filepath.Glob(filepath.Join(c.Dir, "*", "*"))
	more, _ := filepath.Glob(filepath.Join(c.Dir, "*", ".*"))
	if len(left)+len(more) != 0 {
		t.Errorf("kept: %q, %q", left, more)
	}
	s.spoil = nil
	wants(t, c, s, ref, "acme", true)
	longer := ref
	longer.Size--
	if _, _, err := takes(t, newCache(t, 1<<20), s, longer, "acme"); app.CodeOf(err) != app.EInternal {
		t.Errorf("longer than it was: %v", err)
	}
}

// What the disk has changed is fetched again: a byte, or its end.
func TestCacheRefetchesCorruptFiles(t *testing.T) {
	s, c := &cupboard{}, newCache(t, 1<<20)
	ref := s.shelved("site", 100_000)
	wants(t, c, s, ref, "acme", true)
	path := Fetch{ID: app.WorkerID{Tenant: "acme"}, Ref: ref, Cache: c}.path()
	for _, change := range []func([]byte) []byte{func(b []byte) []byte { b[7] ^= 1; return b }, func(b []byte) []byte { return b[:10] }, func([]byte) []byte { return nil }} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(b), 0o600); err != nil {
			t.Fatal(err)
		}
		wants(t, c, s, ref, "acme", true)
		wants(t, c, s, ref, "acme", false)
	}
}

// What was asked for longest ago makes room, of all tenants together; who reads it reads it to its end.
func TestCacheEvicts(t *testing.T) {
	s, c := &cupboard{}, newCache(t, 3000)
	var refs []template.ResourceRef
	old := time.Now().Add(-time.Hour)
	asked := func(ref template.ResourceRef, tenant string, minutes int) { // so long after old it was last asked for
		t.Helper()
		if err := os.Chtimes(Fetch{ID: app.WorkerID{Tenant: tenant}, Ref: ref, Cache: c}.path(), old.Add(time.Duration(minutes)*time.Minute), time.Time{}); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"a", "b", "c"} {
		refs = append(refs, s.shelved(name, 1000))
		wants(t, c, s, refs[i], "acme", true)
		asked(refs[i], "acme", i)
	}
	reading, _, err := Fetch{From: s, As: &execution.Assignment{}, ID: app.WorkerID{Tenant: "acme"}, Ref: refs[1], Cache: c}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Close()
	asked(refs[1], "acme", 1)
	wants(t, c, s, refs[0], "acme", false) // now it is the newest

	wants(t, c, s, s.shelved("d", 1500), "other", true) // takes the room of b and c
	if got, err := io.ReadAll(reading); err != nil || !bytes.Equal(got, s.all[refs[1].Hash]) {
		t.Errorf("who reads what made room reads %d bytes, %v", len(got), err)
	}
	var size int64
	for _, h := range c.all() {
		size += h.size
	}
	if size != 2500 {
		t.Errorf("%d bytes are kept, want 2500", size)
	}
	wants(t, c, s, refs[0], "acme", false)
	wants(t, c, s, refs[1], "acme", true)

	// One that is larger than all the room is brought all the same, and everything makes room for it.
	wants(t, c, s, s.shelved("e", 5000), "acme", true)
	if list := c.all(); len(list) != 1 || list[0].size != 5000 {
		t.Errorf("kept: %+v", list)
	}
}

// What a process left unfinished goes in time, and not while another may be at it.
func TestCacheRemovesUnfinishedDownloads(t *testing.T) {
	s, c := &cupboard{}, newCache(t, 1<<20)
	wants(t, c, s, s.shelved("site", 10), "acme", true)
	dirs, _ := filepath.Glob(filepath.Join(c.Dir, "*"))
	left, fresh := filepath.Join(dirs[0], ".coming-1"), filepath.Join(dirs[0], ".coming-2")
	for _, f := range []string{left, fresh} {
		if err := os.WriteFile(f, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	then := time.Now().Add(-2 * abandonedAfter)
	if err := os.Chtimes(left, then, then); err != nil {
		t.Fatal(err)
	}
	wants(t, c, s, s.shelved("other", 10), "acme", true)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error(err)
	}
}

// Several who need the same at once have it fetched once.
func TestCacheSharesConcurrentFetches(t *testing.T) {
	s, c := &cupboard{}, newCache(t, 1<<20)
	ref := s.shelved("site", 300_000)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if content, _, err := takes(t, c, s, ref, "acme"); err != nil || len(content) != 300_000 {
				t.Errorf("%d bytes, %v", len(content), err)
			}
		})
	}
	all.Wait()
	if len(s.froms) != 1 {
		t.Errorf("asked %d times", len(s.froms))
	}
}
