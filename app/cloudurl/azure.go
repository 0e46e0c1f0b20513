//go:build !small

package cloudurl

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// Azure returns credentials whose errors wrap ErrCredentials, since the SDK leaves some of them without a type.
func Azure(c azcore.TokenCredential) azcore.TokenCredential { return tokens{c} }

type tokens struct{ azcore.TokenCredential }

// GetToken gets a token.
func (t tokens) GetToken(ctx context.Context, o policy.TokenRequestOptions) (azcore.AccessToken, error) {
	token, err := t.TokenCredential.GetToken(ctx, o)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrCredentials, err)
	}
	return token, err
}
