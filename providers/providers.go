package providers

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"muster/app"
	"muster/providers/fake"
	"muster/providers/sandbox"
)

// Env is what a provider may know of the process that it runs in.
type Env struct {
	Installation string       // value of app.TagInstallation: machines with another are not ours
	DataDir      string       // a directory for this provider alone; made when it is needed
	Logger       *slog.Logger // nil means no logging
	Budget       Budget       // shares the account's calls with the rest of Muster; nil means no limit
}

// Constructor opens one account. The settings have passed Check.
type Constructor func(ctx context.Context, name string, settings map[string]any, env Env) (app.Provider, error)

// member is one kind of cloud. Check, where set, looks deeper into settings than the descriptor can. Rate is how many
// calls an account of this kind usually takes; the zero Rate, for clouds of our own, is no limit.
type member struct {
	Descriptor  app.Descriptor
	Constructor Constructor
	Check       func(settings map[string]any) error
	Rate        app.Rate
}

// members is the family, by the name that ProviderSpec.Type uses, in alphabetical order.
var members = map[string]member{
	"fake": {
		Descriptor: fake.Descriptor,
		Check:      fake.Check,
		Constructor: func(_ context.Context, name string, settings map[string]any, _ Env) (app.Provider, error) {
			return fake.Provider(name, settings)
		},
	},
	"sandbox": {
		Descriptor: sandbox.Descriptor,
		Check:      sandbox.Check,
		Constructor: func(ctx context.Context, name string, settings map[string]any, env Env) (app.Provider, error) {
			return sandbox.Open(ctx, name, settings, sandbox.Env{DataDir: env.DataDir, Logger: env.Logger})
		},
	},
}

// Names gives the names of all members, sorted.
func Names() []string { return slices.Sorted(maps.Keys(members)) }

// Descriptors gives what each member says of itself, sorted by name.
func Descriptors() []app.Descriptor {
	var out []app.Descriptor
	for _, name := range Names() {
		out = append(out, members[name].Descriptor)
	}
	return out
}

// Sleeps tells whether machines of a type of provider can be stopped and started again.
func Sleeps(kind string) bool { return members[kind].Descriptor.Sleeps }

// RateOf gives how many calls an account takes: what the catalog says, or what is usual for its type.
func RateOf(spec app.ProviderSpec) app.Rate {
	if spec.Rate.Limited() {
		return spec.Rate
	}
	return members[spec.Type].Rate
}

// Open checks the spec, opens the account and wraps it: see the package comment. The caller closes what it got when
// it is an app.ProviderCloser; machines outlive that. EInvalid for a spec that Check refuses or an env without
// an installation.
func Open(ctx context.Context, spec app.ProviderSpec, env Env) (app.Provider, error) {
	if err := Check(spec); err != nil {
		return nil, err
	}
	if env.Installation == "" {
		return nil, app.Errorf(app.EInvalid, "provider %q cannot be opened without the installation's name", spec.Name)
	}
	if env.Logger == nil {
		env.Logger = slog.New(slog.DiscardHandler)
	}
	if env.Budget == nil {
		env.Budget = unlimited{}
	}
	env.Logger = env.Logger.With("provider", spec.Name)
	p, err := members[spec.Type].Constructor(ctx, spec.Name, spec.Settings, env)
	if err != nil {
		return nil, coded(ctx, spec.Name, "open", err)
	}
	return &guarded{name: spec.Name, installation: env.Installation, inner: p, limits: defaultLimits, budget: env.Budget, rate: RateOf(spec)}, nil
}

// As finds an optional power of a provider, looking through the wrapper that Open puts around a member.
func As[T any](p app.Provider) (T, bool) {
	for {
		if t, ok := p.(T); ok {
			return t, true
		}
		w, ok := p.(interface{ Unwrap() app.Provider })
		if !ok {
			var none T
			return none, false
		}
		p = w.Unwrap()
	}
}
