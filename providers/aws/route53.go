package aws

import (
	"context"
	"net/url"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	smithyendpoints "github.com/aws/smithy-go/endpoints"
)

// recordCalls are the actions of Route 53 that we use, where the account names a zone; docs/providers/aws.md has the policy for them.
type recordCalls struct {
	listHostedZonesByName    call[route53.ListHostedZonesByNameInput, route53.ListHostedZonesByNameOutput]
	getHostedZone            call[route53.GetHostedZoneInput, route53.GetHostedZoneOutput]
	listResourceRecordSets   call[route53.ListResourceRecordSetsInput, route53.ListResourceRecordSetsOutput]
	changeResourceRecordSets call[route53.ChangeResourceRecordSetsInput, route53.ChangeResourceRecordSetsOutput]
}

// recordCallsOf returns Route 53 for the partition of the account's region: it is one for all of a partition's regions, and the SDK knows where.
func (d *dns) recordCallsOf(conf sdk.Config) recordCalls {
	r := route53.NewFromConfig(conf, func(o *route53.Options) {
		if to, err := url.Parse(d.settings.Text("route53_url")); err == nil && to.Host != "" {
			o.EndpointResolverV2 = elsewhere{o.EndpointResolverV2, *to}
		}
	})
	return recordCalls{
		listHostedZonesByName:    paced(d, r.ListHostedZonesByName),
		getHostedZone:            paced(d, r.GetHostedZone),
		listResourceRecordSets:   paced(d, r.ListResourceRecordSets),
		changeResourceRecordSets: paced(d, r.ChangeResourceRecordSets),
	}
}

// paced returns an action that waits for its turn. Its errors have a code, but those of the network.
func paced[I, O any](d *dns, ask func(context.Context, *I, ...func(*route53.Options)) (*O, error)) call[I, O] {
	return func(ctx context.Context, in *I) (*O, error) {
		if err := d.pace.turn(ctx, d.tuning.apart); err != nil {
			return nil, err
		}
		out, err := ask(ctx, in)
		return out, codeOf(serviceDNS, err)
	}
}

// elsewhere sends calls to another address than AWS's own, and leaves all else to the SDK, such as the region that they are signed for: with an
// address of one's own
// it would take the account's, which Route 53 does not know.
type elsewhere struct {
	route53.EndpointResolverV2
	to url.URL
}

func (e elsewhere) ResolveEndpoint(ctx context.Context, p route53.EndpointParameters) (smithyendpoints.Endpoint, error) {
	p.Endpoint = nil
	out, err := e.EndpointResolverV2.ResolveEndpoint(ctx, p)
	out.URI = e.to
	return out, err
}

// pace keeps calls apart. The zero value is ready.
type pace struct {
	mu   sync.Mutex
	next time.Time
}

// turn waits until the last call was so long ago, or returns the context's error.
func (p *pace) turn(ctx context.Context, apart time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	now := time.Now()
	at := p.next
	if at.Before(now) {
		at = now
	}
	p.next = at.Add(apart)
	p.mu.Unlock()
	if at == now {
		return nil
	}
	return pause(ctx, at.Sub(now))
}
