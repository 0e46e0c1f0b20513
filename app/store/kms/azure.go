//go:build !small

package kms

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/security/keyvault/azkeys"

	"muster/app/cloudurl"
	"muster/app/retry"
)

// azureKey is a key in Azure Key Vault.
type azureKey struct {
	client        *azkeys.Client
	name, version string // "": the newest
	algorithm     azkeys.EncryptionAlgorithm
}

// azureName is HOST/keys/NAME or HOST/keys/NAME/VERSION. Tokens are only sent to hosts of Key Vault.
var azureName = regexp.MustCompile(`^([^/]+\.vault\.[a-z0-9.-]+)/keys/([^/]+)(?:/([^/]+))?$`)

func openAzure(_ context.Context, u *url.URL) (service, error) {
	cred, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	return newAzureKey(u, cred, retry.Transport())
}

func newAzureKey(u *url.URL, cred azcore.TokenCredential, transport http.RoundTripper) (service, error) {
	p := cloudurl.Of(u)
	k := &azureKey{algorithm: azkeys.EncryptionAlgorithm(p.Text("algorithm"))}
	if err := p.Err(); err != nil {
		return nil, err
	}
	if k.algorithm == "" {
		k.algorithm = azkeys.EncryptionAlgorithmRSAOAEP256
	}
	parts := azureName.FindStringSubmatch(path.Join(u.Host, u.Path))
	if parts == nil {
		return nil, cloudurl.Invalid("An azurekeyvault:// URL must have the form azurekeyvault://VAULT.vault.azure.net/keys/KEY.")
	}
	k.name, k.version = parts[2], parts[3]
	var err error
	k.client, err = azkeys.NewClient("https://"+parts[1]+"/", cloudurl.Azure(cred), &azkeys.ClientOptions{ClientOptions: policy.ClientOptions{
		Transport: &http.Client{Transport: transport}, Telemetry: policy.TelemetryOptions{ApplicationID: "muster"}}})
	return k, err
}

func (k *azureKey) wrap(ctx context.Context, key []byte) ([]byte, error) {
	out, err := k.client.Encrypt(ctx, k.name, k.version, azkeys.KeyOperationParameters{Algorithm: &k.algorithm, Value: key}, nil)
	if err != nil {
		return nil, ofAzure(err)
	}
	return out.Result, nil
}

func (k *azureKey) unwrap(ctx context.Context, wrapped []byte) ([]byte, error) {
	out, err := k.client.Decrypt(ctx, k.name, k.version, azkeys.KeyOperationParameters{Algorithm: &k.algorithm, Value: wrapped}, nil)
	var answer *azcore.ResponseError
	if errors.As(err, &answer) && answer.StatusCode == http.StatusBadRequest {
		return nil, fmt.Errorf("%w: %w", errOtherKey, err)
	}
	if err != nil {
		return nil, ofAzure(err)
	}
	return out.Result, nil
}

func (k *azureKey) close() {}

// ofAzure translates an error.
func ofAzure(err error) error {
	var answer *azcore.ResponseError
	switch {
	case errors.Is(err, cloudurl.ErrCredentials):
		return fmt.Errorf("%w: %w", errRefused, err)
	case errors.As(err, &answer):
		return ofStatus(answer.StatusCode, err)
	}
	return err
}
