package address

import (
	"strings"

	"muster/app"
	"muster/portal/wire"
)

// Of returns the path of a subject's page; "" if there is none.
func Of(s app.Subject) string {
	at := place(s)
	if at != "" && s.Query != "" {
		at += "?" + s.Query
	}
	return at
}

func place(s app.Subject) string {
	switch s.Kind {
	case app.SubjectAddress:
		return s.ID
	case app.SubjectCluster:
		return "/clusters/" + s.ID
	case app.SubjectClusters:
		return "/clusters"
	case app.SubjectLeaseExtension:
		return "/clusters/" + s.ID + "/extend"
	case app.SubjectKeep:
		return "/clusters/" + s.ID + "/idle"
	case app.SubjectManualSteps:
		return "/clusters/" + s.ID + "#questions"
	case app.SubjectRequest:
		return "/requests/" + s.ID
	case app.SubjectBuildHook:
		return "/hooks/" + s.ID
	case app.SubjectBuild:
		hook, number, _ := strings.Cut(s.ID, "/")
		return "/hooks/" + hook + "/builds/" + number
	case app.SubjectRun:
		cluster, operation, _ := strings.Cut(s.ID, "/")
		return "/clusters/" + cluster + "/runs/" + operation
	case app.SubjectHook:
		return "/admin/webhooks/" + s.ID
	case app.SubjectPool:
		return "/admin/pools/" + s.ID
	case app.SubjectResources:
		return "/admin/resources"
	case app.SubjectVolumes:
		return "/volumes"
	case app.SubjectUsage:
		return "/usage"
	case app.SubjectNotices:
		return "/notifications"
	case app.SubjectPassword:
		return "/account/password"
	case app.SubjectSecondFactor:
		return "/account/second-factor"
	case app.SubjectHome:
		return "/"
	case app.SubjectNewCluster:
		return "/clusters/new"
	case app.SubjectWaiting:
		return "/clusters/" + s.ID + "/waiting"
	case app.SubjectRequests:
		return "/requests"
	case app.SubjectOrphans:
		return "/orphans"
	case app.SubjectIdentityLink:
		return "/link"
	}
	return ""
}

// BuildHook is the path for deliveries to a build hook.
func BuildHook(id string) string { return Of(app.Subject{Kind: app.SubjectBuildHook, ID: id}) }

// Notices returns notices with their links, as in the API.
func Notices(list []app.Notice) []wire.Notice {
	out := make([]wire.Notice, len(list))
	for i, n := range list {
		out[i] = wire.Notice{Notice: n, Path: Of(n.About), Action: Of(n.Act), ActionName: n.ActionName}
	}
	return out
}
