package portal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"muster/app"
	"muster/app/resource"
)

// Resourcing is a power that a Muster may have: to keep archives and files for automators and providers. See app for what each does.
type Resourcing interface {
	ResourceTypes(ctx context.Context, a app.Actor) ([]resource.ResourceTypes, error)
	Resources(ctx context.Context, a app.Actor, f resource.ResourceFilter) ([]resource.ResourceInfo, bool, error)
	Resource(ctx context.Context, a app.Actor, id resource.ResourceID) (resource.ResourceInfo, error)
	ResourceFiles(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) ([]resource.ResourceFile, error)
	DiffResource(ctx context.Context, a app.Actor, id resource.ResourceID, from, to int64) (resource.ResourceDiff, error)
	OpenResource(ctx context.Context, a app.Actor, id resource.ResourceID, number, offset int64) (resource.ResourceInfo, resource.ResourceVersion, io.ReadCloser, error)
	PushResource(ctx context.Context, a app.Actor, p resource.ResourcePush, r io.Reader) (resource.ResourceVersion, error)
	ImportResource(ctx context.Context, a app.Actor, p resource.ResourcePush) (resource.ResourceVersion, error)
	StageResource(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) (resource.ResourceInfo, error)
	RecallResource(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) (resource.ResourceInfo, error)
	SyncResources(ctx context.Context, a app.Actor, f resource.ResourceFilter, dry bool) (resource.ResourceSync, error)
	DeleteResource(ctx context.Context, a app.Actor, id resource.ResourceID, number int64) error
}

func (p *Portal) resourcing() Resourcing {
	r, _ := p.muster.(Resourcing)
	return r
}

const (
	// uploadTime is how long an upload may take, uploadPause how long it may say nothing.
	uploadTime  = 6 * time.Hour
	uploadPause = time.Minute
)

// uploads tells requests whose body is a content, which has a limit of its own and is never held in memory.
func uploads(r *http.Request) bool {
	return r.Method == http.MethodPut && strings.HasPrefix(r.URL.Path, "/api/v1/resources/") && strings.HasSuffix(r.URL.Path, "/content") ||
		r.Method == http.MethodPost && r.URL.Path == "/admin/resources" || settingsUpload(r)
}

// limitUnless is limit for all requests but some.
func (p *Portal) limitUnless(n int64, some func(*http.Request) bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		limited := p.limit(n)(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if some(r) {
				next.ServeHTTP(w, r)
				return
			}
			limited.ServeHTTP(w, r)
		})
	}
}

// steady is a body that may take its time, but not stand still.
type steady struct {
	r  io.Reader
	rc *http.ResponseController
}

// Read implements io.Reader.
func (s steady) Read(b []byte) (int, error) {
	_ = s.rc.SetReadDeadline(time.Now().Add(uploadPause))
	return s.r.Read(b)
}

// content says in the API's description that a body or answer is a content.
func content(o *huma.Operation) {
	o.Metadata = map[string]any{metaStream: true}
	bytes := map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	if o.Method == http.MethodPut {
		o.RequestBody = &huma.RequestBody{Required: true, Description: "The content as it is, streamed", Content: bytes}
		return
	}
	o.Responses = map[string]*huma.Response{
		"200": {Description: "The content", Content: bytes},
		"206": {Description: "The content from the byte on that Range asks for", Content: bytes},
	}
}

// slow lets an operation take longer than others, as it speaks to somebody else.
func slow(o *huma.Operation) { o.Metadata = map[string]any{metaStream: true} }

type ResourcePath struct {
	Resource string `path:"resource" maxLength:"400" doc:"Its automator, type and name with colons between, such as shell:archive:site"`
}

func (r ResourcePath) id() (resource.ResourceID, error) { return resource.ParseResourceID(r.Resource) }

type ResourceVersionPath struct {
	ResourcePath
	Version int64 `path:"version" minimum:"0" doc:"The version's number; 0 is the one in use"`
}

type ResourceListInput struct {
	Family string `query:"family" enum:"automator,provider" doc:"Only those of such"`
	Member string `query:"member" maxLength:"100" doc:"Only those of this automator or type of provider"`
	Type   string `query:"type" maxLength:"100" doc:"Only those of this type"`
	Search string `query:"search" maxLength:"100" doc:"Only those with this in their name"`
	After  string `query:"after" maxLength:"400" doc:"Only those behind this one, as next gives it"`
	Limit  int    `query:"limit" minimum:"0" maximum:"200" doc:"At most so many; 0 is as many as a page holds"`
}

type resourceList struct {
	Resources []resource.ResourceInfo `json:"resources"`
	Next      string                  `json:"next,omitempty" doc:"What to ask for as after to go on; left out at the end"`
}

type resourceTypeList struct {
	Types []resource.ResourceTypes `json:"types"`
}

type resourceFileList struct {
	Files []resource.ResourceFile `json:"files"`
}

func (p *Portal) apiResourceTypes(ctx context.Context, _ *struct{}) (*body[resourceTypeList], error) {
	all, err := p.resourcing().ResourceTypes(ctx, caller(ctx))
	return answered[resourceTypeList](ctx, p)(resourceTypeList{orEmpty(all)}, err)
}

func (p *Portal) apiResourceList(ctx context.Context, in *ResourceListInput) (*body[resourceList], error) {
	list, more, err := p.resourcing().Resources(ctx, caller(ctx), resource.ResourceFilter{Family: resource.ResourceFamily(in.Family), Member: in.Member, Type: in.Type, Search: in.Search,
		After: in.After, Limit: in.Limit})
	out := resourceList{Resources: orEmpty(list)}
	if more && len(list) > 0 {
		out.Next = list[len(list)-1].ResourceID.String()
	}
	return answered[resourceList](ctx, p)(out, err)
}

func (p *Portal) apiResourceShow(ctx context.Context, in *ResourcePath) (*body[resource.ResourceInfo], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return answered[resource.ResourceInfo](ctx, p)(p.resourcing().Resource(ctx, caller(ctx), id))
}

type resourcePushInput struct {
	ResourcePath
	File   string `query:"file" maxLength:"400" doc:"What the file is called, for people"`
	Note   string `query:"note" maxLength:"2000" doc:"What is new in this version"`
	Sha256 string `query:"sha256" maxLength:"64" doc:"The SHA-256 of the content in hex; another content is refused"`
	Stage  bool   `query:"stage" doc:"Stage the version at once"`
	stream io.Reader
}

// Resolve takes the body as it comes: huma would read all of it first.
func (in *resourcePushInput) Resolve(ctx huma.Context) []error {
	_, w := humachi.Unwrap(ctx)
	in.stream = steady{ctx.BodyReader(), http.NewResponseController(w)}
	return nil
}

func (p *Portal) apiResourcePush(ctx context.Context, in *resourcePushInput) (*body[resource.ResourceVersion], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	return answered[resource.ResourceVersion](ctx, p)(p.resourcing().PushResource(ctx, caller(ctx),
		resource.ResourcePush{ResourceID: id, Source: resource.ResourceSource{File: in.File}, Note: in.Note, Hash: in.Sha256, Stage: in.Stage}, in.stream))
}

type resourceImportInput struct {
	ResourcePath
	Body struct {
		Git    string `json:"git" maxLength:"1000" doc:"Where the repository is, such as https://git.example.com/team/site.git"`
		Ref    string `json:"ref" maxLength:"200" doc:"A tag, branch or commit"`
		Folder string `json:"folder,omitempty" maxLength:"500" doc:"Only this folder of it"`
		Secret string `json:"secret,omitempty" maxLength:"64" doc:"The name of a secret with user:token, or a token"`
		Note   string `json:"note,omitempty" maxLength:"2000" doc:"What is new in this version"`
		Stage  bool   `json:"stage,omitempty" doc:"Stage the version at once"`
	}
}

func (p *Portal) apiResourceImport(ctx context.Context, in *resourceImportInput) (*body[resource.ResourceVersion], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	b := in.Body
	return answered[resource.ResourceVersion](ctx, p)(p.resourcing().ImportResource(ctx, caller(ctx),
		resource.ResourcePush{ResourceID: id, Source: resource.ResourceSource{Git: b.Git, Ref: b.Ref, Folder: b.Folder, Secret: b.Secret}, Note: b.Note, Stage: b.Stage}))
}

func (p *Portal) apiResourceStage(ctx context.Context, in *ResourceVersionPath) (*body[resource.ResourceInfo], error) {
	return p.resourceMark(ctx, in, p.resourcing().StageResource)
}

func (p *Portal) apiResourceRecall(ctx context.Context, in *ResourceVersionPath) (*body[resource.ResourceInfo], error) {
	return p.resourceMark(ctx, in, p.resourcing().RecallResource)
}

func (p *Portal) resourceMark(ctx context.Context, in *ResourceVersionPath, mark func(context.Context, app.Actor, resource.ResourceID, int64) (resource.ResourceInfo, error)) (*body[resource.ResourceInfo], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return answered[resource.ResourceInfo](ctx, p)(mark(ctx, caller(ctx), id, in.Version))
}

func (p *Portal) apiResourceDelete(ctx context.Context, in *ResourceVersionPath) (*struct{}, error) {
	id, err := in.id()
	if err == nil {
		err = p.resourcing().DeleteResource(ctx, caller(ctx), id, in.Version)
	}
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return nil, nil
}

type resourceSyncInput struct {
	Body struct {
		Family string `json:"family,omitempty" enum:"automator,provider" doc:"Only those of such"`
		Member string `json:"member,omitempty" maxLength:"100" doc:"Only those of this automator or type of provider"`
		DryRun bool   `json:"dry_run,omitempty" doc:"Only tell what would change"`
	}
}

func (p *Portal) apiResourceSync(ctx context.Context, in *resourceSyncInput) (*body[resource.ResourceSync], error) {
	f := resource.ResourceFilter{Family: resource.ResourceFamily(in.Body.Family), Member: in.Body.Member}
	return answered[resource.ResourceSync](ctx, p)(p.resourcing().SyncResources(ctx, caller(ctx), f, in.Body.DryRun))
}

type resourceDiffInput struct {
	ResourcePath
	From int64 `query:"from" minimum:"0" doc:"A version's number; 0 is the one in use"`
	To   int64 `query:"to" minimum:"0" doc:"Another one's"`
}

func (p *Portal) apiResourceDiff(ctx context.Context, in *resourceDiffInput) (*body[resource.ResourceDiff], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	return answered[resource.ResourceDiff](ctx, p)(p.resourcing().DiffResource(ctx, caller(ctx), id, in.From, in.To))
}

func (p *Portal) apiResourceFiles(ctx context.Context, in *ResourceVersionPath) (*body[resourceFileList], error) {
	id, err := in.id()
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	files, err := p.resourcing().ResourceFiles(ctx, caller(ctx), id, in.Version)
	return answered[resourceFileList](ctx, p)(resourceFileList{orEmpty(files)}, err)
}

type resourceContentInput struct {
	ResourceVersionPath
	Range string `header:"Range" maxLength:"100" doc:"bytes=N- goes on from the byte N"`
}

func (p *Portal) apiResourceContent(ctx context.Context, in *resourceContentInput) (*huma.StreamResponse, error) {
	id, err := in.id()
	if err != nil {
		return nil, p.fail(ctx, err)
	}
	a := caller(ctx)
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		r, w := humachi.Unwrap(hc)
		if err := p.sendResource(ctx, w, a, id, in.Version, in.Range); err != nil {
			p.noteRefusal(ctx, a, "api", err)
			p.writeProblem(w, r, err)
		}
	}}, nil
}

// sendResource streams a content. An error is given where nothing was said yet.
func (p *Portal) sendResource(ctx context.Context, w http.ResponseWriter, a app.Actor, id resource.ResourceID, number int64, rng string) error {
	from := int64(0)
	if rng != "" {
		first, ok := strings.CutPrefix(rng, "bytes=")
		first, open := strings.CutSuffix(first, "-")
		n, err := strconv.ParseInt(first, 10, 64)
		if !ok || !open || err != nil || n < 0 {
			return &app.Error{Code: app.EInvalid, Field: "range", Message: "A content is given from one byte on to its end.", Hint: "Ask for bytes=N-."}
		}
		from = n
	}
	info, v, r, err := p.resourcing().OpenResource(ctx, a, id, number, from)
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
	if err := sendContent(w, r); err != nil { // it is too late to say so otherwise
		if ctx.Err() == nil && !errors.Is(err, errGone) {
			p.log.ErrorContext(ctx, "the content of a resource could not be sent to its end", "resource", id.String(), "version", v.Number, "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	return nil
}

var errGone = errors.New("nobody reads it any more")

// sendContent copies with a deadline for each piece, so that a reader that stands still is let go of. The end is said only when all of it
// was found to be right.
func sendContent(w http.ResponseWriter, r io.Reader) error {
	rc := http.NewResponseController(w)
	buf := make([]byte, 128<<10)
	for {
		n, err := io.ReadFull(r, buf)
		ended := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !ended {
			return err
		}
		if n > 0 {
			_ = rc.SetWriteDeadline(time.Now().Add(uploadPause))
			if _, err := w.Write(buf[:n]); err != nil {
				return errors.Join(errGone, err)
			}
		}
		if ended {
			return nil
		}
	}
}

// downloadName is what a browser calls the file. What people gave it as a name may hold anything, so only the ending is taken from it.
func downloadName(info resource.ResourceInfo, v resource.ResourceVersion) string {
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
