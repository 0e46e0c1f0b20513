package site

import (
	"net/url"

	"muster/app/cluster"
	"muster/app/inventory"
)

// InventoryFiles are the file names for an inventory, from a request.
func InventoryFiles(q url.Values) inventory.Files {
	return inventory.Files{Key: q.Get("key"), KnownHosts: q.Get("known_hosts")}
}

func InventoryFile(v cluster.View, f inventory.Format, files inventory.Files) (text, name, kind string, err error) {
	i, err := inventory.NewInventory(v, files)
	if err != nil {
		return "", "", "", err
	}
	return i.File(f)
}
