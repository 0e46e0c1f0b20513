package families

import (
	"os"
	"path/filepath"

	"muster/app"
	"muster/app/plugin"
	"muster/app/program"
	"muster/automators"
	"muster/providers"
)

// Check completes the settings, and reports what is wrong with them without starting a program.
func (p *PluginConfig) Check() error {
	p.complete(os.LookupEnv)
	_, err := p.Programs()
	return err
}

// Check completes the settings, and reports what is wrong with them without starting a program.
func (a *AutomatorConfig) Check() error {
	a.complete(os.LookupEnv)
	if _, err := a.settings(); err != nil {
		return err
	}
	_, err := a.Programs()
	return err
}

// Programs are the files in the directory of provider plugins.
func (p *PluginConfig) Programs() ([]plugin.Program, error) {
	return programs(p.Dir, program.ProviderPrefix, plugin.Provider, providers.IsOwn, providers.IsPlugged)
}

// Programs are the files in the directory of automator plugins.
func (a *AutomatorConfig) Programs() ([]plugin.Program, error) {
	return programs(a.Dir, program.AutomatorPrefix, plugin.Automator, automators.IsOwn, automators.IsPlugged)
}

func programs(dir, prefix string, kind plugin.Kind, own func(string) bool, plugged func(string, string) bool) (all []plugin.Program, err error) {
	if dir == "" {
		return nil, nil
	}
	types, paths, err := program.Find(dir, prefix)
	if err != nil {
		return nil, app.Errorf(app.EInvalid, "can't read the directory of %s plugins: %w", kind, err)
	}
	for _, typ := range types {
		p := plugin.Program{Name: filepath.Base(paths[typ]), Path: paths[typ], Kind: kind, Type: typ, Loaded: plugged(typ, paths[typ])}
		if p.Err = program.Trust(p.Path, prefix); own(typ) {
			p.Err = app.Errorf(app.EConflict, "%s %s is one of Muster's own, which a plugin can't replace", kind, typ)
		}
		all = append(all, p)
	}
	return all, nil
}
