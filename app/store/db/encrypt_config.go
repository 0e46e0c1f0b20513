package db

import (
	"encoding/json"
	"fmt"
	"strconv"

	"muster/app"
	appbuild "muster/app/build"
	appcluster "muster/app/cluster"
)

// The configuration of clusters is encrypted, as JSON, since people put passwords into it.

// DefinitionAAD is where the definition of a cluster is sealed for.
func DefinitionAAD(cluster string) string { return "cluster_definitions/" + cluster }

// ChangeAAD is where the definition from before an operation is sealed for.
func ChangeAAD(operation int64) string {
	return "change_definitions/" + strconv.FormatInt(operation, 10)
}

func askedAAD(request int64) string { return "request_asked/" + strconv.FormatInt(request, 10) }

func termsAAD(request int64) string { return "request_terms/" + strconv.FormatInt(request, 10) }

// KeptAAD is where what is kept of a request is sealed for.
func KeptAAD(request int64) string { return "request_kept/" + strconv.FormatInt(request, 10) }

func wantedAAD(build int64) string { return "build_wanted/" + strconv.FormatInt(build, 10) }

// SealDefinition encrypts the definition of a cluster.
func (k *Keyring) SealDefinition(text []byte, cluster string) []byte {
	return k.Seal(text, DefinitionAAD(cluster))
}

// SealChange encrypts the definition that a cluster had before an operation.
func (k *Keyring) SealChange(text []byte, operation int64) []byte {
	return k.Seal(text, ChangeAAD(operation))
}

// SealAsked encrypts what was asked for.
func (k *Keyring) SealAsked(r appcluster.Request) []byte {
	return k.Seal([]byte(JSON(r.Spec)), askedAAD(r.ID))
}

// SealTerms encrypts what a request would get.
func (k *Keyring) SealTerms(r appcluster.Request) []byte {
	return k.Seal([]byte(JSON(r.Terms)), termsAAD(r.ID))
}

// SealKept encrypts what is kept of a request until it is granted.
func (k *Keyring) SealKept(text string, request int64) []byte {
	return k.Seal([]byte(text), KeptAAD(request))
}

// SealWanted encrypts what a build asks for.
func (k *Keyring) SealWanted(a appbuild.Spec, build int64) []byte {
	return k.Seal([]byte(JSON(a)), wantedAAD(build))
}

// OpenJSON decrypts JSON that was sealed for a place.
func (k *Keyring) OpenJSON(sealed []byte, place string, into any) error {
	text, err := k.Unseal(sealed, place)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("store: %s: %w", place, err)
	}
	return nil
}

// SealedRequest is what is sealed of a request.
type SealedRequest struct{ Asked, Terms []byte }

// OpenRequest decrypts the sealed fields of a request. If their key is lost it leaves them empty, so that the rest can still be read. Call it after
// the rows are
// closed: the data key may have to be read first.
func (k *Keyring) OpenRequest(r *appcluster.Request, s SealedRequest) error {
	err := k.OpenJSON(s.Asked, askedAAD(r.ID), &r.Spec)
	if err == nil {
		err = k.OpenJSON(s.Terms, termsAAD(r.ID), &r.Terms)
	}
	if app.IsKeyLost(err) {
		return nil
	}
	return err
}

// OpenWanted does the same for a build.
func (k *Keyring) OpenWanted(b *appbuild.Build, sealed []byte) error {
	if err := k.OpenJSON(sealed, wantedAAD(b.ID), &b.Spec); !app.IsKeyLost(err) {
		return err
	}
	return nil
}
