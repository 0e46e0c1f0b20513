//go:build real

package store_test

import (
	"testing"

	"muster/app/store"
)

func TestPostgresRotationGoesOnWhereItStopped(t *testing.T) { rotates(t, fresh(t), suiteKeeper(t)) }

func TestPostgresAuditIsAChain(t *testing.T) { chains(t, fresh(t), suiteKeeper(t)) }

// suiteKeeper is the key that the template of fresh databases was made with.
func suiteKeeper(t *testing.T) store.KeyKeeper {
	k, err := store.LocalKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
