package aws

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	appfamily "muster/app/family"
	"muster/app/template"
	"muster/providers/providertest"
)

func TestFamilies(t *testing.T) {
	for kind, want := range map[string]string{
		"t3.small": "L-1216C47A", "m7i.large": "L-1216C47A", "im4gn.large": "L-1216C47A", "is4gen.large": "L-1216C47A", "z1d.large": "L-1216C47A", "M5.large": "L-1216C47A",
		"inf2.xlarge": "L-1945791B", "trn1.2xlarge": "L-2C3B7624", "dl1.24xlarge": "L-6E869C2A", "g5.xlarge": "L-DB2E81BA", "gr6.4xlarge": "L-DB2E81BA", "vt1.3xlarge": "L-DB2E81BA",
		"p5.48xlarge": "L-417A185B", "x2gd.large": "L-7295265B", "u-6tb1.56xlarge": "L-43DA4232", "u7i-12tb.224xlarge": "L-43DA4232", "hpc7a.12xlarge": "L-F7808C92", "f2.6xlarge": "L-74FC7D96",
		"mac2.metal": "", "q1.large": "", "": "",
	} {
		if code, _ := familyOf(kind).quota(false); code != want {
			t.Errorf("%q is counted by %q, want %q", kind, code, want)
		}
	}
	if code, name := familyOf("c7g.large").quota(true); code != "L-34B43A08" || name != "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests" {
		t.Errorf("spot: %s %s", code, name)
	}
	if code, _ := familyOf("p5.48xlarge").quota(true); code != "" {
		t.Errorf("spot machines of P: %s", code)
	}
}

// quotaDesk is a simulated Service Quotas.
type quotaDesk struct {
	mu     sync.Mutex
	values map[string]float64
	denied string // the error's name
	asked  []string
	wrong  []string
}

func newQuotaDesk(t *testing.T) (*quotaDesk, string) {
	d := &quotaDesk{values: map[string]float64{}}
	server := httptest.NewServer(d)
	t.Cleanup(func() {
		server.Close()
		for _, w := range d.wrong {
			t.Error(w)
		}
	})
	return d, server.URL
}

func (d *quotaDesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var in struct{ ServiceCode, QuotaCode string }
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
	auth := r.Header.Get("Authorization")
	switch {
	case r.Method != http.MethodPost || r.Header.Get("X-Amz-Target") != "ServiceQuotasV20190624.GetServiceQuota":
		d.wrong = append(d.wrong, "asked for "+r.Method+" "+r.Header.Get("X-Amz-Target"))
	case !strings.Contains(auth, "Credential=AKIDGOOD/") || !strings.Contains(auth, "/eu-test-1/servicequotas/aws4_request"):
		d.wrong = append(d.wrong, "signed as "+auth)
	case json.Unmarshal(body, &in) != nil || in.ServiceCode != "ec2":
		d.wrong = append(d.wrong, "asked by "+string(body))
	}
	d.asked = append(d.asked, in.QuotaCode)
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	if d.denied != "" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"__type":%q,"message":"User is not authorized to perform: servicequotas:GetServiceQuota"}`, d.denied)
		return
	}
	value, ok := d.values[in.QuotaCode]
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"NoSuchResourceException","message":"The request failed because the specified quota doesn't exist."}`)
		return
	}
	_, _ = fmt.Fprintf(w, `{"Quota":{"ServiceCode":"ec2","QuotaCode":%q,"Value":%g}}`, in.QuotaCode, value)
}

// Of the types of the simulated region t9.small has 2 vCPUs and d9.large 4; one t9.small runs.
func TestQuotasOfVCPUs(t *testing.T) {
	const standardCode, spotCode, name = "L-1216C47A", "L-34B43A08", "vCPUs of Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances"
	need := func(n int, kind string, extra ...string) appfamily.MachineNeed {
		m := appfamily.MachineNeed{Count: n, Flavor: template.Flavor{Flavor: kind}}
		if len(extra) > 0 {
			m.Flavor.Extra = map[string]string{extra[0]: extra[1]}
		}
		return m
	}
	for what, c := range map[string]struct {
		values  map[string]float64
		denied  string
		without bool // no address of the quotas' API
		each    bool
		needs   []appfamily.MachineNeed
		warned  []string
		wrong   string
		says    string
	}{
		"enough":                   {values: map[string]float64{standardCode: 10}, needs: []appfamily.MachineNeed{need(4, "t9.small")}, says: "8 of 10 available, 8 needed"},
		"one too many":             {values: map[string]float64{standardCode: 10}, needs: []appfamily.MachineNeed{need(5, "t9.small")}, wrong: "only 8 of 10 available, but 10 needed"},
		"two kinds of a family":    {values: map[string]float64{standardCode: 10}, needs: []appfamily.MachineNeed{need(3, "t9.small"), need(1, "d9.large")}, wrong: "only 8 of 10 available, but 10 needed"},
		"a catalog":                {values: map[string]float64{standardCode: 5}, each: true, needs: []appfamily.MachineNeed{need(1, "t9.small"), need(1, "t9g.small"), need(1, "d9.large")}, warned: []string{"type d9.large"}, says: "3 of 5 available"},
		"a catalog without room":   {values: map[string]float64{standardCode: 3}, each: true, needs: []appfamily.MachineNeed{need(1, "t9.small"), need(1, "d9.large")}, wrong: "each kind needs at least 2 " + name + " (1 of 3 available)"},
		"a catalog without limits": {values: map[string]float64{standardCode: 1e6}, each: true, needs: []appfamily.MachineNeed{need(1, "t9.small"), need(1, "d9.large")}},
		"spot":                     {values: map[string]float64{spotCode: 2}, needs: []appfamily.MachineNeed{need(2, "t9.small", "spot", "true")}, wrong: "only 2 of 2 available, but 4 needed"},
		"spot, or on demand":       {values: map[string]float64{spotCode: 2}, needs: []appfamily.MachineNeed{need(2, "t9.small", "spot", "fallback")}, warned: []string{"vCPUs of All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests"}},
		"may not be asked":         {denied: "AccessDeniedException", needs: []appfamily.MachineNeed{need(2, "t9.small")}, warned: []string{name}, says: "Add servicequotas:GetServiceQuota to the policy"},
		"no such quota":            {needs: []appfamily.MachineNeed{need(2, "t9.small")}, warned: []string{name}, says: "NoSuchResourceException"},
		"broken":                   {denied: "ServiceException", needs: []appfamily.MachineNeed{need(2, "t9.small")}, warned: []string{name}},
		"a family that is unknown": {values: map[string]float64{standardCode: 10}, needs: []appfamily.MachineNeed{need(2, "n9.large")}, warned: []string{"n9.large"}},
		"another EC2":              {without: true, needs: []appfamily.MachineNeed{need(2, "t9.small")}, warned: []string{name}, says: "Set quotas_url too"},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRegion(t)
			desk, url := newQuotaDesk(t)
			desk.values, desk.denied = c.values, c.denied
			settings := map[string]any{"quotas_url": url}
			if c.without {
				settings = nil
			}
			p := r.open(t, settings)
			spec, _ := providertest.Harness{Flavor: "t9.small", Image: "ami-00000001"}.Spec(t, "runs")
			spec.Image.Image = r.sim.images[0].id
			if _, err := p.Create(t.Context(), spec); err != nil {
				t.Fatal(err)
			}
			providertest.Eventually(t, p, listed(t, p)[0].ID)
			found, err := p.CheckAccount(t.Context(), appfamily.AccountNeeds{Each: c.each, Machines: c.needs})
			if err != nil {
				t.Fatal(err)
			}
			warned, wrong := providertest.Lacking(found)
			if !slices.Equal(warned, c.warned) || (len(wrong) == 0) != (c.wrong == "") || !strings.Contains(strings.Join(wrong, " "), c.wrong) {
				t.Errorf("warned of %q, want %q; wrong is %q, want %q", warned, c.warned, wrong, c.wrong)
			}
			if !slices.ContainsFunc(found, func(f appfamily.Finding) bool {
				return f.About == appfamily.AboutQuota && strings.Contains(f.Message+" "+f.Hint, c.says)
			}) {
				t.Errorf("missing %q: %+v", c.says, found)
			}
			if len(desk.asked) > 1 || c.without && len(desk.asked) > 0 {
				t.Errorf("asked for %v", desk.asked)
			}
		})
	}
}

func listed(t *testing.T, p *cloud) []appfamily.Machine {
	t.Helper()
	ms, err := p.List(t.Context(), nil)
	if err != nil || len(ms) == 0 {
		t.Fatalf("%+v, %v", ms, err)
	}
	return ms
}

// Whether machines may be made is tried once for a catalog, with what fits.
func TestDryRunOfACatalog(t *testing.T) {
	flavor := func(name string) appfamily.MachineNeed {
		return appfamily.MachineNeed{Count: 1, Flavor: template.Flavor{Flavor: name}}
	}
	for what, c := range map[string]struct {
		needs  func(r *testRegion) []appfamily.MachineNeed
		denied bool
		tried  int
		says   string
	}{
		"what fits": {tried: 1, says: "Muster can create and tag machines of type t9.small", needs: func(r *testRegion) []appfamily.MachineNeed {
			image := appfamily.MachineNeed{Count: 1, Image: template.Image{Image: r.sim.images[0].id}}
			return []appfamily.MachineNeed{flavor("t9g.small"), flavor("t9.small"), flavor("d9.large"), image, image}
		}},
		"it may not": {denied: true, tried: 1, says: "RunInstances", needs: func(r *testRegion) []appfamily.MachineNeed {
			return []appfamily.MachineNeed{flavor("t9.small"), {Count: 1, Image: template.Image{Image: r.sim.images[0].id}}}
		}},
		"no image": {says: "without an instance type and a matching image", needs: func(*testRegion) []appfamily.MachineNeed { return []appfamily.MachineNeed{flavor("t9.small")} }},
		"none that fits": {says: "without an instance type and a matching image", needs: func(r *testRegion) []appfamily.MachineNeed {
			return []appfamily.MachineNeed{flavor("t9g.small"), {Count: 1, Image: template.Image{Image: r.sim.images[0].id}}}
		}},
		"nothing is named": {says: "without an instance type and a matching image", needs: func(*testRegion) []appfamily.MachineNeed { return nil }},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRegion(t)
			r.sim.denied["RunInstances"] = c.denied
			found, err := r.open(t, nil).CheckAccount(t.Context(), appfamily.AccountNeeds{Each: true, Machines: c.needs(r)})
			if err != nil {
				t.Fatal(err)
			}
			if n := r.sim.asked["RunInstances"]; n != c.tried || len(r.left()) != 0 {
				t.Errorf("it was tried %d times, want %d; %v is left", n, c.tried, r.left())
			}
			if !slices.ContainsFunc(found, func(f appfamily.Finding) bool {
				return f.About == appfamily.AboutPermissions && strings.Contains(f.Message, c.says) && f.OK == (what == "what fits")
			}) {
				t.Errorf("missing %q: %+v", c.says, found)
			}
		})
	}
}
