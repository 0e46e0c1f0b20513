package providers

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"

	"muster/app"
	"muster/app/family"
	"muster/app/netguard"
	"muster/app/observe"
	"muster/app/template"
	"muster/providers/docker"
	"muster/providers/fake"
	"muster/providers/google"
	"muster/providers/internal/account"
	"muster/providers/joyent"
	"muster/providers/sandbox"
	"muster/providers/static"
)

// Env is what a provider may know of the process that it runs in.
type Env struct {
	Installation string         // value of family.TagInstallation: machines with another are not ours
	DataDir      string         // a directory for this provider alone; made when it is needed
	Logger       *slog.Logger   // nil means no logging
	Budget       Budget         // shares the account's calls with the rest of Muster; nil means no limit
	Meter        observe.Meter  // counts its calls; nil: no one does
	Tracer       observe.Tracer // follows them; nil: no one does
	// Guard says where the APIs of tenants' own accounts may be; nil: at public addresses alone.
	Guard *netguard.Guard

	network account.Network // of the account that is opened
}

// constructor opens one account. The settings have passed Check.
type constructor func(ctx context.Context, name string, settings map[string]any, env Env) (family.Provider, error)

// registration is one kind of cloud. Check, where set, looks deeper into settings than the descriptor can. Rate is how many
// calls an account of this kind usually takes; the zero Rate, for clouds of our own, is no limit. CheckOwn, where set, refuses what settings of a
// tenant's own account hold inside, such as an address in a key file.
type registration struct {
	Descriptor  family.Descriptor
	Constructor constructor
	Check       func(settings map[string]any) error
	CheckOwn    func(settings map[string]any) error
	Rate        template.Rate
}

// registry is the family, by the name that ProviderSpec.Type uses, in alphabetical order. Those that bring a large SDK are in registry_large.go, which
// a small build (-tags small) leaves out.
var registry = joined(largeRegistry, map[string]registration{
	"docker": {
		Descriptor: docker.Descriptor,
		Check:      docker.Check,
		Constructor: func(_ context.Context, _ string, settings map[string]any, _ Env) (family.Provider, error) {
			return docker.Open(settings)
		},
	},
	"fake": {
		Descriptor: fake.Descriptor,
		Check:      fake.Check,
		Constructor: func(_ context.Context, name string, settings map[string]any, _ Env) (family.Provider, error) {
			return fake.Provider(name, settings)
		},
	},
	"google": {
		Descriptor: google.Descriptor,
		Check:      google.Check,
		CheckOwn:   google.CheckOwn,
		Rate:       template.Rate{PerSecond: 5, Burst: 10}, // a call of ours is several of the API, which takes 20 or so in a second
		Constructor: func(ctx context.Context, name string, settings map[string]any, env Env) (family.Provider, error) {
			return google.Open(ctx, name, settings, env.network)
		},
	},
	"joyent": {
		Descriptor: joyent.Descriptor,
		Check:      joyent.Check,
		Rate:       template.Rate{PerSecond: 2, Burst: 10}, // a call of ours is several of the API, whose limits are its operator's
		Constructor: func(ctx context.Context, name string, settings map[string]any, env Env) (family.Provider, error) {
			return joyent.Open(ctx, name, settings, env.network)
		},
	},
	"sandbox": {
		Descriptor: sandbox.Descriptor,
		Check:      sandbox.Check,
		Constructor: func(ctx context.Context, name string, settings map[string]any, env Env) (family.Provider, error) {
			return sandbox.Open(ctx, name, settings, sandbox.Env{DataDir: env.DataDir, Logger: env.Logger})
		},
	},
	"static": {
		Descriptor: static.Descriptor,
		Check:      static.Check,
		Constructor: func(_ context.Context, _ string, settings map[string]any, env Env) (family.Provider, error) {
			return static.Open(settings, static.Env{DataDir: env.DataDir, Logger: env.Logger, Network: env.network})
		},
	},
})

func joined(a, b map[string]registration) map[string]registration {
	all := maps.Clone(b)
	maps.Copy(all, a)
	return all
}

// Names returns the names of all members, sorted.
func Names() []string {
	all := slices.AppendSeq(plugged.Names(), maps.Keys(registry))
	slices.Sort(all)
	return all
}

// Descriptors returns what each member says of itself, sorted by name.
func Descriptors() []family.Descriptor {
	var out []family.Descriptor
	for _, name := range Names() {
		out = append(out, memberOf(name).Descriptor)
	}
	return out
}

// Volumes reports whether a type of provider makes volumes.
func Volumes(kind string) bool { return memberOf(kind).Descriptor.Volumes }

// VolumeSnapshots reports whether a type of provider makes snapshots of volumes.
func VolumeSnapshots(kind string) bool { return memberOf(kind).Descriptor.VolumeSnapshots }

// VolumesAtCreation reports whether machines of a type of provider only have the volumes that they are created with.
func VolumesAtCreation(kind string) bool { return memberOf(kind).Descriptor.VolumesAtCreation }

// Bakes reports whether images can be made of machines of a type of provider.
func Bakes(kind string) bool { return memberOf(kind).Descriptor.Bakes }

// Sleeps reports whether machines of a type of provider can be stopped and started again.
func Sleeps(kind string) bool { return memberOf(kind).Descriptor.Sleeps }

// Firewalls reports whether a type of provider makes firewalls for clusters.
func Firewalls(kind string) bool { return memberOf(kind).Descriptor.Firewalls }

// RateOf returns how many calls an account takes: what the catalog says, or what is usual for its type.
func RateOf(spec template.ProviderSpec) template.Rate {
	if spec.Rate.Limited() {
		return spec.Rate
	}
	return memberOf(spec.Type).Rate
}

// Open checks the spec, opens the account and wraps it: see the package comment. The caller closes what it got when
// it is a family.ProviderCloser; machines outlive that. EInvalid for a spec that Check refuses or an env without
// an installation.
func Open(ctx context.Context, spec template.ProviderSpec, env Env) (family.Provider, error) {
	if err := Check(spec); err != nil {
		return nil, err
	}
	if env.Installation == "" {
		return nil, app.Errorf(app.EInvalid, "provider %q requires the installation's name", spec.Name)
	}
	if env.Logger == nil {
		env.Logger = slog.New(slog.DiscardHandler)
	}
	if env.Budget == nil {
		env.Budget = unlimited{}
	}
	if spec.NeedsOwn() {
		return nil, app.Errorf(app.EInvalid, "provider %q has no account of its own: each cluster brings its users' credentials", spec.Name)
	}
	if spec.Untrusted || spec.Own != nil && spec.Own.Cluster != "" {
		env.network.Dial = cmp.Or(env.Guard, &netguard.Guard{}).DialContext
	}
	env.Logger = env.Logger.With("provider", spec.Name)
	m := memberOf(spec.Type)
	p, err := m.Constructor(ctx, spec.Name, spec.Settings, env)
	if err != nil {
		return nil, coded(ctx, spec.Name, "open", err)
	}
	return &guarded{name: spec.Name, account: spec.Account(), installation: env.Installation, inner: p, descriptor: m.Descriptor, limits: defaultLimits, budget: env.Budget, rate: RateOf(spec), meter: observe.MeterOf(env.Meter), tracer: env.Tracer}, nil
}

// As finds an optional power of a provider, looking through the wrapper that Open puts around a member.
func As[T any](p family.Provider) (T, bool) {
	for {
		if t, ok := p.(T); ok {
			return t, true
		}
		w, ok := p.(interface{ Unwrap() family.Provider })
		if !ok {
			var none T
			return none, false
		}
		p = w.Unwrap()
	}
}
