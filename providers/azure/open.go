package azure

import (
	"context"
	"errors"
	"net/http"
	"os"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v7"

	"muster/app"
	"muster/app/family"
	"muster/app/template"
	"muster/providers/internal/account"
	"muster/providers/internal/keylock"
)

// Rate is how often an account may be asked. Resource Manager takes 250 reads and 200 changes at once, and 25 and 10 more every second; a verb of ours is up to
// ten of them, and a wait one more every few seconds.
var Rate = template.Rate{PerSecond: 2, Burst: 20}

// pauses are how long to wait; tests have less patience.
type pauses struct {
	poll time.Duration // between two looks at something that takes a while
	late time.Duration // how long lists may lag behind

	prices time.Duration // for the list of prices
}

// Azure doesn't say how far its lists lag; a machine that was just created is usually listed at once. The list of prices
// takes two seconds; the command line waits 30 for all offers.
var usual = pauses{poll: 3 * time.Second, late: 5 * time.Second, prices: 10 * time.Second}

// group is one account: a resource group of a subscription.
type group struct {
	settings
	raw       account.Settings
	pauses    pauses
	login     azcore.TokenCredential
	transport *http.Transport
	web       *http.Client  // over it
	locks     keylock.Locks // by machine

	rest      *arm.Client // for what has no client of its own here
	machines  *armcompute.VirtualMachinesClient
	disks     *armcompute.DisksClient
	sizes     *armcompute.ResourceSKUsClient
	usage     *armcompute.UsageClient
	images    *armcompute.VirtualMachineImagesClient
	own       *armcompute.ImagesClient
	cards     *armnetwork.InterfacesClient
	addresses *armnetwork.PublicIPAddressesClient
	walls     *armnetwork.SecurityGroupsClient
	members   *armnetwork.ApplicationSecurityGroupsClient
	network   *armnetwork.UsagesClient
}

var (
	_ family.Provider       = (*group)(nil)
	_ family.ProviderCloser = (*group)(nil)
	_ family.LateLister     = (*group)(nil)
	_ family.Sleeper        = (*group)(nil)
	_ family.Adopter        = (*group)(nil)
	_ family.Sharer         = (*group)(nil)
	_ family.Namer          = (*group)(nil)
	_ family.AccountChecker = (*group)(nil)
	_ family.Offerer        = (*group)(nil)
)

// Open returns the account of the settings. It asks nothing yet.
func Open(settings map[string]any, via account.Network) (family.Provider, error) {
	return open(settings, usual, via.Transport())
}

func open(raw map[string]any, p pauses, t *http.Transport) (*group, error) {
	s, err := read(account.Settings(raw))
	if err != nil {
		return nil, err
	}
	t.ResponseHeaderTimeout, t.MaxIdleConnsPerHost = time.Minute, 16
	web := &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	g := &group{settings: s, raw: account.Settings(raw), pauses: p, transport: t, web: web}
	o := azcore.ClientOptions{
		Cloud:     s.endpoints(),
		Retry:     policy.RetryOptions{MaxRetries: -1}, // when to ask again is Muster's to say
		Telemetry: policy.TelemetryOptions{ApplicationID: "muster"},
		Transport: web,
	}
	if g.login, err = s.credential(o); err != nil {
		return nil, hinted(app.Errorf(app.ECredentials, "Can't use the credentials for Azure: %w", err), "Set directory_id, client_id and client_secret.")
	}
	return g, g.clients(&arm.ClientOptions{ClientOptions: o, DisableRPRegistration: true})
}

// clients makes one for each kind of resource.
func (g *group) clients(o *arm.ClientOptions) error {
	var errs [11]error
	g.rest, errs[0] = arm.NewClient("muster", "v1.0.0", g.login, o)
	g.machines, errs[1] = armcompute.NewVirtualMachinesClient(g.subscription, g.login, o)
	g.disks, errs[2] = armcompute.NewDisksClient(g.subscription, g.login, o)
	g.sizes, errs[3] = armcompute.NewResourceSKUsClient(g.subscription, g.login, o)
	g.usage, errs[4] = armcompute.NewUsageClient(g.subscription, g.login, o)
	g.images, errs[5] = armcompute.NewVirtualMachineImagesClient(g.subscription, g.login, o)
	g.own, errs[6] = armcompute.NewImagesClient(g.subscription, g.login, o)
	g.cards, errs[7] = armnetwork.NewInterfacesClient(g.subscription, g.login, o)
	g.addresses, errs[8] = armnetwork.NewPublicIPAddressesClient(g.subscription, g.login, o)
	g.walls, errs[9] = armnetwork.NewSecurityGroupsClient(g.subscription, g.login, o)
	g.members, errs[10] = armnetwork.NewApplicationSecurityGroupsClient(g.subscription, g.login, o)
	var err error
	g.network, err = armnetwork.NewUsagesClient(g.subscription, g.login, o)
	return errors.Join(append(errs[:], err)...)
}

// endpoints are where the account's cloud answers.
func (s settings) endpoints() cloud.Configuration {
	c := map[string]cloud.Configuration{"public": cloud.AzurePublic, "usgovernment": cloud.AzureGovernment, "china": cloud.AzureChina}[s.cloud]
	if s.login != "" {
		c.ActiveDirectoryAuthorityHost = s.login
	}
	if s.api != "" {
		arm := c.Services[cloud.ResourceManager]
		arm.Endpoint = s.api
		c.Services = map[cloud.ServiceName]cloud.ServiceConfiguration{cloud.ResourceManager: arm}
	}
	return c
}

// credential is the account's own. Without a secret, it is the identity of the host that Muster runs on: no program is started, and no
// file of a person is read.
func (s settings) credential(o azcore.ClientOptions) (azcore.TokenCredential, error) {
	private := s.login != "" // such an address is the installation's, which trusts it
	switch {
	case s.secret != "":
		return azidentity.NewClientSecretCredential(s.directory, s.client, s.secret,
			&azidentity.ClientSecretCredentialOptions{ClientOptions: o, DisableInstanceDiscovery: private})
	case os.Getenv("AZURE_FEDERATED_TOKEN_FILE") != "":
		return azidentity.NewWorkloadIdentityCredential(&azidentity.WorkloadIdentityCredentialOptions{ClientOptions: o, TenantID: s.directory, ClientID: s.client,
			DisableInstanceDiscovery: private})
	}
	m := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: o}
	if s.client != "" {
		m.ID = azidentity.ClientID(s.client)
	}
	return azidentity.NewManagedIdentityCredential(m)
}

// Close lets connections go; machines stay.
func (g *group) Close() error {
	g.transport.CloseIdleConnections()
	return nil
}

// ListsLate implements family.LateLister.
func (g *group) ListsLate() time.Duration { return g.pauses.late }

// pause waits, but no longer than ctx lasts.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// await carries something out that takes a while, and returns when it has ended. Azure does one thing at a time to a resource: it's begun again while
// another one is in progress, such as of a call whose answer was lost.
func await[T any](ctx context.Context, g *group, begin func() (*runtime.Poller[T], error)) error {
	for try := 0; ; try++ {
		p, err := begin()
		for look := time.Duration(1); err == nil && !p.Done(); look++ { // most changes of networks take a second
			if err = pause(ctx, g.pauses.poll*min(look, 3)/3); err == nil {
				_, err = p.Poll(ctx)
			}
		}
		if err == nil {
			_, err = p.Result(ctx)
		}
		if err = coded(err); !busy(err) || try == mostTries {
			return err
		}
		if err := pause(ctx, g.pauses.poll); err != nil {
			return err
		}
	}
}

// mostTries is how often something is begun: what is in progress takes seconds.
const mostTries = 20

// act has Azure do something with a resource that takes a while, such as delete it.
func act[T, O any](ctx context.Context, g *group, begin func(context.Context, string, string, *O) (*runtime.Poller[T], error), name string) error {
	return await(ctx, g, func() (*runtime.Poller[T], error) { return begin(ctx, g.group, name, nil) })
}

// put makes or changes a resource.
func put[B, T, O any](ctx context.Context, g *group, begin func(context.Context, string, string, B, *O) (*runtime.Poller[T], error),
	name string, body B) error {
	return await(ctx, g, func() (*runtime.Poller[T], error) { return begin(ctx, g.group, name, body, nil) })
}

// drop deletes a resource. What doesn't exist is success.
func drop[T, O any](ctx context.Context, g *group, begin func(context.Context, string, string, *O) (*runtime.Poller[T], error), name string) error {
	if err := act(ctx, g, begin, name); !isAbsent(err) {
		return err
	}
	return nil
}
