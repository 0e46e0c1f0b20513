//go:build !small

package cloudurl

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// AWS takes the parameters that all services of AWS have in common, and makes the SDK's configuration of them and of what its own tools read on this
// host. It must come last, since it refuses what is left over.
func (p *Params) AWS(ctx context.Context) (aws.Config, error) {
	anonymous, role, endpoint := p.Flag("anonymous"), p.Text("role"), p.Text("endpoint")
	if role != "" && !strings.HasPrefix(role, "arn:") {
		p.wrong("The URL parameter role must be an ARN, starting with arn:.")
	}
	immutable := p.Flag("hostname_immutable")
	options := p.awsOptions()
	if err := p.Err(); err != nil {
		return aws.Config{}, err
	}
	if anonymous {
		options = append(options, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	conf, err := config.LoadDefaultConfig(ctx, options...)
	if err == nil && role != "" {
		if conf.Region == "" {
			return aws.Config{}, Invalid("The URL parameter region is required with role.")
		}
		provider := stscreds.NewAssumeRoleProvider(sts.NewFromConfig(conf), role)
		conf, err = config.LoadDefaultConfig(ctx, append(options, config.WithCredentialsProvider(provider))...)
	}
	if err != nil {
		return aws.Config{}, fmt.Errorf("configuration of AWS: %w", err)
	}
	if endpoint != "" {
		// The newer setting for endpoints has no host names that stay as they are.
		conf.EndpointResolverWithOptions = aws.EndpointResolverWithOptionsFunc(func(_, region string, _ ...any) (aws.Endpoint, error) { //nolint:staticcheck // see above
			return aws.Endpoint{PartitionID: "aws", URL: endpoint, SigningRegion: region, HostnameImmutable: immutable}, nil //nolint:staticcheck // see above
		})
	}
	if c, ok := conf.HTTPClient.(*awshttp.BuildableClient); ok {
		conf.HTTPClient = c.WithTransportOptions(func(t *http.Transport) { t.ResponseHeaderTimeout = time.Minute })
	}
	if !anonymous {
		conf.Credentials = named{conf.Credentials}
	}
	return conf, nil
}

func (p *Params) awsOptions() (options []func(*config.LoadOptions) error) {
	limiter := retry.RateLimiter(ratelimit.None)
	if n := p.Number("rate_limiter_capacity"); n > 0 {
		limiter = ratelimit.NewTokenRateLimit(uint(n))
	}
	options = append(options, config.WithRetryer(func() aws.Retryer {
		return retry.NewStandard(func(o *retry.StandardOptions) { o.RateLimiter = limiter })
	}))
	if region := p.Text("region"); region != "" {
		options = append(options, config.WithRegion(region))
	}
	if profile := p.Text("profile"); profile != "" {
		options = append(options, config.WithSharedConfigProfile(profile))
	}
	if p.Flag("dualstack") {
		options = append(options, config.WithUseDualStackEndpoint(aws.DualStackEndpointStateEnabled))
	}
	if p.Flag("fips") {
		options = append(options, config.WithUseFIPSEndpoint(aws.FIPSEndpointStateEnabled))
	}
	const supported, required = "when_supported", "when_required"
	switch p.OneOf("request_checksum_calculation", supported, required) {
	case supported:
		options = append(options, config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenSupported))
	case required:
		options = append(options, config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired))
	}
	switch p.OneOf("response_checksum_validation", supported, required) {
	case supported:
		options = append(options, config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenSupported))
	case required:
		options = append(options, config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired))
	}
	p.Text("awssdk") // older URLs name the version of the SDK with it
	return options
}

// named makes errors of credentials wrap ErrCredentials, since the SDK leaves them without a type.
type named struct{ aws.CredentialsProvider }

// Retrieve gets the credentials.
func (n named) Retrieve(ctx context.Context) (aws.Credentials, error) {
	c, err := n.CredentialsProvider.Retrieve(ctx)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrCredentials, err)
	}
	return c, err
}
