package check

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	yamldocs "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// TestCompose reads compose.yaml as Docker Compose does.
func TestCompose(t *testing.T) {
	dir, err := filepath.Abs("../compose")
	if err != nil {
		t.Fatal(err)
	}
	o, err := cli.NewProjectOptions([]string{filepath.Join(dir, "compose.yaml")}, cli.WithWorkingDirectory(dir), cli.WithProfiles([]string{"provisioner"}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Services) != 4 {
		t.Errorf("%d services", len(p.Services))
	}
	for name, s := range p.Services {
		if !s.ReadOnly || len(s.CapDrop) != 1 || s.User == "" || s.User == "root" || s.HealthCheck == nil {
			t.Errorf("%s is not closed as it should be", name)
		}
		for _, secret := range s.Secrets {
			if _, ok := p.Secrets[secret.Source]; !ok {
				t.Errorf("%s asks for a secret %s", name, secret.Source)
			}
		}
	}
}

// values are ways to set the chart up.
var values = map[string]string{
	"as it is": `{}`,
	"all of it": `
ingress: {enabled: true}
metrics: {serviceMonitor: {enabled: true, labels: {release: prometheus}}}
networkPolicy: {ingressNamespaceLabels: {kubernetes.io/metadata.name: ingress-nginx}}
provisioner: {tags: {region: eu}, autoscaling: {enabled: true}, nodeSelector: {kubernetes.io/os: linux}}
envFromSecrets: [cloud]
blobURL: s3://muster?region=eu-central-1
imagePullSecrets: [{name: registry}]
server: {extraArgs: [--tenant-slots=50], podAnnotations: {a: b}, tolerations: [{operator: Exists}]}`,
	"as little as can be": `
provisioner: {enabled: false}
podDisruptionBudget: {enabled: false}
networkPolicy: {enabled: false}
metrics: {enabled: false}
server: {replicas: 1, workers: 16}`,
}

// TestChart lints the chart, and reads strictly what it renders: a field that Kubernetes does not know is an error.
func TestChart(t *testing.T) {
	const dir = "../helm/muster"
	for _, m := range lint.All(dir, map[string]any{}, "muster", true).Messages {
		if m.Severity > support.InfoSev {
			t.Errorf("%v", m)
		}
	}
	for name, text := range values {
		t.Run(name, func(t *testing.T) {
			kinds := map[string]int{}
			for _, doc := range render(t, dir, text) {
				var head struct{ Kind string }
				if err := yaml.Unmarshal(doc, &head); err != nil {
					t.Fatalf("%v in\n%s", err, doc)
				}
				kinds[head.Kind]++
				into := map[string]any{"Deployment": &apps.Deployment{}, "Service": &core.Service{}, "PodDisruptionBudget": &policy.PodDisruptionBudget{}, "Ingress": &networking.Ingress{},
					"NetworkPolicy": &networking.NetworkPolicy{}, "HorizontalPodAutoscaler": &autoscaling.HorizontalPodAutoscaler{}, "ServiceMonitor": &map[string]any{}}[head.Kind]
				if into == nil {
					t.Errorf("a %s", head.Kind)
					continue
				}
				if err := yaml.UnmarshalStrict(doc, into); err != nil {
					t.Errorf("%v in\n%s", err, doc)
				}
				if d, ok := into.(*apps.Deployment); ok {
					restricted(t, d)
				}
			}
			want := map[string]string{"as it is": "Deployment:2 NetworkPolicy:1 PodDisruptionBudget:1 Service:1", "as little as can be": "Deployment:1 Service:1",
				"all of it": "Deployment:2 HorizontalPodAutoscaler:1 Ingress:1 NetworkPolicy:1 PodDisruptionBudget:1 Service:1 ServiceMonitor:1"}[name]
			if got := strings.Trim(fmt.Sprint(kinds), "map[]"); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// restricted checks what the restricted standard for pods asks for.
func restricted(t *testing.T, d *apps.Deployment) {
	t.Helper()
	pod := d.Spec.Template.Spec
	if s := pod.SecurityContext; s == nil || s.RunAsNonRoot == nil || !*s.RunAsNonRoot || s.SeccompProfile == nil {
		t.Errorf("%s: the pod may be root", d.Name)
	}
	for _, c := range pod.Containers {
		s := c.SecurityContext
		if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || len(s.Capabilities.Drop) != 1 {
			t.Errorf("%s: the container is not closed", d.Name)
		}
	}
}

func render(t *testing.T, dir, text string) (docs [][]byte) {
	t.Helper()
	c, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	v, err := chartutil.ReadValues([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	all, err := chartutil.ToRenderValues(c, v, chartutil.ReleaseOptions{Name: "muster", Namespace: "muster"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(c, all)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		r := yamldocs.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
		for {
			doc, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(bytes.TrimSpace(doc)) > 0 {
				docs = append(docs, doc)
			}
		}
	}
	return docs
}

// TestWrongValuesAreRefused shows that the schema is looked at.
func TestWrongValuesAreRefused(t *testing.T) {
	c, err := loader.Load("../helm/muster")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"server: {replica: 2}", "publicURL: muster.example.org", "blobURL: http://x", "database: {existingSecret: ''}"} {
		v, err := chartutil.ReadValues([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chartutil.ToRenderValues(c, v, chartutil.ReleaseOptions{Name: "m"}, nil); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// TestFlags sees to it that every flag that the files of deploy give to muster is one.
func TestFlags(t *testing.T) {
	binary := os.Getenv("MUSTER")
	if binary == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("MUSTER names no binary; `make check-deploy` does")
		}
		t.Skip("MUSTER names no binary; `make check-deploy` does")
	}
	said := regexp.MustCompile(`--[a-z][a-z-]+`)
	for _, where := range []struct{ file, command string }{
		{"../helm/muster/templates/server.yaml", "serve"}, {"../helm/muster/templates/provisioner.yaml", "provisioner"},
		{"../systemd/muster-server.service", "serve"}, {"../systemd/muster-provisioner.service", "provisioner"}, {"../Dockerfile", "serve"},
	} {
		b, err := os.ReadFile(where.file)
		if err != nil {
			t.Fatal(err)
		}
		help, err := exec.Command(binary, where.command, "--help").Output()
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") || strings.Contains(line, "docker ") || strings.HasPrefix(line, "COPY") || strings.HasPrefix(line, "FROM") || strings.HasPrefix(line, "HEALTHCHECK") {
				continue
			}
			for _, flag := range said.FindAllString(line, -1) {
				found++
				if !bytes.Contains(help, []byte(flag+" ")) && !bytes.Contains(help, []byte(flag+"\n")) {
					t.Errorf("%s: muster %s has no %s", where.file, where.command, flag)
				}
			}
		}
		if found == 0 {
			t.Errorf("%s: no flags were found", where.file)
		}
	}
}
