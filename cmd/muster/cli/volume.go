package cli

import (
	"strings"

	"muster/app/volume"
)

// ParseVolumes reads NAME=ID.
func ParseVolumes(list []string) (uses []volume.Use, err error) {
	for _, text := range list {
		name, id, ok := strings.Cut(text, "=")
		if !ok || name == "" || id == "" {
			return nil, Usagef("--volume must be NAME=ID, not %s", text).Hint("Such as data=vol-abc. To see kept volumes: muster volume list --kept")
		}
		uses = append(uses, volume.Use{Name: name, Volume: id})
	}
	return uses, nil
}
