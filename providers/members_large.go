//go:build !small

package providers

import (
	"context"

	"muster/app"
	"muster/providers/aws"
)

// LeftOut names the members that this build does not have.
var LeftOut []string

// largeMembers bring SDKs that take longer to compile than all of Muster.
var largeMembers = map[string]member{
	"aws": {
		Descriptor: aws.Descriptor,
		Check:      aws.Check,
		Rate:       aws.Rate,
		Constructor: func(ctx context.Context, _ string, settings map[string]any, _ Env) (app.Provider, error) {
			return aws.Open(ctx, settings)
		},
	},
}
