package portal

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"muster/app"
	"muster/app/image"
)

// fakeImages is a Muster with baked images.
type fakeImages struct {
	view    image.View
	left    []string
	baked   string
	deleted int64
}

func (k *fakeImages) Images(context.Context, app.Actor) (image.View, error) { return k.view, nil }

func (k *fakeImages) BakeImages(_ context.Context, _ app.Actor, template string, _ int) (image.Built, error) {
	if template == "none" {
		return image.Built{}, &app.Error{Code: app.EInvalid, Message: "Nothing of template none can be baked."}
	}
	k.baked = template
	return image.Built{Images: k.view.Images, Left: k.left}, nil
}

func (k *fakeImages) DeleteImage(_ context.Context, _ app.Actor, id int64) error {
	k.deleted = id
	return nil
}

func (k *fakeImages) SetBakeRule(_ context.Context, _ app.Actor, r image.Rule) (image.Rule, error) {
	if err := r.Check(); err != nil {
		return r, err
	}
	r.SetBy = "root"
	k.view.Rules = []image.Rule{r}
	return r, nil
}

func (k *fakeImages) DeleteBakeRule(context.Context, app.Actor, string) error {
	k.view.Rules = nil
	return nil
}

func TestBakedImagesAreShownBuiltAndDeleted(t *testing.T) {
	k := &fakeImages{left: []string{"The install of app isn't baked: it reads the secret token."}}
	s := visit(t, func(c *Config) {
		k.view.Images = []image.Image{
			{ID: 8, Template: "<b>lake", Provider: "cloud", Base: "host", Services: []string{"web"}, State: image.StateFailed, Error: "No room.", CreatedAt: c.Now()},
			{ID: 7, Template: "hadoop", Provider: "cloud", Base: "host", Services: []string{"hdfs", "yarn"}, State: image.StateReady, Uses: 4,
				InstallTime: 130 * time.Second, CreatedAt: c.Now().Add(-time.Hour), UsedAt: c.Now()}}
		c.UseCases = useCases(fakeOf(c), k)
	})
	s.signIn("root")
	s.get("/admin").reads(http.StatusOK, "Baked images")
	s.get("/admin/images").reads(http.StatusOK, "<b>lake", "No room.", "hdfs, yarn on host, cloud",
		"2 min 10 s", "4 times", "Off for all templates.", "Build images")
	s.post("/admin/images", url.Values{"template": {"hadoop"}}).reads(http.StatusOK, "it reads the secret token")
	if k.baked != "hadoop" {
		t.Errorf("built %q", k.baked)
	}
	s.post("/admin/images", url.Values{"template": {"none"}}).reads(http.StatusUnprocessableEntity, "Nothing of template none can be baked.")
	rule := url.Values{"template": {"hadoop"}, "after_creates": {"5"}, "within": {"14d"}, "keep_unused": {"60d"}}
	if r := s.post("/admin/images/rules", rule); r.status != http.StatusSeeOther || len(k.view.Rules) != 1 || k.view.Rules[0].AfterCreates != 5 {
		t.Errorf("the rule answers %d: %+v", r.status, k.view.Rules)
	}
	s.get("/admin/images").reads(http.StatusOK, "after 5 clusters within 14 d, kept for 60 d unused, set by root")
	rule.Set("within", "1m")
	s.post("/admin/images/rules", rule).reads(http.StatusUnprocessableEntity, "Clusters can be counted within 1 h to 90 d, not 1 min.")
	rule.Set("after_creates", "some")
	s.post("/admin/images/rules", rule).reads(http.StatusUnprocessableEntity, "Clusters must be a whole number.")
	if r := s.post("/admin/images/rules", url.Values{"template": {"hadoop"}, "act": {"remove"}}); r.status != http.StatusSeeOther || len(k.view.Rules) != 0 {
		t.Errorf("turning it off answers %d: %+v", r.status, k.view.Rules)
	}
	if r := s.post("/admin/images/delete", url.Values{"image": {"7"}}); r.status != http.StatusSeeOther || k.deleted != 7 {
		t.Errorf("deleting answers %d, and deletes %d", r.status, k.deleted)
	}
	if r := s.post("/admin/images/delete", url.Values{"image": {"x"}}); r.status != http.StatusNotFound {
		t.Errorf("deleting nothing answers %d", r.status)
	}
}
