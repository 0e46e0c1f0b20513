package store_test

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/apptest"
	"muster/app/store"
	"muster/app/store/db"
	"muster/app/terminal"
)

func keyOf(b byte) []byte { return bytes.Repeat([]byte{b}, store.KeySize) }

func keeper(t testing.TB, b byte) db.KeyKeeper {
	t.Helper()
	k, err := db.LocalKey(keyOf(b))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func openBy(t testing.TB, where string, k db.KeyKeeper) *store.Store {
	t.Helper()
	s, err := store.OpenWith(t.Context(), where, k)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

var admin = app.Actor{Tenant: "t", User: "ada", Role: app.RoleAdmin, Via: app.ViaAPI, From: "192.0.2.7"}

// fill returns a store clusters and secrets.
func fill(t testing.TB, s *store.Store, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		name := fmt.Sprintf("c%03d", i)
		if _, err := s.CreateCluster(t.Context(), apptest.NewCluster("t", name, 3, time.Now(), apptest.Chain(1))); err != nil {
			t.Fatal(err)
		}
		if err := s.SetSecret(t.Context(), admin, fmt.Sprintf("S%03d", i), []byte("value "+name), time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := s.Write(t.Context(), func(tx *db.Tx) error {
			return tx.Exec(`INSERT INTO terminals (id, tenant, cluster, node, username, recorded, opened_at, seen_at, ended_at, ended_by, expires_at,
				columns_at_start, rows_at_start, seconds, bytes) VALUES (?, 't', 'c', 'n1', 'ada', 1, 1, 1, 0, '', 0, 80, 24, 0, 0)`, name)
		}); err != nil {
			t.Fatal(err)
		}
		if err := s.AddChunk(t.Context(), terminal.Chunk{Terminal: name, Events: []byte("shown in " + name)}); err != nil {
			t.Fatal(err)
		}
	}
}

// checkFilled opens every secret.
func checkFilled(t testing.TB, s *store.Store, n int) {
	t.Helper()
	for i := range n {
		name := fmt.Sprintf("c%03d", i)
		want := apptest.NewCluster("t", name, 3, time.Now(), apptest.Chain(1)).PrivateKey
		got, err := s.ClusterSecrets(t.Context(), "t", name+"-3")
		if err != nil {
			got, err = s.ClusterSecrets(t.Context(), "t", name+"-1")
		}
		if err != nil || len(want) > 0 && !bytes.Equal(got.PrivateKey, want) {
			t.Fatalf("the key of %s: %v", name, err)
		}
		secret := fmt.Sprintf("S%03d", i)
		v, err := s.SecretValues(t.Context(), "t", []string{secret}, time.Now())
		if err != nil || v[secret] != "value "+name {
			t.Fatalf("%s is %q, %v", secret, v[secret], err)
		}
		shown := ""
		err = s.Chunks(t.Context(), name, func(b []byte) error { shown += string(b); return nil })
		if err != nil || shown != "shown in "+name {
			t.Fatalf("the recording of %s is %q, %v", name, shown, err)
		}
	}
}

// under returns how many values each key seals.
func under(t testing.TB, s *store.Store) (newest, others int, uses []db.KeyUse) {
	t.Helper()
	uses, err := s.KeyUses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range uses {
		if u.Newest {
			newest = u.Values
		} else {
			others += u.Values
		}
	}
	return newest, others, uses
}

func rotates(t *testing.T, where string, k db.KeyKeeper) {
	ctx := t.Context()
	one := openBy(t, where, k)
	fill(t, one, 0, 60)
	_, _, before := under(t, one)

	// It is interrupted in the middle, as by a crash: some values are under the new key, others under the old.
	stopped, cancel := context.WithCancel(ctx)
	steps := 0
	if _, err := one.RotateKeys(stopped, func(done, total int) {
		if steps++; steps == 2 {
			cancel()
		}
	}); err == nil {
		t.Fatal("a rotation that was cancelled says nothing")
	}
	newest, others, _ := under(t, one)
	if newest == 0 || others == 0 {
		t.Fatalf("it was not in the middle: %d values are under the new key, %d under others", newest, others)
	}

	// Another server, which was started before and seals with the old key, continues meanwhile, and a third process ends it.
	two := openBy(t, where, k)
	three := openBy(t, where, k)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for i := 60; i < 80; i++ {
			fill(t, two, i, i+1)
		}
	}()
	last := 0
	lost, err := three.RotateKeys(ctx, func(done, total int) {
		if done < last || done > total {
			t.Errorf("progress goes from %d to %d of %d", last, done, total)
		}
		last = done
	})
	<-written
	if err != nil || lost != 0 {
		t.Fatalf("%d lost, %v", lost, err)
	}
	for _, s := range []*store.Store{one, two, three} {
		checkFilled(t, s, 80)
	}
	newest, others, uses := under(t, one)
	if others != 0 || newest == 0 {
		t.Errorf("%d values are left under old keys, %d under the newest", others, newest)
	}
	if len(uses) != len(before)+1 || uses[0].RetiredAt.IsZero() || !uses[1].RetiredAt.IsZero() {
		t.Errorf("the interrupted rotation was not ended but another begun, or its key is not retired: %+v", uses)
	}
	if _, err := one.RotateKeys(ctx, func(int, int) {}); err != nil { // twice is one more key
		t.Fatal(err)
	}
	if _, others, uses := under(t, one); others != 0 || len(uses) != len(before)+2 {
		t.Errorf("after the second: %+v", uses)
	}
	checkFilled(t, two, 80)
}

func TestRotationResumes(t *testing.T) {
	rotates(t, filepath.Join(t.TempDir(), "muster.db"), keeper(t, 1))
}

// A database from before there were data keys: its values open, and the rotation seals them again.
func TestFirstFormatIsDecryptedAndReencrypted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "muster.db")
	s := openBy(t, file, keeper(t, 1))
	fill(t, s, 0, 3)
	_ = s.Close()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	secret := bytes.Repeat([]byte("s"), 40)
	for _, c := range []struct{ update, place string }{
		{`UPDATE clusters SET ssh_key = ? WHERE id = (SELECT min(id) FROM clusters)`, "clusters/c000-3"},
	} {
		var id string
		if err := db.QueryRowContext(t.Context(), `SELECT min(id) FROM clusters`).Scan(&id); err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), c.update, sealFirstForm(t, keyOf(1), secret, "clusters/"+id)); err != nil {
			t.Fatal(err)
		}
	}
	check := sealFirstForm(t, keyOf(1), []byte("muster"), "settings/key_check")
	for _, q := range []string{`DELETE FROM settings WHERE name = 'audit_key'`, `DELETE FROM settings WHERE name = 'key_check'`, `DELETE FROM secrets`, `DELETE FROM terminal_chunks`,
		`UPDATE nodes SET secret = x''`, `UPDATE clusters SET definition = '{}', encrypted_definition = x''`, `DELETE FROM data_keys`, `UPDATE clusters SET ssh_key = x'' WHERE id > (SELECT min(id) FROM clusters)`} {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(q, err)
		}
	}
	if _, err := db.ExecContext(t.Context(), `INSERT INTO settings (name, value) VALUES ('key_check', ?)`, hex.EncodeToString(check)); err != nil {
		t.Fatal(err)
	}
	_ = db.Close()

	if _, err := store.Open(t.Context(), file, keyOf(2)); app.AsError(err).Reason != "wrong_key" {
		t.Fatalf("another key opens it: %v", err)
	}
	s = openBy(t, file, keeper(t, 1))
	opens := func() {
		t.Helper()
		got, err := s.ClusterSecrets(t.Context(), "t", firstCluster(t, s))
		if err != nil || !bytes.Equal(got.PrivateKey, secret) {
			t.Fatalf("%q, %v", got.PrivateKey, err)
		}
	}
	opens()
	if _, others, _ := under(t, s); others != 2 { // it and the check
		t.Errorf("%d values of the first form", others)
	}
	if lost, err := s.RotateKeys(t.Context(), func(int, int) {}); err != nil || lost != 0 {
		t.Fatal(lost, err)
	}
	opens()
	if _, others, _ := under(t, s); others != 0 {
		t.Errorf("%d values of the first form are left", others)
	}
}

func firstCluster(t testing.TB, s *store.Store) string {
	t.Helper()
	all, err := s.Clusters(t.Context(), "t", app.ClusterFilter{})
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	first := all[0].ID
	for _, c := range all {
		first = min(first, c.ID)
	}
	return first
}

// Under another key-encryption key the values stay as they are; the old one opens nothing any more, and servers that run continue.
func TestRekey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "muster.db")
	s := openBy(t, file, keeper(t, 1))
	fill(t, s, 0, 5)
	if n, err := s.Rekey(t.Context(), keeper(t, 2)); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	checkFilled(t, s, 5)
	fill(t, s, 5, 6)
	_ = s.Close()
	_, err := store.Open(t.Context(), file, keyOf(1))
	if e := app.AsError(err); e.Reason != "wrong_key" || !strings.Contains(e.Message, keeper(t, 2).Name()) {
		t.Errorf("the old key: %v", err)
	}
	s = openBy(t, file, keeper(t, 2))
	checkFilled(t, s, 6)
}

// away is a key service that does not answer, or refuses.
type away struct {
	db.KeyKeeper
	err error
}

func (a *away) Unwrap(ctx context.Context, w []byte) ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	return a.KeyKeeper.Unwrap(ctx, w)
}

func TestUnavailableKeyService(t *testing.T) {
	file := filepath.Join(t.TempDir(), "muster.db")
	_ = openBy(t, file, keeper(t, 1)).Close()
	for _, want := range []*app.Error{{Code: app.ETransient, Message: "no answer"}, {Code: app.ECredentials, Message: "access denied"}} {
		_, err := store.OpenWith(t.Context(), file, &away{keeper(t, 1), want})
		if e := app.AsError(err); e.Code != want.Code || !strings.Contains(e.Message, want.Message) || !strings.Contains(e.Message, "key-encryption key") {
			t.Errorf("%v is reported as %v", want, err)
		}
	}
	s := openBy(t, file, &away{keeper(t, 1), nil})
	fill(t, s, 0, 1)
	checkFilled(t, s, 1)
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b
}

// sealFirstForm seals as it was done before there were data keys.
func sealFirstForm(t testing.TB, key, secret []byte, place string) []byte {
	t.Helper()
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce)
	return aead.Seal(nonce, nonce, secret, []byte(place))
}
