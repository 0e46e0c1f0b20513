package site

import (
	"net/url"

	"muster/app"
	"muster/app/template"
)

// InventoryFiles are those that a request says an inventory is to name.
func InventoryFiles(q url.Values) template.InventoryFiles {
	return template.InventoryFiles{Key: q.Get("key"), KnownHosts: q.Get("known_hosts")}
}

func InventoryFile(v app.ClusterView, f template.InventoryFormat, files template.InventoryFiles) (text, name, kind string, err error) {
	i, err := template.NewInventory(v, files)
	if err != nil {
		return "", "", "", err
	}
	return i.File(f)
}
