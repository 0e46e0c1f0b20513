package nodefile

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/cluster"
	"muster/app/family"
	"muster/app/humanize"
	"muster/app/nodefile"
	"muster/portal/page"
	"muster/portal/site"

	"github.com/go-chi/chi/v5"
)

// List is the page of a folder.
type List struct {
	View     cluster.View
	Node     app.Node
	Folder   nodefile.Folder
	Listed   bool
	Typed    string         // the path that was asked for, of a folder that isn't shown
	Bad      page.Complaint // why the folder isn't shown
	Upload   page.Complaint // why an upload failed
	Replace  bool
	Uploaded int
}

func (p *Service) list(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	n, _ := strconv.Atoi(r.URL.Query().Get("uploaded"))
	return p.show(w, r, a, http.StatusOK, List{Uploaded: max(n, 0)})
}

func at(r *http.Request) nodefile.At {
	return nodefile.At{Cluster: chi.URLParam(r, "id"), Node: chi.URLParam(r, "node"), Path: r.URL.Query().Get("path")}
}

func (p *Service) show(w http.ResponseWriter, r *http.Request, a app.Actor, status int, l List) error {
	ctx, where := r.Context(), at(r)
	var err error
	if l.View, err = p.Clusters.Cluster(ctx, a, where.Cluster); err != nil {
		return err
	}
	if err := a.MayChange("NodeFiles", l.View.Cluster); err != nil {
		return err
	}
	i := slices.IndexFunc(l.View.Nodes, func(n app.Node) bool { return n.Name == where.Node })
	if i < 0 {
		return app.Errorf(app.ENotFound, "Cluster %q has no node %q.", l.View.Name, where.Node)
	}
	l.Node = l.View.Nodes[i]
	l.Folder, err = p.NodeFiles.NodeFiles(ctx, a, where)
	if err != nil && !shownHere(err) {
		return err
	}
	if l.Listed = err == nil; err != nil {
		l.Typed = where.Path
		e, _ := site.Known(err)
		l.Bad = page.Complaint{Message: e.Message, Hint: e.Hint}
		if status == http.StatusOK {
			status = site.StatusOf(err)
			p.LogError(r, err, status)
		}
	}
	f := p.Frame(r, "Files on "+l.Node.Name+" of "+l.View.Name)
	f.At, f.Styles, f.Scripts = "clusters", []string{"files.css"}, []string{"files.js"}
	p.Render(w, r, status, ListPage(f, l))
	return nil
}

// shownHere reports whether an error is about the node or its files: the page says so, and leads elsewhere. Others have pages of their own.
func shownHere(err error) bool {
	e := app.AsError(err)
	switch e.Reason {
	case family.FileMissing, family.FileDenied:
		return true
	case app.StepUpReason:
		return false
	}
	switch site.StatusOf(err) {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusInternalServerError:
		return false
	}
	return true
}

// base is the address of the node's files.
func (l List) base() string {
	return "/clusters/" + url.PathEscape(l.View.ID) + "/nodes/" + url.PathEscape(l.Node.Name) + "/files"
}

// of is the address of a folder.
func (l List) of(path string) string { return l.base() + "?path=" + url.QueryEscape(path) }

func (l List) download(name string) string {
	return l.base() + "/download?path=" + url.QueryEscape(l.below(name))
}

// below is the path of what the folder has.
func (l List) below(name string) string { return strings.TrimSuffix(l.Folder.Path, "/") + "/" + name }

// crumb is a part of the path.
type crumb struct{ name, path string }

// crumbs are the folders above, from the root on.
func (l List) crumbs() []crumb {
	var all []crumb
	for p := l.Folder.Path; p != "" && p != "/"; p = nodefile.Parent(p) {
		all = append(all, crumb{humanize.FileName(p[strings.LastIndex(p, "/")+1:]), p})
		if !strings.HasPrefix(p, "/") {
			break
		}
	}
	slices.Reverse(all)
	return all
}

// heading names the folder.
func (l List) heading() string {
	if l.Folder.Path == "" {
		return "Home folder"
	}
	return humanize.FileName(l.Folder.Path)
}

func (l List) kind(f family.File) string {
	switch {
	case nodefile.IsFolder(f):
		return "folder"
	case readable(f):
		return "file"
	}
	return "other"
}

// readable reports whether it's likely to be a file: where a link leads is found out when it's read.
func readable(f family.File) bool {
	return f.Mode.IsRegular() || isLink(f) && !f.Leads
}

// mode is how ls shows permissions.
func mode(f family.File) string { return strings.Replace(f.Mode.String(), "L", "l", 1) }

// count says how many there are.
func (l List) count() string {
	n := humanize.Count(l.Folder.Found, "item")
	switch shown := len(l.Folder.Files); {
	case !l.Folder.Whole:
		return "Showing " + strconv.Itoa(shown) + " of more than " + n + ". To see the others, open a terminal."
	case shown < l.Folder.Found:
		return "Showing " + strconv.Itoa(shown) + " of " + n + ". To see the others, open a terminal."
	}
	return n
}
