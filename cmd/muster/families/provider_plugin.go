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

// Environment variables for provider plugins, if flags don't set them.
const (
	PluginsEnv    = "MUSTER_PROVIDER_PLUGINS"
	PluginsEnvEnv = "MUSTER_PROVIDER_PLUGINS_ENV"
)

// PluginConfig names a directory of provider plugins, and the environment variables passed to them.
type PluginConfig struct {
	Dir string   `json:"dir,omitempty"`
	Env []string `json:"env,omitempty"`
}

func (p *PluginConfig) Declare(flags *pflag.FlagSet) {
	flags.StringVar(&p.Dir, "provider-plugins", "", "`directory` of provider plugins, named muster-provider-TYPE (default $"+PluginsEnv+")")
	flags.StringSliceVar(&p.Env, "provider-plugins-env", nil, "comma-separated `names` of environment variables to pass to provider plugins, besides PATH, HOME and LANG (default $"+PluginsEnvEnv+")")
}

// complete fills in settings from the environment.
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

// Plug adds the plugins' types to the family. Said is called for each one skipped: the others still work.
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
			log.Info("provider plugin loaded", "type", one.Name, "program", one.Path)
		case app.CodeOf(one.Err) == app.EConflict && providers.IsPlugged(one.Name, one.Path):
			// logged before in this process
		case said != nil:
			said(one)
		default:
			log.Error("skipping provider plugin", "type", one.Name, "program", one.Path, "why", app.AsError(one.Err).Advised())
		}
	}
	return nil
}
