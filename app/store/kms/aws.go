//go:build !small

package kms

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	sdk "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/smithy-go"

	"muster/app/awsbody"
	"muster/app/cloudurl"
)

// awsKey is a key in AWS KMS, by its ID, ARN or alias.
type awsKey struct {
	client *sdk.Client
	id     string
	around map[string]string // that must be the same at wrapping and unwrapping
}

func openAWS(ctx context.Context, u *url.URL) (service, error) {
	p := cloudurl.Of(u)
	k := &awsKey{id: strings.TrimPrefix(path.Join(u.Host, u.Path), "/"), around: p.Prefixed("context_")}
	if k.id == "" {
		return nil, cloudurl.Invalid("An awskms:// URL must name a key, such as awskms://alias/muster.")
	}
	conf, err := p.AWS(ctx)
	if err != nil {
		return nil, err
	}
	conf.HTTPClient = awsbody.Client(conf.HTTPClient)
	k.client = sdk.NewFromConfig(conf)
	return k, nil
}

func (k *awsKey) wrap(ctx context.Context, key []byte) ([]byte, error) {
	out, err := k.client.Encrypt(ctx, &sdk.EncryptInput{KeyId: aws.String(k.id), Plaintext: key, EncryptionContext: k.around})
	if err != nil {
		return nil, ofAWS(err)
	}
	return out.CiphertextBlob, nil
}

// unwrap leaves the key to the ciphertext, which names it: an alias may lead to another key by now.
func (k *awsKey) unwrap(ctx context.Context, wrapped []byte) ([]byte, error) {
	out, err := k.client.Decrypt(ctx, &sdk.DecryptInput{CiphertextBlob: wrapped, EncryptionContext: k.around})
	if err != nil {
		return nil, ofAWS(err)
	}
	return out.Plaintext, nil
}

func (k *awsKey) close() {}

// refusals are the codes for what is not allowed. KMS answers most of them with the status 400.
var refusals = []string{"AccessDeniedException", "AccessDenied", "UnrecognizedClientException", "InvalidClientTokenId", "ExpiredTokenException", "ExpiredToken",
	"InvalidSignatureException", "SignatureDoesNotMatch", "MissingAuthenticationTokenException", "MissingAuthenticationToken", "IncompleteSignature",
	"NotAuthorized", "OptInRequired", "DisabledException", "InvalidGrantTokenException"}

// ofAWS translates an error.
func ofAWS(err error) error {
	var said smithy.APIError
	var code string
	if errors.As(err, &said) {
		code = said.ErrorCode()
	}
	var answer *awshttp.ResponseError
	switch {
	case errors.Is(err, cloudurl.ErrCredentials), slices.Contains(refusals, code):
		return fmt.Errorf("%w: %w", errRefused, err)
	case slices.Contains([]string{"InvalidCiphertextException", "IncorrectKeyException", "InvalidKeyUsageException"}, code):
		return fmt.Errorf("%w: %w", errOtherKey, err)
	case code == "NotFoundException":
		return fmt.Errorf("%w: %w", errNoKey, err)
	case errors.As(err, &answer):
		return ofStatus(answer.HTTPStatusCode(), err)
	}
	return err
}
