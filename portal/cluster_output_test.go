package portal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"muster/app"
	"muster/app/output"
	"muster/app/template"
	"muster/portal/site"
)

// fakeOutputs is a Muster whose clusters have outputs.
type fakeOutputs struct {
	site.Outputs
	may      bool
	revealed []string
}

func (k *fakeOutputs) list(id string, secrets bool, names ...string) output.List {
	l := output.List{Cluster: id, Name: "lake", MayReveal: k.may, Outputs: []output.Output{}}
	for _, o := range []output.Output{
		{Name: "site", Type: template.OutputURL, Value: "http://10.0.0.1:8080/", Description: "The <b>shop</b>", Variable: "LAKE_SITE"},
		{Name: "evil", Type: template.OutputURL, Value: "javascript:alert(1)", Variable: "LAKE_EVIL"},
		{Name: "db_url", Type: template.OutputSecret, Secret: true, Value: "postgresql://app:hunter2@db/", Variable: "LAKE_DB_URL"},
		{Name: "kubeconfig", Type: template.OutputFile, Secret: true, Value: "kind: Config\n", File: "kube.yaml", Mode: "0600"},
		{Name: "hosts", Type: template.OutputFile, Value: "10.0.0.1 lake\n", File: "hosts.txt", Mode: "0644"},
		{Name: "later", Type: template.OutputText, Missing: "Service db hasn't reported later yet."},
	} {
		if o.Secret && !secrets {
			o.Value = ""
		}
		if len(names) == 0 || names[0] == o.Name {
			l.Outputs = append(l.Outputs, o)
		}
	}
	return l
}

func (k *fakeOutputs) ClusterOutputs(_ context.Context, _ app.Actor, id string) (output.List, error) {
	return k.list(id, false), nil
}

func (k *fakeOutputs) RevealOutputs(_ context.Context, _ app.Actor, id string, names []string) (output.List, error) {
	if !k.may {
		return output.List{}, app.Errorf(app.EForbidden, "You can't use this cluster.")
	}
	k.revealed = append(k.revealed, names...)
	l := k.list(id, true, names...)
	if len(l.Outputs) == 0 {
		return l, app.Errorf(app.ENotFound, "Cluster %q has no such output.", id)
	}
	return l, nil
}

func TestOutputsAreShownAndRevealed(t *testing.T) {
	k := &fakeOutputs{may: true}
	s := visit(t, func(c *Config) {
		f := fakeOf(c)
		c.UseCases = useCases(f, k, newFakeQuotas(f))
	})
	s.signIn("ada")
	id := s.cluster(ada, "lake", "hadoop", 3)
	s.rest(id)
	path := "/clusters/" + id
	for _, at := range []string{path, path + "/outputs"} {
		a := s.get(at)
		a.reads(http.StatusOK, "Outputs", "site", "The <b>shop</b>", "http://10.0.0.1:8080/", "db_url", "Show", "Download kube.yaml",
			"Service db hasn't reported later yet.")
		a.lacks("hunter2")
		if strings.Contains(a.body, `href="javascript`) || !strings.Contains(a.body, `href="http://10.0.0.1:8080/"`) {
			t.Errorf("%s links to what browsers must not follow, or not to what they may", at)
		}
	}
	shown := s.post(path+"/outputs", url.Values{"name": {"db_url"}})
	shown.reads(http.StatusOK, "postgresql://app:hunter2@db/", "Hide")
	if shown.header.Get("Cache-Control") != "no-store" {
		t.Errorf("a secret is kept: %q", shown.header.Get("Cache-Control"))
	}
	file := s.post(path+"/outputs/download", url.Values{"name": {"kubeconfig"}})
	if file.status != http.StatusOK || file.body != "kind: Config\n" ||
		file.header.Get("Content-Disposition") != `attachment; filename=kube.yaml` {
		t.Errorf("the file: %d %q %q", file.status, file.body, file.header)
	}
	s.post(path+"/outputs/download", url.Values{"name": {"later"}}).reads(http.StatusConflict, "has no value yet")
	s.post(path+"/outputs", url.Values{"name": {"nosuch"}}).reads(http.StatusNotFound, "no such output")
	if got := strings.Join(k.revealed, " "); got != "db_url kubeconfig nosuch" {
		t.Errorf("revealed %s", got)
	}

	// By REST too, a repeated request is one more, and answers with secrets aren't kept.
	k.revealed = nil
	for range 2 {
		a := s.call("POST", path+"/outputs/reveal", `{"names":["db_url"]}`, site.OnceHeader, "k1")
		if l := as[output.List](a, http.StatusOK); len(l.Outputs) != 1 || l.Outputs[0].Value != "postgresql://app:hunter2@db/" {
			t.Errorf("%+v", l)
		}
	}
	if len(k.revealed) != 2 {
		t.Errorf("revealed %q", k.revealed)
	}
	s.call("GET", path+"/outputs", "").lacks("hunter2")

	// Someone who only sees the cluster has neither buttons nor values.
	k.may = false
	a := s.get(path + "/outputs")
	a.reads(http.StatusOK, "http://10.0.0.1:8080/", "Only people who can use the cluster can see it", "can download it")
	a.lacks("Show", "Download kube.yaml", "hunter2")
	s.post(path+"/outputs", url.Values{"name": {"db_url"}}).reads(http.StatusForbidden, "You can't use this cluster")

	// A file without secrets is downloaded by all who read it on the page, and no other.
	a.reads(http.StatusOK, "Download hosts.txt")
	if file := s.post(path+"/outputs/download", url.Values{"name": {"hosts"}}); file.status != http.StatusOK || file.body != "10.0.0.1 lake\n" {
		t.Errorf("the file is %d: %q", file.status, file.body)
	}
	s.post(path+"/outputs/download", url.Values{"name": {"kubeconfig"}}).reads(http.StatusForbidden, "You can't use this cluster")
	s.post(path+"/outputs/download", url.Values{"name": {"nothing"}}).reads(http.StatusForbidden, "You can't use this cluster")
}
