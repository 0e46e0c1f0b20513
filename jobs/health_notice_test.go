package jobs

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/jobs/remote"
	"muster/jobs/remote/remotetest"
)

// TestMachinesAskWhetherTheyAreTakenAway: the round of checks asks the metadata service, on the node.
func TestMachinesAskWhetherTheyAreTakenAway(t *testing.T) {
	node := remotetest.Start(t, remotetest.Options{})
	sh, err := remote.Dial(t.Context(), node.Target())
	if err != nil {
		t.Fatal(err)
	}
	defer sh.Close()
	answers := map[string]string{} // by method and path
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said, ok := answers[r.Method+" "+r.URL.Path]
		proof := r.Header.Get("Metadata-Flavor") == "Google" || r.Header.Get("X-aws-ec2-metadata-token") == "key" ||
			r.Method == http.MethodPut && r.Header.Get("X-aws-ec2-metadata-token-ttl-seconds") != ""
		if !ok || !proof {
			http.Error(w, "TRUE", http.StatusNotFound)
			return
		}
		_, _ = w.Write([]byte(said))
	}))
	defer service.Close()
	const google, token, action = "GET /computeMetadata/v1/instance/preempted", "PUT /latest/api/token", "GET /latest/meta-data/spot/instance-action"
	at := time.Now().Add(2 * time.Minute).UTC().Truncate(time.Second)
	takes := `{"action": "terminate", "time": "` + at.Format(time.RFC3339) + `"}`
	for name, tc := range map[string]struct {
		source  execution.NoticeSource
		answers map[string]string
		leaves  bool
	}{
		"google takes it":       {execution.NoticeGoogle, map[string]string{google: "TRUE"}, true},
		"google leaves it":      {execution.NoticeGoogle, map[string]string{google: "FALSE"}, false},
		"no metadata of google": {execution.NoticeGoogle, nil, false},
		"aws takes it":          {execution.NoticeAWS, map[string]string{token: "key", action: takes}, true},
		"aws leaves it":         {execution.NoticeAWS, map[string]string{token: "key"}, false},
		"another key":           {execution.NoticeAWS, map[string]string{token: "k", action: takes}, false},
		"not an action":         {execution.NoticeAWS, map[string]string{token: "key", action: `{"action": "stay"}`}, false},
		"no JSON":               {execution.NoticeAWS, map[string]string{token: "key", action: strings.Repeat("x", 1000)}, false},
	} {
		answers = tc.answers
		p := &noticeProbe{source: tc.source, service: service.Listener.Addr().String()}
		c := family.NodeContext{Tenant: "t", Cluster: "c1", Node: "n1", Hostname: "n1.internal"}
		if _, err := lookAlso(t.Context(), sh, c, "127.0.0.1", nil, &useProbe{notice: p}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		i := p.interruption(app.Node{Name: "n1", MachineID: "m1"})
		if (i != nil) != tc.leaves {
			t.Errorf("%s: %+v, want that it leaves: %t", name, i, tc.leaves)
		}
		if i != nil && (i.Node != "n1" || i.Machine != "m1" || tc.source == execution.NoticeAWS && !i.At.Equal(at)) {
			t.Errorf("%s: %+v, want %s", name, i, at)
		}
	}
	if p := noticeOf(execution.CheckBatchNode{Notice: execution.NoticeGoogle}); p == nil || p.service != metadataService {
		t.Errorf("a node asks %+v", p)
	}
	for _, none := range []execution.NoticeSource{"", "x; reboot"} {
		if p := noticeOf(execution.CheckBatchNode{Notice: none}); p != nil {
			t.Errorf("%q: %+v", none, p)
		}
	}
}
