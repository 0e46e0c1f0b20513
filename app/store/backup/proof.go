package backup

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"muster/app"
	"muster/app/store/db"
)

// Proof authenticates a backup: an HMAC-SHA-256 of its manifest, which holds the hashes of everything else. Its key is random, used for this backup only, and
// wrapped by the key-encryption key, so a copy of the database or of another backup isn't enough to make one.
type Proof struct {
	Keeper string `json:"keeper"` // name of the key-encryption key
	Key    []byte `json:"key"`    // wrapped
	MAC    []byte `json:"mac"`
}

// proofUse prefixes the wrapped key. The database's data keys are wrapped without it, so a leaked one can't be used to make a proof.
const proofUse = "muster backup proof\x00"

const proofKeySize = 32

// prover makes the proof. It calls the key service before anything is written, so that a failure leaves no partial file.
type prover struct {
	proof Proof
	key   []byte
}

func newProver(ctx context.Context, keeper db.KeyKeeper) (*prover, error) {
	key := make([]byte, proofKeySize)
	_, _ = rand.Read(key) // never fails: crypto/rand ends the process instead
	wrapped, err := keeper.Wrap(ctx, append([]byte(proofUse), key...))
	if err != nil {
		return nil, err
	}
	return &prover{Proof{Keeper: keeper.Name(), Key: wrapped}, key}, nil
}

func (p *prover) of(manifest []byte) Proof {
	p.proof.MAC = proofMAC(p.key, manifest)
	return p.proof
}

// proofMAC authenticates a manifest, given its SHA-256.
func proofMAC(key, manifest []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(manifest)
	return m.Sum(nil)
}

// check returns an error if the proof doesn't authenticate the manifest with this SHA-256.
func (p Proof) check(ctx context.Context, keeper db.KeyKeeper, manifest []byte) error {
	key, err := keeper.Unwrap(ctx, p.Key)
	if app.CodeOf(err) == app.EConflict {
		return &app.Error{Code: app.EConflict, Reason: "wrong_key", Message: fmt.Sprintf("The backup was made with another secret key (%.80q), or was changed.", p.Keeper),
			Hint: "Nothing was restored. Use the key that the servers had when the backup was made; for a backup from before `muster secrets rekey`, that is the old key."}
	}
	if err != nil {
		return err
	}
	key, is := bytes.CutPrefix(key, []byte(proofUse))
	if !is || len(key) != proofKeySize || !hmac.Equal(p.MAC, proofMAC(key, manifest)) {
		return &app.Error{Code: app.EInvalid, Reason: "bad_backup", Message: "The backup was changed after it was made: its proof doesn't match its manifest.",
			Hint: "Nothing was restored. Use another copy, and find out who can write to this one."}
	}
	return nil
}

// unproven refuses a backup of form 1, which had no proof.
func unproven() error {
	return &app.Error{Code: app.EInvalid, Reason: "unauthenticated", Message: "This backup isn't authenticated: it was made by an older version of Muster.",
		Hint: "Nothing was restored. Anyone who could write to the file may have changed accounts, roles, catalogs or scripts in it.\n" +
			"If you are sure that no one could, restore it with --allow-unauthenticated."}
}
