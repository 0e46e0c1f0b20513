package backup_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/store"
	"muster/app/store/backup"
	"muster/app/store/db"
	"muster/app/store/storetest"
)

// part is a file of an archive.
type part struct {
	name string
	body []byte
}

func unpack(t testing.TB, b []byte) (all []part) {
	t.Helper()
	gz, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(gz); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, part{h.Name, body})
	}
}

func pack(t testing.TB, all []part) []byte {
	t.Helper()
	var b bytes.Buffer
	gz := gzip.NewWriter(&b)
	w := tar.NewWriter(gz)
	for _, p := range all {
		if err := w.WriteHeader(&tar.Header{Name: p.name, Mode: 0o600, Size: int64(len(p.body)), Format: tar.FormatPAX}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(p.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), gz.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func indexOf(all []part, name string) int {
	return slices.IndexFunc(all, func(p part) bool { return strings.HasPrefix(p.name, name) })
}

// fits rebuilds the manifest to match the files, which takes no key.
func fits(t testing.TB, all []part) []part {
	t.Helper()
	at := indexOf(all, "manifest.json")
	m := backup.Manifest{Rows: map[string]int{}}
	var was backup.Manifest
	if err := json.Unmarshal(all[at].body, &was); err != nil {
		t.Fatal(err)
	}
	for table := range was.Rows {
		m.Rows[table] = 0
	}
	for _, p := range all[:at] {
		sum := sha256.Sum256(p.body)
		e := backup.Entry{Path: p.name, Size: int64(len(p.body)), SHA256: hex.EncodeToString(sum[:])}
		if rest, is := strings.CutPrefix(p.name, "rows/"); is {
			table, _, _ := strings.Cut(rest, "/")
			e.Rows = bytes.Count(p.body, []byte("\n"))
			m.Rows[table] += e.Rows
		}
		m.Entries = append(m.Entries, e)
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.Clone(all)
	all[at].body = b
	return all
}

// firstForm turns a backup into one of form 1, which has no proof.
func firstForm(t testing.TB, all []part) []part {
	t.Helper()
	all = slices.Clone(all[:len(all)-1])
	all[0].body = bytes.Replace(all[0].body, []byte(`"form": 2`), []byte(`"form": 1`), 1)
	return fits(t, all)
}

func proofOf(t testing.TB, all []part) (p backup.Proof) {
	t.Helper()
	if err := json.Unmarshal(all[len(all)-1].body, &p); err != nil {
		t.Fatal(err)
	}
	return p
}

func withProof(t testing.TB, all []part, p backup.Proof) []part {
	t.Helper()
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.Clone(all)
	all[len(all)-1].body = b
	return all
}

// Without the key-encryption key no change to a backup is accepted, even if its parts match, and nothing is written.
func TestChangedBackupsAreRefused(t *testing.T) {
	b := take(t, some(t))
	all := unpack(t, b)
	refused := func(t *testing.T, b []byte, unproven bool, reason string) {
		t.Helper()
		where := sqliteFile(t)
		put := func(string, int64, io.Reader) error { t.Error("a content was kept"); return nil }
		_, _, _, err := backup.Restore(t.Context(), of(b), where, db.Restored{Keeper: keeper(t, key), Now: time.Now()}, unproven, put)
		if app.AsError(err).Reason != reason {
			t.Errorf("%v, want the reason %s", err, reason)
		}
		if left, _ := os.ReadDir(filepath.Dir(where)); len(left) > 0 {
			t.Errorf("left behind is %v", left)
		}
	}
	change := func(name string, f func([]part) []part) {
		t.Run(name, func(t *testing.T) {
			changed := f(slices.Clone(all))
			refused(t, pack(t, changed), false, "bad_backup")
			refused(t, pack(t, changed), true, "bad_backup")
		})
	}
	changedRow := func(all []part) []part {
		at := indexOf(all, "rows/clusters/")
		all[at].body = bytes.Replace(all[at].body, []byte(`web`), []byte(`wob`), 1)
		return all
	}
	change("a row, with a manifest that fits", func(all []part) []part { return fits(t, changedRow(all)) })
	change("a row, with the manifest as it was", changedRow)
	change("an entry removed", func(all []part) []part {
		at := indexOf(all, "rows/logs/")
		return fits(t, slices.Delete(all, at, at+1))
	})
	change("an entry added", func(all []part) []part {
		return fits(t, slices.Insert(all, 1, part{"resources/000001", []byte("#!/bin/sh")}))
	})
	change("entries in another order", func(all []part) []part { all[1], all[2] = all[2], all[1]; return fits(t, all) })
	change("the head", func(all []part) []part {
		all[0].body = bytes.Replace(all[0].body, []byte(`"version": "test"`), []byte(`"version": "tost"`), 1)
		return fits(t, all)
	})
	change("one bit of the proof's MAC", func(all []part) []part {
		p := proofOf(t, all)
		p.MAC[len(p.MAC)-1] ^= 1
		return withProof(t, all, p)
	})
	change("an empty MAC", func(all []part) []part { p := proofOf(t, all); p.MAC = nil; return withProof(t, all, p) })
	change("no proof", func(all []part) []part { return all[:len(all)-1] })
	change("two proofs", func(all []part) []part { return append(all, all[len(all)-1]) })
	change("a file after the proof", func(all []part) []part { return append(all, part{"rows/users/000009.jsonl", nil}) })
	change("a file between manifest and proof", func(all []part) []part { return slices.Insert(all, len(all)-1, part{"rows/users/000009.jsonl", nil}) })
	change("two manifests", func(all []part) []part {
		return slices.Insert(all, len(all)-1, all[indexOf(all, "manifest.json")])
	})
	change("the first form, with a proof", func(all []part) []part {
		proof := all[len(all)-1]
		return append(firstForm(t, all), proof)
	})
	change("a name without end", func(all []part) []part { all[1].name = strings.Repeat("a", 1000); return fits(t, all) })

	other := unpack(t, take(t, some(t))) // of another installation that has the same key
	change("the manifest and proof of another backup", func(all []part) []part {
		return append(all[:len(all)-2:len(all)-2], other[len(other)-2:]...)
	})
	change("the proof of another backup", func(all []part) []part { return append(all[:len(all)-1:len(all)-1], other[len(other)-1]) })
	change("entries of another backup", func(all []part) []part {
		at, from := indexOf(all, "rows/clusters/"), indexOf(other, "rows/clusters/")
		all[at] = other[from]
		return fits(t, all)
	})
	// Data keys are wrapped by the same key. A leaked one can't make a proof.
	change("a proof of a data key", func(all []part) []part {
		leaked := make([]byte, store.KeySize)
		_, _ = rand.Read(leaked)
		wrapped, err := keeper(t, key).Wrap(t.Context(), leaked)
		if err != nil {
			t.Fatal(err)
		}
		all = fits(t, changedRow(all))
		sum := sha256.Sum256(all[len(all)-2].body)
		m := hmac.New(sha256.New, leaked)
		m.Write(sum[:])
		return withProof(t, all, backup.Proof{Keeper: "key", Key: wrapped, MAC: m.Sum(nil)})
	})
	t.Run("a proof of a key of one's own", func(t *testing.T) {
		p := proofOf(t, all)
		p.Key[len(p.Key)-1] ^= 1
		refused(t, pack(t, withProof(t, all, p)), true, "wrong_key")
		p.Key = nil
		refused(t, pack(t, withProof(t, all, p)), true, "wrong_key")
	})
	t.Run("another installation's, of another key", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "other.db")
		theirs := bytes.Repeat([]byte{9}, store.KeySize)
		s, err := store.Open(t.Context(), file, theirs)
		if err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
		snapshot, err := db.OpenSnapshot(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		defer snapshot.Close()
		var out bytes.Buffer
		if _, err := backup.Take(t.Context(), &out, snapshot, keeper(t, theirs), "test", time.Now(), nil); err != nil {
			t.Fatal(err)
		}
		refused(t, out.Bytes(), false, "wrong_key")
		refused(t, out.Bytes(), true, "wrong_key")
		if _, err := backup.Take(t.Context(), io.Discard, snapshot, keeper(t, key), "test", time.Now(), nil); app.AsError(err).Reason != "wrong_key" {
			t.Errorf("a backup with a key that is not the database's: %v", err)
		}
	})
	t.Run("the first form", func(t *testing.T) {
		old := pack(t, firstForm(t, all))
		refused(t, old, false, "unauthenticated")
		if _, m, _, err := backup.Restore(t.Context(), of(old), sqliteFile(t), db.Restored{Keeper: keeper(t, key), Now: time.Now()}, true, nil); err != nil || m.Proven {
			t.Errorf("it was allowed: %v, proven %v", err, m.Proven)
		}
	})
	t.Run("nothing changed", func(t *testing.T) {
		restore(t, pack(t, all), sqliteFile(t))
		_, m, err := backup.Check(t.Context(), bytes.NewReader(b), keeper(t, key), false)
		if err != nil || !m.Proven {
			t.Errorf("%v, proven %v", err, m.Proven)
		}
		if _, m, err = backup.Check(t.Context(), bytes.NewReader(b), nil, true); err != nil || m.Proven {
			t.Errorf("without a key: %v, proven %v", err, m.Proven)
		}
	})
}

// A backup from before a rekey is authenticated by the old key.
func TestBackupBeforeRekey(t *testing.T) {
	file := storetest.File(t)
	s := open(t, file)
	if _, err := s.CreateCluster(t.Context(), apptest.NewCluster(tenant, "web", 2, time.Now(), apptest.Chain(2))); err != nil {
		t.Fatal(err)
	}
	before := take(t, file)
	next := keeper(t, bytes.Repeat([]byte{8}, store.KeySize))
	if _, err := s.Rekey(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	_, _, _, err := backup.Restore(t.Context(), of(before), sqliteFile(t), db.Restored{Keeper: next, Now: time.Now()}, false, nil)
	if app.AsError(err).Reason != "wrong_key" {
		t.Errorf("with the new key: %v", err)
	}
	restore(t, before, sqliteFile(t))
}
