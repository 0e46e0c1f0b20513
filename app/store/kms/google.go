package kms

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"time"

	"muster/app/cloudurl"
	"muster/app/googleauth"
	"muster/app/retry"
)

// googleKey is a key in Google Cloud KMS, by its REST API.
type googleKey struct {
	client *http.Client
	where  string // such as https://cloudkms.googleapis.com/v1/projects/P/locations/L/keyRings/R/cryptoKeys/K
	data   []byte // that must be the same at wrapping and unwrapping
}

var googleName = regexp.MustCompile(`^projects/[^/?#]+/locations/[^/?#]+/keyRings/[^/?#]+/cryptoKeys/[^/?#]+$`)

func openGoogle(ctx context.Context, u *url.URL) (service, error) {
	name, data, err := googleKeyOf(u)
	if err != nil {
		return nil, err
	}
	over, domain, err := googleauth.Default(ctx, retry.Again(retry.Transport(), 3, 200*time.Millisecond), "")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	return &googleKey{client: googleauth.Client(over), where: "https://cloudkms." + domain + "/v1/" + name, data: data}, nil
}

func googleKeyOf(u *url.URL) (name string, data []byte, err error) {
	p := cloudurl.Of(u)
	text := p.Text("additional_authenticated_data")
	if err := p.Err(); err != nil {
		return "", nil, err
	}
	if data, err = base64.URLEncoding.DecodeString(text); err != nil {
		return "", nil, cloudurl.Invalid("The URL parameter additional_authenticated_data must be base64url.")
	}
	if name = path.Join(u.Host, u.Path); !googleName.MatchString(name) {
		return "", nil, cloudurl.Invalid("A gcpkms:// URL must have the form gcpkms://projects/P/locations/L/keyRings/R/cryptoKeys/K.")
	}
	return name, data, nil
}

type googleCall struct {
	Plaintext  []byte `json:"plaintext,omitempty"`
	Ciphertext []byte `json:"ciphertext,omitempty"`
	Data       []byte `json:"additionalAuthenticatedData,omitempty"`
}

func (k *googleKey) call(ctx context.Context, act string, in googleCall) (out googleCall, err error) {
	in.Data = k.data
	err = post(ctx, k.client, http.MethodPost, k.where+":"+act, nil, in, &out)
	if googleauth.Refused(err) {
		err = fmt.Errorf("%w: %w", errRefused, err)
	}
	return out, err
}

func (k *googleKey) wrap(ctx context.Context, key []byte) ([]byte, error) {
	out, err := k.call(ctx, "encrypt", googleCall{Plaintext: key})
	return out.Ciphertext, err
}

func (k *googleKey) unwrap(ctx context.Context, wrapped []byte) ([]byte, error) {
	out, err := k.call(ctx, "decrypt", googleCall{Ciphertext: wrapped})
	var a *answered
	if errors.As(err, &a) && a.status == http.StatusBadRequest {
		err = fmt.Errorf("%w: %w", errOtherKey, err)
	}
	return out.Plaintext, err
}

func (k *googleKey) close() { k.client.CloseIdleConnections() }
