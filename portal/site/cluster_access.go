package site

import (
	"net/url"

	"muster/app/cluster"
	"muster/app/inventory"
)

// InventoryFiles are the file names for an inventory, from a request.
func InventoryFiles(q url.Values) inventory.InventoryFiles {
	return inventory.InventoryFiles{Key: q.Get("key"), KnownHosts: q.Get("known_hosts")}
}

func InventoryFile(v cluster.ClusterView, f inventory.InventoryFormat, files inventory.InventoryFiles) (text, name, kind string, err error) {
	i, err := inventory.NewInventory(v, files)
	if err != nil {
		return "", "", "", err
	}
	return i.File(f)
}
