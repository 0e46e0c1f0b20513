package families

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"muster/app"
	"muster/app/program"
	"muster/providers"
)

// Where a process learns of providers in programs of their own, when flags do not say.
const (
	PluginsEnv    = "MUSTER_PROVIDER_PLUGINS"
	PluginsEnvEnv = "MUSTER_PROVIDER_PLUGINS_ENV"
)

// PluginConfig names a directory with providers in programs of their own, and the variables that these get of our environment.
type PluginConfig struct {
	Dir string   `json:"dir,omitempty"`
	Env []string `json:"env,omitempty"`
}

func (p *PluginConfig) Declare(flags *pflag.FlagSet) {
	flags.StringVar(&p.Dir, "provider-plugins", "", "`directory` of providers in programs of their own, named muster-provider-TYPE (default $"+PluginsEnv+")")
	flags.StringSliceVar(&p.Env, "provider-plugins-env", nil, "`names` of variables that these programs get beside PATH, HOME and LANG, with commas between (default $"+PluginsEnvEnv+")")
}

// complete takes from the environment what flags do not say.
func (p *PluginConfig) complete(lookup func(string) (string, bool)) {
	if p.Dir == "" {
		p.Dir, _ = lookup(PluginsEnv)
	}
	if names, _ := lookup(PluginsEnvEnv); len(p.Env) == 0 && names != "" {
		p.Env = strings.Split(names, ",")
	}
	for i := range p.Env {
		p.Env[i] = strings.TrimSpace(p.Env[i])
	}
	p.Env = slices.DeleteFunc(p.Env, func(name string) bool { return name == "" })
}

// Plug adds the programs' types to those of the family. Said is notified of each that is left out: others go on without it.
func (p *PluginConfig) Plug(ctx context.Context, log *slog.Logger, said func(program.Plugin)) error {
	p.complete(os.LookupEnv)
	if p.Dir == "" {
		return nil
	}
	found, err := providers.Plug(ctx, p.Dir, p.Env, log)
	if err != nil {
		return err
	}
	for _, one := range found {
		switch {
		case one.Err == nil:
			log.Info("a provider in a program of its own", "type", one.Name, "program", one.Path)
		case app.CodeOf(one.Err) == app.EConflict && providers.IsPlugged(one.Name, one.Path):
			// this process was told of it before
		case said != nil:
			said(one)
		default:
			log.Error("a provider's program is left out", "type", one.Name, "program", one.Path, "why", app.AsError(one.Err).Advised())
		}
	}
	return nil
}
