package resource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"muster/app"
	"muster/app/resource"
	"muster/portal/site"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
)

// Uploads reports whether a request's body is a resource, which has its own limit and is never held in memory.
func Uploads(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/api/v1/resources/") && strings.HasSuffix(r.URL.Path, "/content") ||
		r.Method == http.MethodPost && r.URL.Path == "/admin/resources" || site.SettingsUpload(r)
}

// LimitUnless limits the body of all requests except some.
func (p *Service) LimitUnless(n int64, some func(*http.Request) bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		limited := p.Limit(n)(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if some(r) {
				next.ServeHTTP(w, r)
				return
			}
			limited.ServeHTTP(w, r)
		})
	}
}

// Content documents that a body or response is a resource's content.
func Content(o *huma.Operation) {
	o.Metadata = map[string]any{site.MetaStream: true}
	bytes := map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	if o.Method == http.MethodPut {
		o.RequestBody = &huma.RequestBody{Required: true, Description: "The content, streamed", Content: bytes}
		return
	}
	o.Responses = map[string]*huma.Response{
		"200": {Description: "The content", Content: bytes},
		"206": {Description: "The content from the byte given by Range", Content: bytes},
	}
}

type Path struct {
	Resource string `path:"resource" maxLength:"400" doc:"Automator, type and name, separated by colons, such as shell:archive:site"`
}

func (r Path) id() (resource.ID, error) { return resource.ParseResourceID(r.Resource) }

type VersionPath struct {
	Path
	Version int64 `path:"version" minimum:"0" doc:"Version number; 0: the active version"`
}

type resourceListInput struct {
	Family string `query:"family" enum:"automator,provider" doc:"Filter by family: automator or provider"`
	Member string `query:"member" maxLength:"100" doc:"Filter by automator or provider type"`
	Type   string `query:"type" maxLength:"100" doc:"Filter by resource type"`
	Search string `query:"search" maxLength:"100" doc:"Search in names"`
	After  string `query:"after" maxLength:"400" doc:"Value of next from the previous page"`
	Limit  int    `query:"limit" minimum:"0" maximum:"200" doc:"Maximum number of results; 0: one page"`
}

type resourceList struct {
	Resources []resource.Info `json:"resources"`
	Next      string          `json:"next,omitempty" doc:"Value of after for the next page; omitted on the last page"`
}

type resourceTypeList struct {
	Types []resource.Types `json:"types"`
}

type resourceFileList struct {
	Files []resource.File `json:"files"`
}

func (p *Service) apiTypes(ctx context.Context, _ *struct{}) (*site.Body[resourceTypeList], error) {
	all, err := p.Resources.ResourceTypes(ctx, site.Caller(ctx))
	return site.Answered[resourceTypeList](ctx, p.Site)(resourceTypeList{site.OrEmpty(all)}, err)
}

func (p *Service) apiList(ctx context.Context, in *resourceListInput) (*site.Body[resourceList], error) {
	list, more, err := p.Resources.Resources(ctx, site.Caller(ctx), resource.Filter{Family: resource.Family(in.Family), Member: in.Member, Type: in.Type, Search: in.Search,
		After: in.After, Limit: in.Limit})
	out := resourceList{Resources: site.OrEmpty(list)}
	if more && len(list) > 0 {
		out.Next = list[len(list)-1].ID.String()
	}
	return site.Answered[resourceList](ctx, p.Site)(out, err)
}

func (p *Service) apiShow(ctx context.Context, in *Path) (*site.Body[resource.Info], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return site.Answered[resource.Info](ctx, p.Site)(p.Resources.Resource(ctx, site.Caller(ctx), id))
}

type resourcePushInput struct {
	Path
	File   string `query:"file" maxLength:"400" doc:"Display name of the file"`
	Note   string `query:"note" maxLength:"2000" doc:"Description of the changes in this version"`
	Sha256 string `query:"sha256" maxLength:"64" doc:"Expected SHA-256 of the content, in hex"`
	Stage  bool   `query:"stage" doc:"Stage the version right away"`
	stream io.Reader
}

// Resolve streams the body; huma would read all of it first.
func (in *resourcePushInput) Resolve(ctx huma.Context) []error {
	_, w := humachi.Unwrap(ctx)
	in.stream = site.Steady(w, ctx.BodyReader())
	return nil
}

func (p *Service) apiPush(ctx context.Context, in *resourcePushInput) (*site.Body[resource.Version], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, site.UploadTime)
	defer cancel()
	return site.Answered[resource.Version](ctx, p.Site)(p.Versions.PushResource(ctx, site.Caller(ctx),
		resource.Push{ID: id, Source: resource.Source{File: in.File}, Note: in.Note, Hash: in.Sha256, Stage: in.Stage}, in.stream))
}

type resourceImportInput struct {
	Path
	Body struct {
		Git    string `json:"git" maxLength:"1000" doc:"URL of the repository, such as https://git.example.com/team/site.git"`
		Ref    string `json:"ref" maxLength:"200" doc:"Tag, branch or commit"`
		Folder string `json:"folder,omitempty" maxLength:"500" doc:"Folder to import; default: all"`
		Secret string `json:"secret,omitempty" maxLength:"64" doc:"Name of a secret with user:token or a token"`
		Note   string `json:"note,omitempty" maxLength:"2000" doc:"Description of the changes in this version"`
		Stage  bool   `json:"stage,omitempty" doc:"Stage the version right away"`
	}
}

func (p *Service) apiImport(ctx context.Context, in *resourceImportInput) (*site.Body[resource.Version], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	b := in.Body
	return site.Answered[resource.Version](ctx, p.Site)(p.Versions.ImportResource(ctx, site.Caller(ctx),
		resource.Push{ID: id, Source: resource.Source{Git: b.Git, Ref: b.Ref, Folder: b.Folder, Secret: b.Secret}, Note: b.Note, Stage: b.Stage}))
}

func (p *Service) apiStage(ctx context.Context, in *VersionPath) (*site.Body[resource.Info], error) {
	return p.resourceMark(ctx, in, p.Versions.StageResource)
}

func (p *Service) apiRecall(ctx context.Context, in *VersionPath) (*site.Body[resource.Info], error) {
	return p.resourceMark(ctx, in, p.Versions.RecallResource)
}

func (p *Service) resourceMark(ctx context.Context, in *VersionPath, mark func(context.Context, app.Actor, resource.ID, int64) (resource.Info, error)) (*site.Body[resource.Info], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return site.Answered[resource.Info](ctx, p.Site)(mark(ctx, site.Caller(ctx), id, in.Version))
}

func (p *Service) apiDelete(ctx context.Context, in *VersionPath) (*struct{}, error) {
	id, err := in.id()
	if err == nil {
		err = p.Versions.DeleteResource(ctx, site.Caller(ctx), id, in.Version)
	}
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return nil, nil
}

type resourceSyncInput struct {
	Body struct {
		Family string `json:"family,omitempty" enum:"automator,provider" doc:"Filter by family: automator or provider"`
		Member string `json:"member,omitempty" maxLength:"100" doc:"Filter by automator or provider type"`
		DryRun bool   `json:"dry_run,omitempty" doc:"Preview only"`
	}
}

func (p *Service) apiSync(ctx context.Context, in *resourceSyncInput) (*site.Body[resource.Sync], error) {
	f := resource.Filter{Family: resource.Family(in.Body.Family), Member: in.Body.Member}
	return site.Answered[resource.Sync](ctx, p.Site)(p.Versions.SyncResources(ctx, site.Caller(ctx), f, in.Body.DryRun))
}

type resourceDiffInput struct {
	Path
	From int64 `query:"from" minimum:"0" doc:"Version number; 0: the active version"`
	To   int64 `query:"to" minimum:"0" doc:"Version number to compare with"`
}

func (p *Service) apiDiff(ctx context.Context, in *resourceDiffInput) (*site.Body[resource.Diff], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	return site.Answered[resource.Diff](ctx, p.Site)(p.Resources.DiffResource(ctx, site.Caller(ctx), id, in.From, in.To))
}

func (p *Service) apiFiles(ctx context.Context, in *VersionPath) (*site.Body[resourceFileList], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	files, err := p.Resources.ResourceFiles(ctx, site.Caller(ctx), id, in.Version)
	return site.Answered[resourceFileList](ctx, p.Site)(resourceFileList{site.OrEmpty(files)}, err)
}

type resourceContentInput struct {
	VersionPath
	Range string `header:"Range" maxLength:"100" doc:"bytes=N- resumes at byte N"`
}

func (p *Service) apiContent(ctx context.Context, in *resourceContentInput) (*huma.StreamResponse, error) {
	id, err := in.id()
	if err != nil {
		return nil, p.Fail(ctx, err)
	}
	a := site.Caller(ctx)
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humachi.Unwrap(hc)
		if err := p.sendResource(ctx, w, a, id, in.Version, in.Range); err != nil {
			p.NoteRefusal(ctx, a, "api", err)
			p.WriteProblem(w, r, err)
		}
	}}, nil
}

// sendResource streams a resource's content. It returns an error if nothing was sent yet.
func (p *Service) sendResource(ctx context.Context, w http.ResponseWriter, a app.Actor, id resource.ID, number int64, rng string) error {
	from := int64(0)
	if rng != "" {
		first, ok := strings.CutPrefix(rng, "bytes=")
		first, open := strings.CutSuffix(first, "-")
		n, err := strconv.ParseInt(first, 10, 64)
		if !ok || !open || err != nil || n < 0 {
			return &app.Error{Code: app.EInvalid, Field: "range", Message: "Unsupported range.", Hint: "Use bytes=N-."}
		}
		from = n
	}
	info, v, r, err := p.Resources.OpenResource(ctx, a, id, number, from)
	if err != nil {
		return err
	}
	defer r.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(v.Size-from, 10))
	h.Set("Content-Disposition", `attachment; filename="`+downloadName(info, v)+`"`)
	h.Set("ETag", `"`+v.Hash+`"`)
	h.Set("Accept-Ranges", "bytes")
	if from > 0 {
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, v.Size-1, v.Size))
		w.WriteHeader(http.StatusPartialContent)
	}
	if err := site.SendContent(w, r); err != nil { // too late to send an error
		if ctx.Err() == nil && !errors.Is(err, site.ErrGone) {
			p.Log.ErrorContext(ctx, "a resource's content couldn't be sent completely", "resource", id.String(), "version", v.Number, "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	return nil
}

// downloadName is the file name of a download. Uploaded names may contain anything, so only the extension is used.
func downloadName(info resource.Info, v resource.Version) string {
	ending := ""
	if info.Format == resource.FormatArchive {
		ending = ".tar.gz"
		for _, e := range []string{".tgz", ".tar", ".zip"} {
			if strings.HasSuffix(strings.ToLower(v.Source.File), e) {
				ending = e
			}
		}
	}
	return fmt.Sprintf("%s-%d%s", info.Name, v.Number, ending)
}
