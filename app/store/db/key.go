package db

import (
	"context"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"muster/app"
)

// KeyKeeper is a key-encryption key: it wraps the data keys that values are sealed with, and may be far away. Its errors are
// *app.Error: EConflict for what was wrapped by another key, ECredentials where it does not let us, ETransient and ETimeout
// where it does not answer. Its methods may be called from many goroutines.
type KeyKeeper interface {
	// Name tells it from others, to people and in the database; it shows nothing secret.
	Name() string
	Wrap(ctx context.Context, key []byte) ([]byte, error)
	Unwrap(ctx context.Context, wrapped []byte) ([]byte, error)
}

// localKey is a key-encryption key that we hold ourselves.
type localKey struct {
	aead cipher.AEAD
	name string
}

var _ KeyKeeper = localKey{}

// LocalKey makes a keeper of KeySize bytes.
func LocalKey(key []byte) (KeyKeeper, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(append([]byte("the name of a key of muster: "), key...))
	return localKey{aead, "key " + hex.EncodeToString(sum[:6])}, nil
}

const wrapAAD = "data_keys"

func (l localKey) Name() string { return l.name }

func (l localKey) Wrap(_ context.Context, key []byte) ([]byte, error) {
	return sealWith(l.aead, nil, key, wrapAAD), nil
}

func (l localKey) Unwrap(_ context.Context, wrapped []byte) ([]byte, error) {
	key, err := openWith(l.aead, 0, wrapped, wrapAAD)
	if err != nil {
		return nil, &app.Error{Code: app.EConflict, Reason: "wrong_key", Message: "The data key is encrypted with another key.", Err: err}
	}
	return key, nil
}

// How often at most it is looked whether there is a newer data key, and how soon after a failure it is asked again for one
// that could not be unwrapped. Who waits is the one writer, so an absent key service must not be asked for each value.
const (
	keyReload = 2 * time.Second
	keyRetry  = 5 * time.Second
	keyTime   = 5 * time.Second
)

// Keyring is the data keys of a store, as far as they were needed.
type Keyring struct {
	keeper   KeyKeeper
	old      cipher.AEAD // opens values of the first form; nil where the keeper is not a key of our own
	reads    *Reads
	auditKey []byte // of the ends of audits; set before anything is written to one

	mu      sync.Mutex
	keys    map[int64]cipher.AEAD
	failed  map[int64]keyFailure
	current int64
	looked  time.Time
}

type keyFailure struct {
	at  time.Time
	err error
}

func newKeyring(keeper KeyKeeper) *Keyring {
	k := &Keyring{keeper: keeper, keys: map[int64]cipher.AEAD{}, failed: map[int64]keyFailure{}}
	if l, ok := keeper.(localKey); ok {
		k.old = l.aead
	}
	return k
}

// dataKey is a row of data_keys.
type dataKey struct {
	id      int64
	wrapped []byte
	kek     string
	made    int64
	retired int64
}

func (k *Keyring) rows(ctx context.Context) (all []dataKey, err error) {
	err = Each(ctx, k.reads, func(row Scanner) error {
		var d dataKey
		err := row.Scan(&d.id, &d.wrapped, &d.kek, &d.made, &d.retired)
		all = append(all, d)
		return err
	}, `SELECT id, wrapped, kek, created_at, retired_at FROM data_keys ORDER BY id`)
	return all, err
}

// now returns the key to seal with: the newest that can be unwrapped. A store always has one once it is open.
func (k *Keyring) now() (int64, cipher.AEAD) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.looked) > keyReload {
		k.looked = time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), keyTime)
		defer cancel()
		var newest int64
		if k.reads.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM data_keys`).Scan(&newest) == nil && newest > k.current {
			if _, err := k.get(ctx, newest); err == nil {
				k.current = newest
			}
		}
	}
	return k.current, k.keys[k.current]
}

// key returns a data key by its number.
func (k *Keyring) key(id int64) (cipher.AEAD, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), keyTime)
	defer cancel()
	return k.get(ctx, id)
}

// get is key under the lock.
func (k *Keyring) get(ctx context.Context, id int64) (cipher.AEAD, error) {
	if aead := k.keys[id]; aead != nil {
		return aead, nil
	}
	if f, ok := k.failed[id]; ok && time.Since(f.at) < keyRetry {
		return nil, f.err
	}
	aead, err := k.fetch(ctx, id)
	if err != nil {
		k.failed[id] = keyFailure{time.Now(), err}
		return nil, err
	}
	k.keys[id] = aead
	return aead, nil
}

func (k *Keyring) fetch(ctx context.Context, id int64) (cipher.AEAD, error) {
	var wrapped []byte
	err := k.reads.QueryRowContext(ctx, `SELECT wrapped FROM data_keys WHERE id = ?`, id).Scan(&wrapped)
	if IsNoRows(err) {
		return nil, fmt.Errorf("store: data key %d doesn't exist", id)
	}
	if err != nil {
		return nil, fmt.Errorf("store: data key %d: %w", id, err)
	}
	key, err := k.keeper.Unwrap(ctx, wrapped)
	if err != nil {
		return nil, fmt.Errorf("store: data key %d: %w", id, err)
	}
	return newAEAD(key)
}

// openKeys gets the data keys of a database that has just been opened, and makes the first. Where the newest does not open
// it is wrong_key, so that nothing is sealed under a key that others do not have; unless anyone who has lost a key for good says
// so by deleting the row key_check.
func (s *DB) openKeys(ctx context.Context) error {
	k := s.Keyring
	all, err := k.rows(ctx)
	if err != nil {
		return err
	}
	checked, err := s.hasKeyCheck(ctx)
	if err != nil {
		return err
	}
	if n := len(all); n > 0 {
		newest := all[n-1]
		_, err := k.key(newest.id)
		switch {
		case err == nil:
			k.mu.Lock()
			k.current, k.looked = newest.id, time.Now()
			k.mu.Unlock()
			return nil
		case !isWrongKey(err):
			return keeperError(k.keeper, err)
		case checked:
			return wrongKey(newest.kek)
		}
	}
	if len(all) == 0 && checked && !s.oldCheck(ctx) {
		return wrongKey("")
	}
	if err := s.makeKey(ctx, time.Now(), len(all)); err != nil {
		return err
	}
	return s.openKeys(ctx)
}

func isWrongKey(err error) bool { return app.CodeOf(err) == app.EConflict }

// makeKey adds a data key, unless there are not so many as there were.
func (s *DB) makeKey(ctx context.Context, at time.Time, had int) error {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the process instead
	wrapped, err := s.keeper.Wrap(ctx, key)
	if err != nil {
		return keeperError(s.keeper, err)
	}
	return s.Write(ctx, func(t *Tx) error {
		var n int
		if err := t.Row(`SELECT count(*) FROM data_keys`).Scan(&n); err != nil || n != had {
			return err // another server was faster
		}
		return t.Exec(`INSERT INTO data_keys (wrapped, kek, created_at, retired_at) VALUES (?, ?, ?, 0)`, wrapped, s.keeper.Name(), Micros(at))
	})
}

// wrongKey says that a database was made with another key; which names that, where it is known.
func wrongKey(which string) error {
	e := &app.Error{Code: app.EConflict, Reason: "wrong_key", Message: "The database was created with another secret key.",
		Hint: "Set the key that the database was created with. If the key is lost for good, delete the row key_check from the table settings:\n" +
			"clusters can then be deleted, but the SSH keys of existing clusters are lost."}
	if which != "" {
		e.Message = fmt.Sprintf("The database was created with another secret key: its data keys are encrypted with %q.", which)
	}
	return e
}

// keeperError says what is wrong with a key-encryption key, so that anyone who starts a server can do something about it.
func keeperError(k KeyKeeper, err error) error {
	var e *app.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	out.Message = fmt.Sprintf("Can't use the key-encryption key %q: %s", k.Name(), e.Message)
	return &out
}
