package check

import (
	"os"
	"slices"
	"strings"
	"testing"

	autoscaling "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/yaml"
)

// scaledObject is what KEDA's own definition (keda.sh/v1alpha1) has of what the chart uses.
type scaledObject struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		ScaleTargetRef struct {
			Name string `json:"name"`
		} `json:"scaleTargetRef"`
		MinReplicaCount int32 `json:"minReplicaCount"`
		MaxReplicaCount int32 `json:"maxReplicaCount"`
		Advanced        struct {
			HorizontalPodAutoscalerConfig struct {
				Behavior autoscaling.HorizontalPodAutoscalerBehavior `json:"behavior"`
			} `json:"horizontalPodAutoscalerConfig"`
		} `json:"advanced"`
		Triggers []struct {
			Type       string                       `json:"type"`
			MetricType autoscaling.MetricTargetType `json:"metricType"`
			Metadata   struct {
				ServerAddress string `json:"serverAddress"`
				Query         string `json:"query"`
				Threshold     string `json:"threshold"`
			} `json:"metadata"`
		} `json:"triggers"`
	} `json:"spec"`
}

// adapterValues is what the chart of prometheus-adapter has of what our values use.
type adapterValues struct {
	Rules struct {
		Default  bool `json:"default"`
		External []struct {
			SeriesQuery string `json:"seriesQuery"`
			Resources   struct {
				Overrides map[string]struct {
					Resource string `json:"resource"`
				} `json:"overrides"`
			} `json:"resources"`
			MetricsQuery string `json:"metricsQuery"`
		} `json:"external"`
	} `json:"rules"`
}

// TestScaling sees to it that provisioners are added by the same figures however they're deployed to Kubernetes.
func TestScaling(t *testing.T) {
	const on = "provisioner: {slots: 16, autoscaling: {enabled: true, maxReplicas: 20, targetSeconds: 45, keda: {enabled: %}}}"
	var hpa autoscaling.HorizontalPodAutoscaler
	find(t, strings.Replace(on, "%", "false", 1), "HorizontalPodAutoscaler", &hpa)
	var asked []string
	for _, m := range hpa.Spec.Metrics {
		asked = append(asked, m.External.Metric.Name)
	}
	if !slices.Equal(asked, []string{"muster_queue_oldest_seconds", "muster_queue_steps"}) {
		t.Fatalf("it asks for %q", asked)
	}
	wait, busy := hpa.Spec.Metrics[0].External.Target, hpa.Spec.Metrics[1].External
	if wait.Value == nil || wait.Value.Value() != 45 || busy.Target.AverageValue == nil || busy.Target.AverageValue.Value() != 16 || busy.Metric.Selector.MatchLabels["state"] != "running" {
		t.Errorf("the targets are %+v and %+v", wait, busy)
	}

	var values adapterValues
	b, err := os.ReadFile("../prometheus/adapter.yml")
	if err == nil {
		err = yaml.UnmarshalStrict(b, &values)
	}
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, r := range values.Rules.External {
		shown = append(shown, strings.TrimSuffix(r.SeriesQuery, `{namespace!=""}`))
		if r.Resources.Overrides["namespace"].Resource != "namespace" || r.MetricsQuery != "max(<<.Series>>{<<.LabelMatchers>>})" {
			t.Errorf("the adapter asks %+v", r)
		}
	}
	if !slices.Equal(shown, asked) {
		t.Errorf("the adapter shows %q, and %q are asked for", shown, asked)
	}

	var keda scaledObject
	find(t, strings.Replace(on, "%", "true", 1), "ScaledObject", &keda)
	s := keda.Spec
	if s.ScaleTargetRef.Name != hpa.Spec.ScaleTargetRef.Name || s.MinReplicaCount != *hpa.Spec.MinReplicas || s.MaxReplicaCount != hpa.Spec.MaxReplicas || len(s.Triggers) != 2 {
		t.Fatalf("KEDA would scale %+v", s)
	}
	for i, want := range []string{`max(muster_queue_oldest_seconds{namespace="muster"}) Value 45`, `max(muster_queue_steps{namespace="muster",state="running"}) AverageValue 16`} {
		tr := s.Triggers[i]
		if got := tr.Metadata.Query + " " + string(tr.MetricType) + " " + tr.Metadata.Threshold; got != want || tr.Type != "prometheus" || tr.Metadata.ServerAddress == "" {
			t.Errorf("KEDA asks %s %+v, want %s", got, tr, want)
		}
	}
}

// find reads strictly the one document of a kind that the chart renders.
func find(t *testing.T, values, kind string, into any) {
	t.Helper()
	found := 0
	for _, doc := range render(t, "../helm/muster", values) {
		var head struct{ Kind string }
		if err := yaml.Unmarshal(doc, &head); err != nil {
			t.Fatal(err)
		}
		if head.Kind != kind {
			if strings.HasPrefix(head.Kind, "Scaled") || strings.HasSuffix(head.Kind, "Autoscaler") {
				t.Errorf("there is a %s too", head.Kind)
			}
			continue
		}
		found++
		if err := yaml.UnmarshalStrict(doc, into); err != nil {
			t.Errorf("%v in\n%s", err, doc)
		}
	}
	if found != 1 {
		t.Fatalf("%d of %s", found, kind)
	}
}
