package catalog

import (
	"muster/app/file/catalog/form"
	"muster/app/template"
)

// Write returns an entry of a catalog in Muster's own form, as a person would write it; false where there is none. Of the installation's
// providers it leaves out what is secret, and what comes from the server's environment.
func (r *Reader) Write(c *template.Catalog, k template.CatalogKey) (string, bool) {
	switch form.Kind(k.Kind) {
	case form.KindProvider:
		if p := c.Providers[k.Name]; p != nil {
			return form.Text(r.providerDoc(p)), true
		}
	case form.KindHardware:
		if h := c.Hardware[k.Name]; h != nil {
			return form.Text(form.HardwareDocOf(h)), true
		}
	case form.KindImage:
		if i := c.Images[k.Name]; i != nil {
			return form.Text(form.ImageDocOf(i)), true
		}
	case form.KindService:
		if s := c.Services[k.Name]; s != nil {
			return form.Text(form.ServiceDocOf(s)), true
		}
	case form.KindTemplate:
		if t := c.Written[k.Name]; t != nil {
			return form.Text(form.TemplateDocOf(t)), true
		}
	}
	return "", false
}
