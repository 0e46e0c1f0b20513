package cluster

import (
	"net/http"

	"muster/portal/policy"
	"muster/portal/site"
)

// Routes are its pages.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show("/clusters", p.List),
		site.Submit("/clusters", p.Create),
		site.Show("/clusters/new", p.New),
		site.Show("/clusters/delete", p.ClustersDeleteAsk),
		site.Submit("/clusters/delete", p.ClustersDelete),
		site.Submit("/clusters/preview", p.Preview),
		site.Redirect("/clusters/preview", "/clusters/new"),
		site.Show("/clusters/{id}", p.Show),
		site.Show("/clusters/{id}/live", p.Live).Stream(),
		site.Show("/clusters/{id}/access", p.Access),
		site.Show("/clusters/{id}/inventory", p.Inventory),
		site.Show("/clusters/{id}/logs", p.Logs),
		site.Show("/clusters/{id}/logs/download", p.LogDownload).Stream(),
		site.Show("/clusters/{id}/key", p.Key),
		site.Show("/clusters/{id}/waiting", p.Waiting),
		site.Show("/clusters/{id}/manage", p.Manage),
		site.Submit("/clusters/{id}/rename", p.Rename),
		site.Submit("/clusters/{id}/transfer", p.Transfer),
		site.Submit("/clusters/{id}/sharing", p.Share),
		site.Show("/clusters/{id}/sharing", p.Manage),
		site.Show("/admin/sharing", p.SharingDefault),
		site.Submit("/admin/sharing", p.SharingDefaultSet),
		site.Show("/clusters/{id}/{power:sleep|wake}", p.PowerAsk),
		site.Submit("/clusters/{id}/{power:sleep|wake}", p.Power),
		site.Submit("/clusters/{id}/schedule", p.Schedule),
		site.Show("/clusters/{id}/clone", p.CloneAsk),
		site.Submit("/clusters/{id}/clone", p.Clone),
		site.Show("/clusters/{id}/diff", p.Diff),
		site.Show("/clusters/{id}/spec", p.Spec),
		site.Show("/questions", p.QuestionList),
		site.Submit("/clusters/{id}/answers", p.QuestionAnswer),
		site.Redirect("/clusters/{id}/answers", "/questions"),
		site.Show("/clusters/{id}/extend", p.LeaseExtendAsk),
		site.Submit("/clusters/{id}/lease", p.LeaseExtend),
		site.Show("/queue", p.QueueShow),
		site.Show("/admin/queues", p.QueuesShow),
	}
}

// Operations are its part of the REST API.
func Operations(p *Service) []site.Operation {
	return []site.Operation{
		site.Post("/preview", p.APIPreview, site.About("Work out what a create would do")),
		site.Post("/explain", p.APIExplain, site.About("Say why a request has no layout, and what would make one possible")),
		site.Get("/clusters", p.APIList, site.About("List clusters, newest first")),
		site.Get("/clusters/{id}", p.APIShow, site.About("Show a cluster")),
		site.Delete("/clusters/{id}", p.APIDelete, site.About("Delete a cluster"), site.Answers(http.StatusAccepted)),
		site.Post("/clusters/{id}/resume", p.APIResume, site.About("Go on with a failed operation"), site.Answers(http.StatusAccepted)),
		site.Get("/clusters/{id}/sharing", p.APISharingShow, site.About("Tell who has access to a cluster, to those who may change that")),
		site.Put("/clusters/{id}/sharing", p.APISharingChange, site.About("Share a cluster with people and groups, or set who may see it")),
		site.Get("/cluster-defaults", p.APIDefaults, site.About("Tell who may see the tenant's new clusters")),
		site.Put("/cluster-defaults", p.APIDefaultsSet, site.About("Set who may see the tenant's new clusters, for admins")),
		site.Get("/clusters/{id}/inventory", p.APIInventory,
			site.About("Tell how the machines of a cluster are reached, in a form for other tools"), site.Files("The inventory", "text/plain", site.MediaJSON), InventoryForm),
		site.Get("/clusters/{id}/key", p.APIKey, site.About("Get the private SSH key of a cluster")),
		site.Post("/clusters/{id}/certificate", p.APICertificate, site.About("Get an SSH certificate that opens a cluster for a while")),
		site.Post("/clusters/{id}/rename", p.APIRename, site.About("Give a cluster another name"), site.Answers(http.StatusOK)),
		site.Post("/clusters/{id}/transfer", p.APITransfer, site.About("Give a cluster to another owner"), site.Answers(http.StatusOK)),
		site.Get("/clusters/{id}/sleep", p.APISleepPreview, site.About("Work out what putting a cluster to sleep would do")),
		site.Post("/clusters/{id}/sleep", p.APISleep, site.About("Put a cluster to sleep, or ask for it where people have to approve"), site.EitherAmend),
		site.Get("/clusters/{id}/wake", p.APIWakePreview, site.About("Work out what waking a cluster would do")),
		site.Post("/clusters/{id}/wake", p.APIWake, site.About("Wake a cluster, or ask for it where people have to approve"), site.EitherAmend),
		site.Get("/clusters/{id}/schedule", p.APIScheduleShow, site.About("Tell when a cluster goes to sleep and wakes")),
		site.Put("/clusters/{id}/schedule", p.APIScheduleSet, site.About("Say when a cluster goes to sleep and wakes")),
		site.Get("/clusters/{id}/spec", p.APISpec, site.About("Export what to ask for to get a cluster like this")),
		site.Get("/clusters/{id}/clone", p.APIClonePreview, site.About("Work out what a clone of a cluster would be")),
		site.Post("/clusters/{id}/clone", p.APIClone, site.About("Create a cluster like another one, or ask for it"), policy.EitherWay),
		site.Get("/diff", p.APIDiff, site.About("Compare two clusters, or two moments of one")),
		site.Get("/clusters/{id}/steps", p.APIStepList, site.About("List the steps of an operation")),
		site.Get("/clusters/{id}/events", p.APIEventList, site.About("Follow the events of a cluster"), site.Streaming),
		site.Get("/clusters/{id}/logs", p.APILogList, site.About("Read the log of a cluster")),
	}
}
