package blob

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"muster/app/cloudurl"
	"muster/app/googleauth"
	"muster/app/retry"
)

// googleStorage is a bucket of Google Cloud Storage, by its JSON API.
type googleStorage struct {
	client *http.Client
	base   string // such as https://storage.googleapis.com
	bucket string
}

func openGS(ctx context.Context, u *url.URL) (backend, error) {
	p := cloudurl.Of(u)
	anonymous, domain := p.Flag("anonymous"), p.Text("universe_domain")
	if err := cmp.Or(p.Err(), hostOnly(u, "bucket")); err != nil {
		return nil, err
	}
	transport := retry.Again(retry.Transport(), 4, 500*time.Millisecond)
	g := &googleStorage{bucket: u.Host}
	if emulator := os.Getenv("STORAGE_EMULATOR_HOST"); emulator != "" {
		if !strings.Contains(emulator, "://") {
			emulator = "http://" + emulator
		}
		g.base = strings.TrimSuffix(emulator, "/")
	} else if anonymous {
		if domain == "" {
			domain = "googleapis.com"
		}
		g.base = "https://storage." + domain
	} else {
		over, domain, err := googleauth.Default(ctx, transport, domain)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errRefused, err)
		}
		transport, g.base = over, "https://storage."+domain
	}
	g.client = googleauth.Client(transport)
	return g, nil
}

// object is the address of an object, or of all of them for the name "".
func (g *googleStorage) object(name string, query url.Values) string {
	where := g.base + "/storage/v1/b/" + url.PathEscape(g.bucket) + "/o"
	if name != "" {
		where += "/" + url.PathEscape(name)
	}
	return where + "?" + query.Encode()
}

// do sends a request and returns its answer if its status is the one that is wanted.
func (g *googleStorage) do(r *http.Request, want int) (*http.Response, error) {
	r.Header.Set("User-Agent", "muster")
	answer, err := g.client.Do(r)
	if err != nil {
		if googleauth.Refused(err) {
			err = fmt.Errorf("%w: %w", errRefused, err)
		}
		return nil, err
	}
	if answer.StatusCode == want {
		return answer, nil
	}
	said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	_ = answer.Body.Close()
	return nil, ofStatus(answer.StatusCode, fmt.Errorf("status %s: %s", answer.Status, said))
}

// ask sends a request without a body, and reads an answer in JSON into v.
func (g *googleStorage) ask(ctx context.Context, where string, v any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return err
	}
	answer, err := g.do(r, http.StatusOK)
	if err != nil {
		return err
	}
	return decode(answer, v)
}

func decode(answer *http.Response, v any) error {
	defer answer.Body.Close()
	if err := json.NewDecoder(io.LimitReader(answer.Body, 16<<20)).Decode(v); err != nil {
		return fmt.Errorf("can't read the answer: %w", err)
	}
	return nil
}

func (g *googleStorage) open(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.object(name, url.Values{"alt": {"media"}}), nil)
	if err != nil {
		return nil, err
	}
	want := http.StatusOK
	if from > 0 {
		r.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
		want = http.StatusPartialContent
	}
	answer, err := g.do(r, want)
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

// stored is what is known of an object. JSON of Google has numbers of 64 bits as text.
type stored struct {
	Name    string    `json:"name"`
	Size    string    `json:"size"`
	Updated time.Time `json:"updated"`
}

func (g *googleStorage) size(ctx context.Context, name string) (int64, error) {
	var o stored
	err := g.ask(ctx, g.object(name, url.Values{"fields": {"size"}}), &o)
	if errors.Is(err, errAbsent) {
		return -1, nil
	}
	if err != nil {
		return -1, err
	}
	n, err := strconv.ParseInt(o.Size, 10, 64)
	if err != nil || n < 0 {
		return -1, fmt.Errorf("the answer has the size %q", o.Size)
	}
	return n, nil
}

// write sends the content in one request that says how long it is. An object becomes visible when all of that has arrived.
func (g *googleStorage) write(ctx context.Context, name string, content *io.SectionReader) error {
	where := g.base + "/upload/storage/v1/b/" + url.PathEscape(g.bucket) + "/o?" + url.Values{"uploadType": {"media"}, "name": {name}, "fields": {"size"}}.Encode()
	body := func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(content, 0, content.Size())), nil
	}
	first, _ := body()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, where, first)
	if err != nil {
		return err
	}
	r.ContentLength, r.GetBody = content.Size(), body
	if content.Size() == 0 {
		r.Body, r.GetBody = http.NoBody, nil
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	answer, err := g.do(r, http.StatusOK)
	if err != nil {
		return err
	}
	var o stored
	if err := decode(answer, &o); err != nil {
		return err
	}
	if o.Size != strconv.FormatInt(content.Size(), 10) {
		return fmt.Errorf("stored %[2]q of %[1]d bytes", content.Size(), o.Size)
	}
	return nil
}

func (g *googleStorage) remove(ctx context.Context, name string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, g.object(name, nil), nil)
	if err != nil {
		return err
	}
	answer, err := g.do(r, http.StatusNoContent)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

func (g *googleStorage) list(ctx context.Context, prefix string, each func(name string, at time.Time) error) error {
	query := url.Values{"prefix": {prefix}, "fields": {"nextPageToken,items(name,updated)"}}
	for {
		var page struct {
			Items         []stored `json:"items"`
			NextPageToken string   `json:"nextPageToken"`
		}
		if err := g.ask(ctx, g.object("", query), &page); err != nil {
			return err
		}
		for _, o := range page.Items {
			if err := each(o.Name, o.Updated); err != nil {
				return err
			}
		}
		if page.NextPageToken == "" {
			return nil
		}
		query.Set("pageToken", page.NextPageToken)
	}
}

func (g *googleStorage) close() error {
	g.client.CloseIdleConnections()
	return nil
}
