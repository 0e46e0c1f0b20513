package offline

import (
	"fmt"
	"os"

	"muster/app/file/catalog"
	"muster/app/humanize"
	"muster/app/template"
	"muster/cmd/muster/cli"
)

// takeHosts reads the file of --hosts into the request. Hosts of another provider than the chosen one, or of hardware that
// the provider does not have, are refused: they are more likely a mistake than meant.
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
		return cli.Usagef("--hosts cannot be read:\n%v", err)
	}
	chosen := q.layout.Request.Provider
	if t := known.Templates[q.layout.Request.Template]; chosen == "" && t != nil {
		chosen = t.Defaults.Provider
	}
	if pool.Provider == "" {
		pool.Provider = chosen
	}
	if pool.Provider != chosen && chosen != "" {
		return cli.Usagef("--hosts: %s lists hosts of provider %s, and the layout is for provider %s", q.hosts, pool.Provider, chosen).
			Hint("Choose it with --provider %s.", pool.Provider)
	}
	for i, h := range pool.Hosts {
		hardware := known.Hardware[h.Hardware]
		switch {
		case hardware == nil:
			return cli.Usagef("--hosts: %s: hosts[%d] (%s) is of hardware %s, which is not in the catalog", q.hosts, i, h.Name, h.Hardware).
				Hint("%s", nearest(h.Hardware, cli.SortedKeys(known.Hardware)))
		case known.Providers[chosen] != nil && hardware.Providers[chosen].Flavor == "":
			return cli.Usagef("--hosts: %s: hosts[%d] (%s) is of hardware %s, which provider %s does not have", q.hosts, i, h.Name, h.Hardware, chosen)
		}
	}
	q.layout.Request.Pool = pool
	return nil
}

// nearest is a hint for a name that is not known.
func nearest(wrong string, names []string) string {
	if near := humanize.Nearest(wrong, names); near != "" {
		return fmt.Sprintf("Did you mean %s?", near)
	}
	return ""
}
