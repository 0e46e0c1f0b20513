package nodefile

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"muster/app"
	"muster/app/family"
	"muster/app/nodefile"
	"muster/portal/page"
	"muster/portal/site"
)

const (
	// mostFiles is how many files a form can have, and mostFields how many parts altogether.
	mostFiles  = 100
	mostFields = 2 * mostFiles
	// drainMax is how much of a form is read after its upload has failed, so that browsers come to see why.
	drainMax = 64 << 20
	// naming is the header that names files.
	naming = "Content-Disposition"
)

// download sends a file, which browsers save and never show. It begins only once the node has opened it, and is cut off where it can't be read to its end.
func (p *Service) download(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	if r.Method == http.MethodHead {
		return site.ErrNoSuchVerb
	}
	begun := false
	err := p.NodeFiles.DownloadNodeFile(r.Context(), a, at(r), func(f family.File) (io.Writer, error) {
		begun = true
		h := w.Header()
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", disposition(f.Name))
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
		h.Set("X-Content-Type-Options", "nosniff")
		if f.Size > 0 {
			h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
		}
		return steadyWriter{w, http.NewResponseController(w)}, nil
	})
	if err != nil && begun {
		p.LogError(r, err, site.StatusOf(err))
		panic(http.ErrAbortHandler)
	}
	if err != nil && shownHere(err) {
		return p.refused(w, r, a, err)
	}
	return err
}

// steadyWriter is a response that may be slow, but must not stall.
type steadyWriter struct {
	w  io.Writer
	rc *http.ResponseController
}

// Write implements io.Writer.
func (s steadyWriter) Write(b []byte) (int, error) {
	_ = s.rc.SetWriteDeadline(time.Now().Add(site.UploadPause))
	return s.w.Write(b)
}

// refused shows the folder of a file that can't be downloaded, with the reason.
func (p *Service) refused(w http.ResponseWriter, r *http.Request, a app.Actor, err error) error {
	e, _ := site.Known(err)
	u := *r.URL
	u.RawQuery = url.Values{"path": {nodefile.Parent(at(r).Path)}}.Encode()
	r = r.Clone(r.Context())
	r.URL = &u
	status := site.StatusOf(err)
	p.LogError(r, err, status)
	return p.show(w, r, a, status, List{Upload: page.Complaint{Message: e.Message, Hint: e.Hint}})
}

// disposition lets browsers save a file by a name that is safe in a header and on a disk. The name is the node's, and may be any bytes.
func disposition(name string) string {
	ascii := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\/:*?<>|%;`, r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	if strings.Trim(ascii, ". ") == "" {
		ascii = "download"
	}
	all := `attachment; filename="` + ascii + `"`
	if ascii == name || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || !strconv.IsPrint(r) }) {
		return all
	}
	return all + "; filename*=UTF-8''" + strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

// upload streams the files of a form to a folder, one after the other.
func (p *Service) upload(w http.ResponseWriter, r *http.Request, a app.Actor) error {
	answered := site.LongBody(w, r)
	body := r.Body
	l := List{Replace: r.URL.Query().Has("replace")}
	to, n, err := p.uploadAll(r, a, &l)
	if r.Context().Err() != nil { // the browser has left, or its sign-in has ended
		panic(http.ErrAbortHandler)
	}
	if err != nil {
		_, _ = io.CopyN(io.Discard, body, drainMax)
	}
	answered()
	part := r.Header.Get("Muster-Part") != ""
	switch {
	case err == nil && part:
		w.WriteHeader(http.StatusNoContent)
	case err == nil:
		q := url.Values{"path": {to}, "uploaded": {strconv.Itoa(n)}}
		http.Redirect(w, r, r.URL.EscapedPath()+"?"+q.Encode(), http.StatusSeeOther)
	case part:
		e, _ := site.Known(err)
		status := site.StatusOf(err)
		p.LogError(r, err, status)
		http.Error(w, strings.TrimSpace(e.Message+" "+e.Hint), status)
	case shownHere(err):
		e, _ := site.Known(err)
		status := site.StatusOf(err)
		p.LogError(r, err, status)
		l.Uploaded, l.Upload = n, page.Complaint{Message: e.Message, Hint: e.Hint}
		return p.show(w, r, a, status, l)
	default:
		return err
	}
	return nil
}

// uploadAll returns the folder, and how many files were uploaded.
func (p *Service) uploadAll(r *http.Request, a app.Actor, l *List) (folder string, n int, err error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return "", 0, site.Malformed(err)
	}
	to := at(r)
	for fields := 0; ; fields++ {
		part, err := parts.NextPart()
		if err == io.EOF && n > 0 { //nolint:errorlint // a truncated body ends with a wrapped io.EOF
			return folder, n, nil
		}
		if err == io.EOF { //nolint:errorlint // as above
			return "", n, &app.Error{Code: app.EInvalid, Field: "file", Message: "Choose a file."}
		}
		if err != nil {
			return "", n, site.Malformed(err)
		}
		if fields >= mostFields || n >= mostFiles {
			return "", n, &app.Error{Code: app.ETooLarge, Message: "A form can have at most " + strconv.Itoa(mostFiles) + " files.",
				Hint: "Upload the others separately."}
		}
		switch part.FormName() {
		case "replace":
			l.Replace = true
		case "file":
			name := fileName(part)
			if name == "" { // none was chosen
				continue
			}
			at, err := p.NodeFiles.UploadNodeFile(r.Context(), a, nodefile.Upload{Folder: to, Name: name, Replace: l.Replace}, part)
			if err != nil {
				return "", n, whole(err)
			}
			folder = path.Dir(at)
			n++
		}
	}
}

// whole is the error of a form that was cut off.
func whole(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, multipart.ErrMessageTooLarge) {
		return site.Malformed(err)
	}
	return err
}

// fileName is the name of a part's file as it was sent: the library's leaves out folders, and so hides names that are refused.
func fileName(part *multipart.Part) string {
	_, params, err := mime.ParseMediaType(part.Header.Get(naming))
	if err != nil {
		return part.FileName()
	}
	return params["filename"]
}
