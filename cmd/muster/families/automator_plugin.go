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
	"muster/automators"
	"muster/automators/chef"
)

// Environment variables for automator plugins and packages for nodes, if flags don't set them.
const (
	AutomatorsEnv    = "MUSTER_AUTOMATOR_PLUGINS"
	AutomatorsEnvEnv = "MUSTER_AUTOMATOR_PLUGINS_ENV"
	ChefEnv          = "MUSTER_CHEF_PACKAGE"
)

// AutomatorConfig is an installation's settings for automators: a directory of plugins, the environment variables passed to them, and Chef
// packages for nodes.
type AutomatorConfig struct {
	Dir  string   `json:"dir,omitempty"`
	Env  []string `json:"env,omitempty"`
	Chef []string `json:"chef,omitempty"`
}

func (a *AutomatorConfig) Declare(flags *pflag.FlagSet) {
	a.DeclarePlugins(flags)
	flags.StringSliceVar(&a.Chef, "chef-package", nil, "`URL#sha256=HEX` of a Chef or Cinc package for nodes without Chef; may be repeated (default $"+ChefEnv+")")
}

func (a *AutomatorConfig) DeclarePlugins(flags *pflag.FlagSet) {
	flags.StringVar(&a.Dir, "automator-plugins", "", "`directory` of automator plugins, named muster-automator-NAME (default $"+AutomatorsEnv+")")
	flags.StringSliceVar(&a.Env, "automator-plugins-env", nil, "comma-separated `names` of environment variables to pass to automator plugins, besides PATH, HOME and LANG (default $"+AutomatorsEnvEnv+")")
}

// complete fills in settings from the environment.
func (a *AutomatorConfig) complete(lookup func(string) (string, bool)) {
	list := func(into *[]string, name string) {
		if text, _ := lookup(name); len(*into) == 0 && text != "" {
			*into = strings.Split(text, ",")
		}
		for i := range *into {
			(*into)[i] = strings.TrimSpace((*into)[i])
		}
		*into = slices.DeleteFunc(*into, func(one string) bool { return one == "" })
	}
	if a.Dir == "" {
		a.Dir, _ = lookup(AutomatorsEnv)
	}
	list(&a.Env, AutomatorsEnvEnv)
	list(&a.Chef, ChefEnv)
}

func (a *AutomatorConfig) settings() (settings automators.Settings, err error) {
	for _, text := range a.Chef {
		p, err := chef.ParsePackage(text)
		if err != nil {
			return settings, err
		}
		settings.ChefPackages = append(settings.ChefPackages, p)
	}
	return settings, nil
}

// Plug configures the family and adds the plugins to it. Said is called for each one skipped: the others still work.
func (a *AutomatorConfig) Plug(ctx context.Context, log *slog.Logger, said func(program.Plugin)) error {
	a.complete(os.LookupEnv)
	settings, err := a.settings()
	if err != nil {
		return err
	}
	automators.Configure(settings)
	if a.Dir == "" {
		return nil
	}
	found, err := automators.Plug(ctx, a.Dir, a.Env, log)
	if err != nil {
		return err
	}
	for _, one := range found {
		switch {
		case one.Err == nil:
			log.Info("automator plugin loaded", "name", one.Name, "program", one.Path)
		case app.CodeOf(one.Err) == app.EConflict && automators.IsPlugged(one.Name, one.Path):
			// logged before in this process
		case said != nil:
			said(one)
		default:
			log.Error("skipping automator plugin", "name", one.Name, "program", one.Path, "why", app.AsError(one.Err).Advised())
		}
	}
	return nil
}
