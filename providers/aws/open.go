package aws

import (
	"context"
	"crypto/tls"
	"net/http"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"muster/app"
	"muster/app/awsbody"
	appfamily "muster/app/family"
	"muster/app/template"
	"muster/providers/internal/account"
)

// Rate is how often an account may be asked. EC2 takes five RunInstances at once and two more every second; describing may be ten times as often.
var Rate = template.Rate{PerSecond: 2, Burst: 5}

// cloud is one account in one region.
type cloud struct {
	settings       account.Settings
	ec2            calls
	tuning         tuning
	http           *http.Client
	images         ttlCache[types.Image]
	networks       ttlCache[[]types.Subnet]
	groupIDsByName ttlCache[string] // by VPC and name
	kinds          ttlCache[types.InstanceTypeInfo]
	quotas         quotaCall
	firewalls      firewalls
	*dns           // for NameZone and SetName
	*disks         // for volumes
	*bakes         // for images of machines
}

// tuning is what tests have shorter than the cloud.
type tuning struct {
	late  time.Duration // how long EC2 may not yet know what it has made
	poll  time.Duration // between two looks
	page  int32         // of lists
	apart time.Duration // between two calls of Route 53
	sets  time.Duration // how long the sets of a zone are kept
	turn  time.Duration // how long one may be at work on the zone
}

// production is for EC2 itself: its documents tell of seconds to a few minutes; in practice what was made is known within seconds. Route 53 takes
// five calls a second
// from a whole AWS account.
var production = tuning{late: 10 * time.Second, poll: time.Second, page: 500, apart: 220 * time.Millisecond, sets: 15 * time.Second, turn: 2 * time.Minute}

var (
	_ appfamily.Provider       = (*cloud)(nil)
	_ appfamily.ProviderCloser = (*cloud)(nil)
	_ appfamily.LateLister     = (*cloud)(nil)
	_ appfamily.Sleeper        = (*cloud)(nil)
	_ appfamily.Adopter        = (*cloud)(nil)
	_ appfamily.AccountChecker = (*cloud)(nil)
	_ appfamily.Offerer        = (*cloud)(nil)
	_ appfamily.Sharer         = (*cloud)(nil)
	_ appfamily.Namer          = (*cloud)(nil)
	_ appfamily.Volumes        = (*cloud)(nil)
	_ appfamily.Baker          = (*cloud)(nil)
)

// Open returns the account that the settings name. It asks no one.
func Open(ctx context.Context, settings map[string]any, via account.Network) (appfamily.Provider, error) {
	return open(ctx, settings, production, via)
}

func open(ctx context.Context, settings map[string]any, t tuning, via account.Network) (*cloud, error) {
	if err := Check(settings); err != nil {
		return nil, err
	}
	s := account.Settings(settings)
	c := &cloud{settings: s, tuning: t, http: client(via, nil), dns: &dns{settings: s, tuning: t, naming: make(chan struct{}, 1)}}
	c.disks, c.bakes = &disks{c: c}, &bakes{c: c}
	conf, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	// Handing the client itself around would keep all of EC2's calls in the program.
	c.ec2 = callsOf(ec2.NewFromConfig(conf, func(o *ec2.Options) {
		if u := s.Text("api_url"); u != "" {
			o.BaseEndpoint = &u
		}
	}))
	c.firewalls = firewalls{ec2: &c.ec2, tuning: t}
	c.records = c.recordCallsOf(conf)
	c.quotas = c.quotaCallOf(conf)
	return c, nil
}

// config returns the SDK's: with keys in the settings, nothing of the process's environment counts.
func (c *cloud) config(ctx context.Context) (sdk.Config, error) {
	s := c.settings
	never := func() sdk.Retryer { return sdk.NopRetryer{} }
	conf := sdk.Config{Region: s.Text("region"), HTTPClient: c.http, Retryer: never}
	if id := s.Text("access_key_id"); id != "" {
		conf.Credentials = sdk.NewCredentialsCache(credentials.NewStaticCredentialsProvider(id, s.Text("secret_access_key"), s.Text("session_token")))
	} else {
		var err error
		if conf, err = config.LoadDefaultConfig(ctx, config.WithRegion(conf.Region), config.WithRetryer(never)); err != nil {
			return conf, hinted(app.Errorf(app.ECredentials, "Can't read this host's AWS configuration: %w", err),
				"Set access_key_id and secret_access_key, or correct the host's AWS configuration.")
		}
		if b, ok := conf.HTTPClient.(*awshttp.BuildableClient); ok {
			c.http = client(account.Network{}, b.GetTransport().TLSClientConfig) // with the host's bundle of authorities, where AWS_CA_BUNDLE names one
		}
		conf.HTTPClient = c.http
	}
	if role := s.Text("role_arn"); role != "" {
		asked := sts.NewFromConfig(conf, func(o *sts.Options) {
			if u := s.Text("sts_url"); u != "" {
				o.BaseEndpoint = &u
			}
		})
		conf.Credentials = sdk.NewCredentialsCache(stscreds.NewAssumeRoleProvider(asked, role, func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = "muster"
			if id := s.Text("external_id"); id != "" {
				o.ExternalID = &id
			}
		}))
	}
	return conf, nil
}

// client returns an HTTP client of the account's own, so that closing it lets go of its connections alone. trust is nil for what the host trusts.
func client(via account.Network, trust *tls.Config) *http.Client {
	t := via.Transport()
	t.ResponseHeaderTimeout, t.IdleConnTimeout, t.MaxIdleConnsPerHost, t.TLSClientConfig = time.Minute, time.Minute, 16, trust
	return &http.Client{Transport: transport{t}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// transport hides what the SDK's request bodies are: see awsbody.
type transport struct{ *http.Transport }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.Transport.RoundTrip(awsbody.Plain(r))
}

func (c *cloud) ListsLate() time.Duration { return c.tuning.late }

// Close lets go of idle connections.
func (c *cloud) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// pause waits, or returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// patiently asks again while EC2 doesn't know yet, or still holds on to, what was created or deleted: while the error's reason is one of those
// given, and until lists aren't late any more. It only gives up on an answer to a question asked after that time: an earlier question that was
// answered late, as on a busy host, says nothing about what EC2 knows now.
func (t tuning) patiently(ctx context.Context, ask func() error, reasons ...string) error {
	for until := time.Now().Add(t.late); ; {
		last := time.Now().After(until)
		err := ask()
		if err == nil || !because(err, reasons...) || last {
			return err
		}
		if e := pause(ctx, t.poll); e != nil {
			return e
		}
	}
}
