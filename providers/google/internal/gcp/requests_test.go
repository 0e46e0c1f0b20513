package gcp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

// recorder is a server that keeps what it was asked last and answers with text.
type recorder struct {
	*httptest.Server
	method, uri, body string
	header            http.Header

	status int
	answer string
	calls  int
}

func record(t *testing.T) *recorder {
	r := &recorder{status: http.StatusOK, answer: "{}"}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, asked *http.Request) {
		body, _ := io.ReadAll(asked.Body)
		r.calls++
		r.method, r.uri, r.body, r.header = asked.Method, asked.RequestURI, string(body), asked.Header
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, r.answer)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) client() *Client { return New(r.Client(), r.URL+"/compute/v1/", r.URL) }

func ptr[T any](v T) *T { return &v }

func pass[T any](*T) error { return nil }

func alone[T any](_ T, err error) error { return err }

// The domain in the project's id is escaped wherever it is in a path.
const project = "example.com:acme"

var (
	wholeInstance = &Instance{
		Name: "web-1", Description: "Created by Muster for web.example.org", Hostname: "web.example.org", MachineType: "zones/europe-west3-a/machineTypes/e2-medium",
		Metadata: &Metadata{Items: []*MetadataItem{{Key: "empty", Value: ptr("")}, {Key: "script", Value: ptr("a && b > c")}}},
		Labels:   map[string]string{"team": "blue"}, Tags: &Tags{Items: []string{"muster-1"}},
		Disks: []*AttachedDisk{
			{Boot: true, AutoDelete: true, Type: "PERSISTENT", Mode: "READ_WRITE", InitializeParams: &InitializeParams{
				SourceImage: "projects/p/global/images/family/f", DiskSizeGB: 20, DiskType: "zones/z/diskTypes/pd-ssd", Labels: map[string]string{"team": "blue"}}},
			{AutoDelete: true, InitializeParams: &InitializeParams{DiskSizeGB: 50}},
		},
		NetworkInterfaces: []*NetworkInterface{{Network: "projects/p/global/networks/n", Subnetwork: "projects/p/regions/r/subnetworks/s",
			AccessConfigs: []*AccessConfig{{Name: "External NAT", Type: "ONE_TO_ONE_NAT"}}}},
		Scheduling:      &Scheduling{AutomaticRestart: ptr(false), ProvisioningModel: "SPOT", InstanceTerminationAction: "STOP", OnHostMaintenance: "TERMINATE"},
		ServiceAccounts: []*ServiceAccount{{Email: "web@p.iam.gserviceaccount.com", Scopes: []string{"https://www.googleapis.com/auth/cloud-platform"}}},
	}
	wholeFirewall = &Firewall{Name: "muster-1-ssh-v4", Description: `{"muster-cluster":"c"}`, Network: "projects/p/global/networks/n",
		Direction: "INGRESS", Priority: 1000, SourceRanges: []string{"0.0.0.0/0"}, SourceTags: []string{"a"}, TargetTags: []string{"b"},
		Allowed: []*FirewallTraffic{{IPProtocol: "tcp", Ports: []string{"22"}}}, Denied: []*FirewallTraffic{{IPProtocol: "all"}}}
	wholeSet = &RecordSet{Name: "web.example.org.", Type: "A", TTL: 60, Data: []string{"192.0.2.1"}}
)

const (
	instanceBody = `{"name":"web-1","description":"Created by Muster for web.example.org","hostname":"web.example.org",` +
		`"machineType":"zones/europe-west3-a/machineTypes/e2-medium",` +
		`"labels":{"team":"blue"},"metadata":{"items":[{"key":"empty","value":""},{"key":"script","value":"a \u0026\u0026 b \u003e c"}]},` +
		`"tags":{"items":["muster-1"]},` +
		`"disks":[{"boot":true,"autoDelete":true,"type":"PERSISTENT","mode":"READ_WRITE",` +
		`"initializeParams":{"sourceImage":"projects/p/global/images/family/f","diskSizeGb":"20",` +
		`"diskType":"zones/z/diskTypes/pd-ssd","labels":{"team":"blue"}}},{"autoDelete":true,"initializeParams":{"diskSizeGb":"50"}}],` +
		`"networkInterfaces":[{"network":"projects/p/global/networks/n","subnetwork":"projects/p/regions/r/subnetworks/s","accessConfigs":[{"name":"External NAT",` +
		`"type":"ONE_TO_ONE_NAT"}]}],"scheduling":{"automaticRestart":false,"provisioningModel":"SPOT","instanceTerminationAction":"STOP",` +
		`"onHostMaintenance":"TERMINATE"},` +
		`"serviceAccounts":[{"email":"web@p.iam.gserviceaccount.com","scopes":["https://www.googleapis.com/auth/cloud-platform"]}]}`
	firewallBody = `{"name":"muster-1-ssh-v4","description":"{\"muster-cluster\":\"c\"}",` +
		`"network":"projects/p/global/networks/n","direction":"INGRESS",` +
		`"priority":1000,"sourceRanges":["0.0.0.0/0"],"sourceTags":["a"],"targetTags":["b"],` +
		`"allowed":[{"IPProtocol":"tcp","ports":["22"]}],"denied":[{"IPProtocol":"all"}]}`
	setBody = `{"name":"web.example.org.","type":"A","ttl":60,"rrdatas":["192.0.2.1"]}`

	compute = "/compute/v1/projects/example.com%3Aacme"
	plain   = "?alt=json&prettyPrint=false"
	paged   = "?alt=json&maxResults=500&prettyPrint=false"
	under   = "?alt=json&prettyPrint=false&requestId=r-1"

	escaped = "Image of a name that no image can have"
)

// calls holds every call of the client, and what it is on the wire. TestCallsAreAsGoogleDescribesThem compares them with Google's descriptions.
var calls = map[string]struct {
	call func(ctx context.Context, c *Client) error
	want string // method and target
	body string
}{
	"Project": {func(ctx context.Context, c *Client) error { return alone(c.Project(ctx, project)) }, "GET " + compute + plain, ""},
	"Zones":   {func(ctx context.Context, c *Client) error { return c.Zones(ctx, project, pass) }, "GET " + compute + "/zones" + paged, ""},
	"Zone":    {func(ctx context.Context, c *Client) error { return alone(c.Zone(ctx, project, "z")) }, "GET " + compute + "/zones/z" + plain, ""},
	"Region":  {func(ctx context.Context, c *Client) error { return alone(c.Region(ctx, project, "r")) }, "GET " + compute + "/regions/r" + plain, ""},
	"MachineTypes": {func(ctx context.Context, c *Client) error { return c.MachineTypes(ctx, project, "z", pass) },
		"GET " + compute + "/zones/z/machineTypes" + paged, ""},
	"MachineType": {func(ctx context.Context, c *Client) error {
		return alone(c.MachineType(ctx, project, "z", "n2-custom-4-8192"))
	},
		"GET " + compute + "/zones/z/machineTypes/n2-custom-4-8192" + plain, ""},
	"DiskType": {func(ctx context.Context, c *Client) error { return alone(c.DiskType(ctx, project, "z", "pd-ssd")) },
		"GET " + compute + "/zones/z/diskTypes/pd-ssd" + plain, ""},
	"Images": {func(ctx context.Context, c *Client) error { return c.Images(ctx, project, pass) }, "GET " + compute + "/global/images" + paged, ""},
	"Image":  {func(ctx context.Context, c *Client) error { return alone(c.Image(ctx, project, "i")) }, "GET " + compute + "/global/images/i" + plain, ""},
	escaped: {func(ctx context.Context, c *Client) error { return alone(c.Image(ctx, project, "a b/c?d")) },
		"GET " + compute + "/global/images/a%20b%2Fc%3Fd" + plain, ""},
	"OwnImages": {func(ctx context.Context, c *Client) error { return c.OwnImages(ctx, project, `(labels.a = "b")`, pass) },
		"GET " + compute + "/global/images?alt=json&filter=%28labels.a+%3D+%22b%22%29&maxResults=500&prettyPrint=false&returnPartialSuccess=false", ""},
	"InsertImage": {func(ctx context.Context, c *Client) error {
		return alone(c.InsertImage(ctx, project, &Image{Name: "i", Description: "x", SourceDisk: "projects/p/zones/z/disks/d",
			Labels: map[string]string{"k": ""}}, "r-1"))
	}, "POST " + compute + "/global/images?alt=json&forceCreate=true&prettyPrint=false&requestId=r-1",
		`{"name":"i","description":"x","sourceDisk":"projects/p/zones/z/disks/d","labels":{"k":""}}`},
	"DeleteImage": {func(ctx context.Context, c *Client) error { return alone(c.DeleteImage(ctx, project, "i", "r-1")) },
		"DELETE " + compute + "/global/images/i" + under, ""},
	"ImageFromFamily": {func(ctx context.Context, c *Client) error { return alone(c.ImageFromFamily(ctx, project, "f")) },
		"GET " + compute + "/global/images/family/f" + plain, ""},
	"Network": {func(ctx context.Context, c *Client) error { return alone(c.Network(ctx, project, "n")) }, "GET " + compute + "/global/networks/n" + plain, ""},
	"Subnetwork": {func(ctx context.Context, c *Client) error { return alone(c.Subnetwork(ctx, project, "r", "s")) },
		"GET " + compute + "/regions/r/subnetworks/s" + plain, ""},
	"Instances": {func(ctx context.Context, c *Client) error {
		return c.Instances(ctx, project, `(labels.a = "b") AND (labels.c = "d")`, pass)
	},
		"GET " + compute + "/aggregated/instances?alt=json&filter=%28labels.a+%3D+%22b%22%29+AND+%28labels.c+%3D+%22d%22%29" +
			"&maxResults=500&prettyPrint=false&returnPartialSuccess=false", ""},
	"Instance": {func(ctx context.Context, c *Client) error { return alone(c.Instance(ctx, project, "z", "i")) },
		"GET " + compute + "/zones/z/instances/i" + plain, ""},
	"InsertInstance": {func(ctx context.Context, c *Client) error {
		return alone(c.InsertInstance(ctx, project, "z", wholeInstance, "r-1"))
	},
		"POST " + compute + "/zones/z/instances" + under, instanceBody},
	"DeleteInstance": {func(ctx context.Context, c *Client) error {
		return alone(c.DeleteInstance(ctx, project, "z", "i", "r-1"))
	},
		"DELETE " + compute + "/zones/z/instances/i" + under, ""},
	"StopInstance": {func(ctx context.Context, c *Client) error {
		return alone(c.StopInstance(ctx, project, "z", "i", "r-1"))
	},
		"POST " + compute + "/zones/z/instances/i/stop" + under, ""},
	"StartInstance": {func(ctx context.Context, c *Client) error {
		return alone(c.StartInstance(ctx, project, "z", "i", "r-1"))
	},
		"POST " + compute + "/zones/z/instances/i/start" + under, ""},
	"ResumeInstance": {func(ctx context.Context, c *Client) error {
		return alone(c.ResumeInstance(ctx, project, "z", "i", "r-1"))
	},
		"POST " + compute + "/zones/z/instances/i/resume" + under, ""},
	"SetMetadata": {func(ctx context.Context, c *Client) error {
		return alone(c.SetMetadata(ctx, project, "z", "i", &Metadata{Fingerprint: "f", Items: []*MetadataItem{{Key: "k", Value: ptr("")}}}, "r-1"))
	}, "POST " + compute + "/zones/z/instances/i/setMetadata" + under, `{"fingerprint":"f","items":[{"key":"k","value":""}]}`},
	"SetLabels": {func(ctx context.Context, c *Client) error {
		return alone(c.SetLabels(ctx, project, "z", "i", &LabelsRequest{LabelFingerprint: "f", Labels: map[string]string{"k": ""}}, "r-1"))
	}, "POST " + compute + "/zones/z/instances/i/setLabels" + under, `{"labels":{"k":""},"labelFingerprint":"f"}`},
	"SetTags": {func(ctx context.Context, c *Client) error {
		return alone(c.SetTags(ctx, project, "z", "i", &Tags{Fingerprint: "f", Items: []string{"t"}}, "r-1"))
	}, "POST " + compute + "/zones/z/instances/i/setTags" + under, `{"fingerprint":"f","items":["t"]}`},
	"Disks": {func(ctx context.Context, c *Client) error { return c.Disks(ctx, project, `(labels.a = "b")`, pass) },
		"GET " + compute + "/aggregated/disks?alt=json&filter=%28labels.a+%3D+%22b%22%29&maxResults=500&prettyPrint=false&returnPartialSuccess=false", ""},
	"Disk": {func(ctx context.Context, c *Client) error { return alone(c.Disk(ctx, project, "z", "d")) },
		"GET " + compute + "/zones/z/disks/d" + plain, ""},
	"InsertDisk": {func(ctx context.Context, c *Client) error {
		return alone(c.InsertDisk(ctx, project, "z", &Disk{Name: "d", Description: "x", SizeGB: 10, Type: "zones/z/diskTypes/pd-ssd",
			Labels: map[string]string{"k": ""}}, "r-1"))
	}, "POST " + compute + "/zones/z/disks" + under, `{"name":"d","description":"x","type":"zones/z/diskTypes/pd-ssd","sizeGb":"10","labels":{"k":""}}`},
	"DeleteDisk": {func(ctx context.Context, c *Client) error { return alone(c.DeleteDisk(ctx, project, "z", "d", "r-1")) },
		"DELETE " + compute + "/zones/z/disks/d" + under, ""},
	"Snapshots": {func(ctx context.Context, c *Client) error { return c.Snapshots(ctx, project, `(labels.a = "b")`, pass) },
		"GET " + compute + "/global/snapshots?alt=json&filter=%28labels.a+%3D+%22b%22%29&maxResults=500&prettyPrint=false&returnPartialSuccess=false", ""},
	"Snapshot": {func(ctx context.Context, c *Client) error { return alone(c.Snapshot(ctx, project, "s")) },
		"GET " + compute + "/global/snapshots/s" + plain, ""},
	"InsertSnapshot": {func(ctx context.Context, c *Client) error {
		return alone(c.InsertSnapshot(ctx, project, "z", "d", &Snapshot{Name: "s", Description: "x", Labels: map[string]string{"k": ""}}, "r-1"))
	}, "POST " + compute + "/zones/z/disks/d/createSnapshot" + under, `{"name":"s","description":"x","labels":{"k":""}}`},
	"DeleteSnapshot": {func(ctx context.Context, c *Client) error { return alone(c.DeleteSnapshot(ctx, project, "s", "r-1")) },
		"DELETE " + compute + "/global/snapshots/s" + under, ""},
	"AttachDisk": {func(ctx context.Context, c *Client) error {
		return alone(c.AttachDisk(ctx, project, "z", "i", &AttachedDisk{Source: "projects/p/zones/z/disks/d", DeviceName: "d", Mode: "READ_WRITE"}, "r-1"))
	}, "POST " + compute + "/zones/z/instances/i/attachDisk" + under, `{"mode":"READ_WRITE","source":"projects/p/zones/z/disks/d","deviceName":"d"}`},
	"DetachDisk": {func(ctx context.Context, c *Client) error {
		return alone(c.DetachDisk(ctx, project, "z", "i", "d", "r-1"))
	},
		"POST " + compute + "/zones/z/instances/i/detachDisk?alt=json&deviceName=d&prettyPrint=false&requestId=r-1", ""},
	"HasGuestAttribute": {func(ctx context.Context, c *Client) error {
		return c.HasGuestAttribute(ctx, project, "z", "i", "muster/started")
	},
		"GET " + compute + "/zones/z/instances/i/getGuestAttributes?alt=json&prettyPrint=false&queryPath=muster%2Fstarted", ""},
	"WaitZone": {func(ctx context.Context, c *Client) error { return alone(c.WaitZone(ctx, project, "z", "o")) },
		"POST " + compute + "/zones/z/operations/o/wait" + plain, ""},
	"WaitRegion": {func(ctx context.Context, c *Client) error { return alone(c.WaitRegion(ctx, project, "r", "o")) },
		"POST " + compute + "/regions/r/operations/o/wait" + plain, ""},
	"WaitGlobal": {func(ctx context.Context, c *Client) error { return alone(c.WaitGlobal(ctx, project, "o")) },
		"POST " + compute + "/global/operations/o/wait" + plain, ""},
	"Firewalls": {func(ctx context.Context, c *Client) error {
		return c.Firewalls(ctx, project, "name eq muster-.*", pass)
	},
		"GET " + compute + "/global/firewalls?alt=json&filter=name+eq+muster-.%2A&maxResults=500&prettyPrint=false", ""},
	"Firewall": {func(ctx context.Context, c *Client) error { return alone(c.Firewall(ctx, project, "f")) },
		"GET " + compute + "/global/firewalls/f" + plain, ""},
	"InsertFirewall": {func(ctx context.Context, c *Client) error {
		return alone(c.InsertFirewall(ctx, project, wholeFirewall, "r-1"))
	},
		"POST " + compute + "/global/firewalls" + under, firewallBody},
	"UpdateFirewall": {func(ctx context.Context, c *Client) error {
		return alone(c.UpdateFirewall(ctx, project, "f", wholeFirewall, "r-1"))
	},
		"PUT " + compute + "/global/firewalls/f" + under, firewallBody},
	"DeleteFirewall": {func(ctx context.Context, c *Client) error { return alone(c.DeleteFirewall(ctx, project, "f", "r-1")) },
		"DELETE " + compute + "/global/firewalls/f" + under, ""},
	"GrantedPermissions": {func(ctx context.Context, c *Client) error {
		return alone(c.GrantedPermissions(ctx, project, []string{"compute.zones.get"}))
	}, "POST /v1/projects/example.com%3Aacme:testIamPermissions" + plain, `{"permissions":["compute.zones.get"]}`},
	"ManagedZones": {func(ctx context.Context, c *Client) error { return c.ManagedZones(ctx, project, "example.org.", pass) },
		"GET /dns/v1/projects/example.com%3Aacme/managedZones?alt=json&dnsName=example.org.&prettyPrint=false", ""},
	"RecordSets": {func(ctx context.Context, c *Client) error {
		return c.RecordSets(ctx, project, "m", "web.example.org.", "TXT", pass)
	},
		"GET /dns/v1/projects/example.com%3Aacme/managedZones/m/rrsets?alt=json&name=web.example.org.&prettyPrint=false&type=TXT", ""},
	"RecordSets of all names": {func(ctx context.Context, c *Client) error { return c.RecordSets(ctx, project, "m", "", "", pass) },
		"GET /dns/v1/projects/example.com%3Aacme/managedZones/m/rrsets" + plain, ""},
	"CreateRecordSet": {func(ctx context.Context, c *Client) error { return c.CreateRecordSet(ctx, project, "m", wholeSet) },
		"POST /dns/v1/projects/example.com%3Aacme/managedZones/m/rrsets" + plain, setBody},
	"PatchRecordSet": {func(ctx context.Context, c *Client) error { return c.PatchRecordSet(ctx, project, "m", wholeSet) },
		"PATCH /dns/v1/projects/example.com%3Aacme/managedZones/m/rrsets/web.example.org./A" + plain, setBody},
	"DeleteRecordSet": {func(ctx context.Context, c *Client) error {
		return c.DeleteRecordSet(ctx, project, "m", "*.example.org.", "A")
	},
		"DELETE /dns/v1/projects/example.com%3Aacme/managedZones/m/rrsets/%2A.example.org./A" + plain, ""},
}

func TestRequests(t *testing.T) {
	server := record(t)
	for name, c := range calls {
		if err := c.call(t.Context(), server.client()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := server.method + " " + server.uri; got != c.want {
			t.Errorf("%s is\n%s, want\n%s", name, got, c.want)
		}
		if server.body != c.body {
			t.Errorf("%s sends\n%s, want\n%s", name, server.body, c.body)
		}
		kind := ""
		if c.body != "" {
			kind = "application/json"
		}
		if h := server.header; h.Get("User-Agent") != "muster" || h.Get("Accept") != "application/json" || h.Get("Content-Type") != kind {
			t.Errorf("%s has the header %v", name, h)
		}
	}
}

// Every call of the client is among those above.
func TestRequestsAreComplete(t *testing.T) {
	for m := range reflect.TypeFor[*Client]().Methods() {
		if _, is := calls[m.Name]; !is {
			t.Errorf("%s is not tried", m.Name)
		}
	}
}

func TestAddresses(t *testing.T) {
	c := New(nil, "", "")
	for base, want := range map[string]string{
		c.compute:                  "https://compute.googleapis.com/compute/v1/projects/p",
		c.dns:                      "https://dns.googleapis.com/projects/p",
		c.manager:                  "https://cloudresourcemanager.googleapis.com/projects/p",
		"http://127.0.0.1:1/x/":    "http://127.0.0.1:1/x/projects/p",
		"http://127.0.0.1:1":       "http://127.0.0.1:1/projects/p",
		"http://127.0.0.1:1/x?y=z": "http://127.0.0.1:1/x/projects/p",
	} {
		r, err := request(t.Context(), http.MethodGet, base, "projects/p", nil, nil)
		if err != nil || strings.TrimSuffix(r.URL.String(), plain) != want {
			t.Errorf("%s leads to %v, %v, want %s", base, r.URL, err, want)
		}
	}
}
