package execution

import (
	"muster/app"
	appcluster "muster/app/cluster"
	"muster/app/template"
)

// maxImageID bounds what a worker can call an image.
const maxImageID = 500

// assignBaked tells the worker which baked image a machine starts from or is made into, and, for a bootstrap, what to install where it has not.
func assignBaked(as *Assignment, d appcluster.Definition) {
	image := d.Baked.Of(as.Node.Name)
	if image == nil {
		return
	}
	switch as.Action {
	case app.ActionCreate, app.ActionConfirm:
		as.Baked = image
	case app.ActionBake:
		as.Baked = d.Baked.Built(as.Node.Name)
	case app.ActionBootstrap:
		as.Baked, as.Installs = image, map[string]*template.ServiceAction{}
		for _, name := range image.Services {
			if s := d.Services[name]; s != nil && s.Actions[app.ActionInstall] != nil {
				as.Installs[name] = s.Actions[app.ActionInstall]
				as.Timeout += max(s.Actions[app.ActionInstall].Timeout, serviceStepTime)
			}
		}
	}
}

// imageOf returns what a report says of an image, by our own rules, whatever the sender.
func imageOf(r Report) *ImageReport {
	if r.Image == nil || r.Image.Image == "" || len(r.Image.Image) > maxImageID || r.Err != nil && !r.Image.Gone {
		return nil
	}
	return r.Image
}
