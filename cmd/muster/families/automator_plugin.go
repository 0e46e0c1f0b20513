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

// Where a process learns of automators in programs of their own, and of packages for nodes, when flags do not say.
const (
	AutomatorsEnv    = "MUSTER_AUTOMATOR_PLUGINS"
	AutomatorsEnvEnv = "MUSTER_AUTOMATOR_PLUGINS_ENV"
	ChefEnv          = "MUSTER_CHEF_PACKAGE"
)

// AutomatorConfig is what an installation says of automators: a directory with those in programs of their own, the variables that these get of our
// environment, and
// packages of Chef for nodes.
type AutomatorConfig struct {
	Dir  string   `json:"dir,omitempty"`
	Env  []string `json:"env,omitempty"`
	Chef []string `json:"chef,omitempty"`
}

func (a *AutomatorConfig) Declare(flags *pflag.FlagSet) {
	a.DeclarePlugins(flags)
	flags.StringSliceVar(&a.Chef, "chef-package", nil, "`URL#sha256=HEX` of a package of Chef or Cinc for nodes without one; may be repeated (default $"+ChefEnv+")")
}

func (a *AutomatorConfig) DeclarePlugins(flags *pflag.FlagSet) {
	flags.StringVar(&a.Dir, "automator-plugins", "", "`directory` of automators in programs of their own, named muster-automator-NAME (default $"+AutomatorsEnv+")")
	flags.StringSliceVar(&a.Env, "automator-plugins-env", nil, "`names` of variables that these programs get beside PATH, HOME and LANG, with commas between (default $"+AutomatorsEnvEnv+")")
}

// complete takes from the environment what flags do not say.
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

// Plug configures the family, and adds the programs to it. Said is notified of each that is left out: others go on without it.
func (a *AutomatorConfig) Plug(ctx context.Context, log *slog.Logger, said func(program.Plugin)) error {
	a.complete(os.LookupEnv)
	var settings automators.Settings
	for _, text := range a.Chef {
		p, err := chef.ParsePackage(text)
		if err != nil {
			return err
		}
		settings.ChefPackages = append(settings.ChefPackages, p)
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
			log.Info("an automator in a program of its own", "name", one.Name, "program", one.Path)
		case app.CodeOf(one.Err) == app.EConflict && automators.IsPlugged(one.Name, one.Path):
			// this process was told of it before
		case said != nil:
			said(one)
		default:
			log.Error("an automator's program is left out", "name", one.Name, "program", one.Path, "why", app.AsError(one.Err).Advised())
		}
	}
	return nil
}
