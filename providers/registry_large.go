//go:build !small

package providers

import (
	"context"

	"muster/app/family"
	"muster/app/template"
	"muster/providers/aws"
	"muster/providers/azure"
	"muster/providers/digitalocean"
	"muster/providers/openstack"
	"muster/providers/rackspace"
	"muster/providers/vsphere"
)

// LeftOut names the members that this build does not have.
var LeftOut []string

// largeRegistry bring SDKs: AWS's takes longer to compile than all of Muster, Azure's half a minute, VMware's 20 seconds, the others 10.
var largeRegistry = map[string]registration{
	"aws": {
		Descriptor: aws.Descriptor,
		Check:      aws.Check,
		Rate:       aws.Rate,
		Constructor: func(ctx context.Context, _ string, settings map[string]any, env Env) (family.Provider, error) {
			return aws.Open(ctx, settings, env.network)
		},
	},
	"azure": {
		Descriptor: azure.Descriptor,
		Check:      azure.Check,
		Rate:       azure.Rate,
		Constructor: func(_ context.Context, _ string, settings map[string]any, env Env) (family.Provider, error) {
			return azure.Open(settings, env.network)
		},
	},
	"digitalocean": {
		Descriptor: digitalocean.Descriptor,
		Check:      digitalocean.Check,
		Constructor: func(_ context.Context, _ string, settings map[string]any, env Env) (family.Provider, error) {
			return digitalocean.Open(settings, env.network)
		},
		// An account takes 5000 calls an hour and 250 a minute; a verb of ours is two to five of them.
		Rate: template.Rate{PerSecond: 0.5, Burst: 40},
	},
	"openstack": {
		Descriptor: openstack.Descriptor,
		Check:      openstack.Check,
		Constructor: func(_ context.Context, name string, settings map[string]any, env Env) (family.Provider, error) {
			return openstack.Open(name, settings, env.network)
		},
		// The services themselves count no calls; the proxies in front of them do, as their operator likes. A verb of ours is two to eight of them.
		Rate: template.Rate{PerSecond: 5, Burst: 20},
	},
	"rackspace": {
		Descriptor: rackspace.Descriptor,
		Check:      rackspace.Check,
		Constructor: func(_ context.Context, _ string, settings map[string]any, env Env) (family.Provider, error) {
			return rackspace.Open(settings, env.network)
		},
		// An account may read 1000 times and change something 100 times a minute; a verb of ours is two to eight calls, one of which changes something.
		Rate: template.Rate{PerSecond: 1.5, Burst: 20},
	},
	"vsphere": {
		Descriptor: vsphere.Descriptor,
		Check:      vsphere.Check,
		Constructor: func(_ context.Context, _ string, settings map[string]any, env Env) (family.Provider, error) {
			return vsphere.Open(settings, env.network)
		},
		// vCenter counts no calls, but people work with it as well; a verb of ours is two to ten of them.
		Rate: template.Rate{PerSecond: 5, Burst: 20},
	},
}
