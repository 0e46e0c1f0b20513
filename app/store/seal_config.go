package store

import (
	"encoding/json"
	"fmt"
	"strconv"

	"muster/app"
)

// The configuration of clusters is encrypted, as JSON, since people put passwords into it.

func definitionPlace(cluster string) string { return "cluster_definitions/" + cluster }

func changePlace(operation int64) string {
	return "change_definitions/" + strconv.FormatInt(operation, 10)
}

func askedPlace(request int64) string { return "request_asked/" + strconv.FormatInt(request, 10) }

func termsPlace(request int64) string { return "request_terms/" + strconv.FormatInt(request, 10) }

func keptPlace(request int64) string { return "request_kept/" + strconv.FormatInt(request, 10) }

func wantedPlace(build int64) string { return "build_wanted/" + strconv.FormatInt(build, 10) }

func (k *keyring) sealDefinition(text []byte, cluster string) []byte {
	return k.seal(text, definitionPlace(cluster))
}

// sealChange encrypts the definition that a cluster had before an operation.
func (k *keyring) sealChange(text []byte, operation int64) []byte {
	return k.seal(text, changePlace(operation))
}

func (k *keyring) sealAsked(r app.Request) []byte {
	return k.seal([]byte(jsonText(r.Asked)), askedPlace(r.ID))
}

func (k *keyring) sealTerms(r app.Request) []byte {
	return k.seal([]byte(jsonText(r.Terms)), termsPlace(r.ID))
}

func (k *keyring) sealKept(text string, request int64) []byte {
	return k.seal([]byte(text), keptPlace(request))
}

func (k *keyring) sealWanted(a app.BuildAsk, build int64) []byte {
	return k.seal([]byte(jsonText(a)), wantedPlace(build))
}

// openJSON decrypts JSON that was sealed for a place.
func (k *keyring) openJSON(sealed []byte, place string, into any) error {
	text, err := k.unseal(sealed, place)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("store: %s: %w", place, err)
	}
	return nil
}

// sealedRequest is what is sealed of a request.
type sealedRequest struct{ asked, terms []byte }

// openRequest decrypts the sealed fields of a request. If their key is lost it leaves them empty, so that the rest can still be read. Call it after the rows are
// closed: the data key may have to be read first.
func (k *keyring) openRequest(r *app.Request, s sealedRequest) error {
	err := k.openJSON(s.asked, askedPlace(r.ID), &r.Asked)
	if err == nil {
		err = k.openJSON(s.terms, termsPlace(r.ID), &r.Terms)
	}
	if app.IsKeyLost(err) {
		return nil
	}
	return err
}

// openWanted does the same for a build.
func (k *keyring) openWanted(b *app.Build, sealed []byte) error {
	if err := k.openJSON(sealed, wantedPlace(b.ID), &b.Wanted); !app.IsKeyLost(err) {
		return err
	}
	return nil
}
