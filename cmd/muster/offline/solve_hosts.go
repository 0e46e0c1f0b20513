package offline

import (
	"fmt"
	"os"

	"muster/app/file/catalog"
	"muster/app/humanize"
	"muster/app/template"
	"muster/cmd/muster/cli"
)

// takeHosts reads the --hosts file into the request. Hosts of another provider, or with hardware that the provider doesn't have, are
// rejected: they're most likely a mistake.
func (q *question) takeHosts(known *template.Catalog) error {
	if q.hosts == "" {
		return nil
	}
	data, err := os.ReadFile(q.hosts)
	if err != nil {
		return cli.Usagef("--hosts: %v", err)
	}
	pool, err := catalog.ReadHosts(q.hosts, data)
	if err != nil {
		return cli.Usagef("can't read --hosts:\n%v", err)
	}
	chosen := q.layout.Request.Provider
	if t := known.Templates[q.layout.Request.Template]; chosen == "" && t != nil {
		chosen = t.Defaults.Provider
	}
	if pool.Provider == "" {
		pool.Provider = chosen
	}
	if pool.Provider != chosen && chosen != "" {
		return cli.Usagef("--hosts: %s lists hosts of provider %s, but the layout is for provider %s", q.hosts, pool.Provider, chosen).
			Hint("Set --provider %s.", pool.Provider)
	}
	for i, h := range pool.Hosts {
		hardware := known.Hardware[h.Hardware]
		switch {
		case hardware == nil:
			return cli.Usagef("--hosts: %s: hosts[%d] (%s) has hardware %s, which isn't in the catalog", q.hosts, i, h.Name, h.Hardware).
				Hint("%s", nearest(h.Hardware, cli.SortedKeys(known.Hardware)))
		case known.Providers[chosen] != nil && hardware.Providers[chosen].Flavor == "":
			return cli.Usagef("--hosts: %s: hosts[%d] (%s) has hardware %s, which provider %s doesn't have", q.hosts, i, h.Name, h.Hardware, chosen)
		}
	}
	q.layout.Request.Pool = pool
	return nil
}

// nearest is a hint for an unknown name.
func nearest(wrong string, names []string) string {
	if near := humanize.Nearest(wrong, names); near != "" {
		return fmt.Sprintf("Did you mean %s?", near)
	}
	return ""
}
