package execution

import (
	"context"
	"testing"
	"time"

	"muster/app"
	"muster/app/template"
)

func TestOnlySpotMachinesAskForNotices(t *testing.T) {
	spot := template.Flavor{Extra: map[string]string{"spot": "true"}}
	never := template.Flavor{Extra: map[string]string{"spot": "false"}}
	usual := map[string]any{"spot": true}
	for name, tc := range map[string]struct {
		spec template.ProviderSpec
		of   template.Flavor
		want NoticeSource
	}{
		"hardware":                {template.ProviderSpec{Type: "google"}, spot, NoticeGoogle},
		"provider":                {template.ProviderSpec{Type: "aws", Settings: usual}, template.Flavor{}, NoticeAWS},
		"hardware over provider":  {template.ProviderSpec{Type: "aws", Settings: usual}, never, ""},
		"on demand":               {template.ProviderSpec{Type: "google"}, template.Flavor{}, ""},
		"cloud without a service": {template.ProviderSpec{Type: "openstack"}, spot, ""},
	} {
		if got := noticeSource(&tc.spec, tc.of); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// marks keeps what is noted.
type marks struct {
	CheckBatchStore
	noted []app.Interruption
}

func (m *marks) MarkInterrupted(_ context.Context, _, _ string, all []app.Interruption, _ time.Time) ([]string, error) {
	m.noted = append(m.noted, all...)
	return nil, nil
}

// TestNoticesHaveBounds: nodes are the tenant's, and may say anything.
func TestNoticesHaveBounds(t *testing.T) {
	now := time.Unix(1e9, 0)
	m := &marks{}
	a := New(Config{Rounds: m})
	o := CheckBatchOutcome{Now: now}
	o.Interrupted = []app.Interruption{{Node: "n1", At: now.Add(30 * time.Second)}, {Node: "n2"}, {Node: "n3", At: now.Add(2 * time.Hour)},
		{Node: "n4", At: now.Add(-2 * time.Hour)}}
	if err := a.noteNotices(t.Context(), o); err != nil || len(m.noted) != 1 || m.noted[0].Node != "n1" {
		t.Errorf("noted %+v: %v", m.noted, err)
	}
}
