package backup

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"muster/app"
	"muster/app/store"
)

// Proof authenticates a backup: an HMAC-SHA-256 of its manifest, which has the hashes of all else, with a key of this backup alone that the key-encryption
// key wraps. So it is not to be made from what the database, or another backup, holds.
type Proof struct {
	Keeper string `json:"keeper"` // name of the key-encryption key
	Key    []byte `json:"key"`    // wrapped
	MAC    []byte `json:"mac"`
}

// proofUse begins what is wrapped. A data key of the database, which may leak, does not, so its wrapped form is the key of no proof.
const proofUse = "muster backup proof\x00"

const proofKeySize = 32

// prover makes the proof. The key service is asked before anything is written.
type prover struct {
	proof Proof
	key   []byte
}

func newProver(ctx context.Context, keeper store.KeyKeeper) (*prover, error) {
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

// proofMAC takes the SHA-256 of a manifest.
func proofMAC(key, manifest []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(manifest)
	return m.Sum(nil)
}

// check says why a proof is not one of the manifest with this SHA-256.
func (p Proof) check(ctx context.Context, keeper store.KeyKeeper, manifest []byte) error {
	key, err := keeper.Unwrap(ctx, p.Key)
	if app.CodeOf(err) == app.EConflict {
		return &app.Error{Code: app.EConflict, Reason: "wrong_key", Message: fmt.Sprintf("The backup was made with another secret key, %.80q, or was changed.", p.Keeper),
			Hint: "Nothing was changed. Give the key that the servers had when it was made: after `muster secrets rekey`, that is the old one.", Err: err}
	}
	if err != nil {
		return err
	}
	key, is := bytes.CutPrefix(key, []byte(proofUse))
	if !is || len(key) != proofKeySize || !hmac.Equal(p.MAC, proofMAC(key, manifest)) {
		return &app.Error{Code: app.EInvalid, Reason: "bad_backup", Message: "The backup was changed after it was made: its proof does not fit its manifest.",
			Hint: "Nothing was changed. Take another copy, and find out who can write to this one."}
	}
	return nil
}

// unproven refuses a backup of the first form, which had no proof.
func unproven() error {
	return &app.Error{Code: app.EInvalid, Reason: "unauthenticated", Message: "Nothing authenticates this backup: it was made by a version before backups were.",
		Hint: "Nothing was changed. Whoever could write to the file may have changed accounts, roles, catalogs and scripts in it.\n" +
			"Where it was kept so that no one could, give --allow-unauthenticated."}
}
