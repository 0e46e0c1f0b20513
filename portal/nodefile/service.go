package nodefile

import (
	"net/http"
	"strings"

	"muster/portal/site"
)

// Service serves the pages of nodes' files.
type Service struct {
	*site.Site
}

// New returns the service.
func New(s *site.Site) *Service { return &Service{Site: s} }

const (
	listPath     = "/clusters/{id}/nodes/{node}/files"
	downloadPath = listPath + "/download"
)

// Routes are the pages. Copies take as long as they move, while the sign-in is valid.
func Routes(p *Service) []site.Route {
	return []site.Route{
		site.Show(listPath, p.list),
		site.Submit(listPath, p.upload).Stream(),
		site.Show(downloadPath, p.download).Stream(),
	}
}

// Uploads reports whether a request's body is files, which have their own limit and are never held in memory.
func Uploads(r *http.Request) bool {
	parts := strings.Split(r.URL.Path, "/")
	return r.Method == http.MethodPost && len(parts) == 6 && parts[1] == "clusters" && parts[3] == "nodes" && parts[5] == "files"
}
