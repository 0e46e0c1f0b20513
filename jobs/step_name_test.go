package jobs

import (
	"context"
	"strings"
	"testing"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
)

// naming keeps names in a zone.
type naming struct {
	family.Provider
	zone  string
	err   error
	named *family.Machine
}

func (n naming) NameZone() string { return n.zone }

func (n naming) SetName(_ context.Context, m family.Machine) error { *n.named = m; return n.err }

func TestNamesOfMachines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		zone, host string
		err        error
		named      bool
		said       string
	}{
		"in the zone":           {zone: "example.org", host: "c1-n1.lab.example.org", named: true, said: "is in DNS zone example.org"},
		"in another one":        {zone: "example.org", host: "c1-n1.local", said: "isn't in zone example.org"},
		"the zone's own name":   {zone: "example.org", host: "example.org", said: "isn't in zone"},
		"a name that ends like": {zone: "example.org", host: "c1-n1.myexample.org", said: "isn't in zone"},
		"no zone":               {host: "c1-n1.example.org"},
		"someone else's":        {zone: "example.org", host: "c1-n1.example.org", err: app.Errorf(app.EConflict, "It has a record."), named: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := naming{zone: c.zone, err: c.err, named: &family.Machine{}}
			as := &execution.Assignment{Node: app.Node{Hostname: c.host}, Machine: family.MachineSpec{Tags: map[string]string{family.TagIntent: "i-1"}}}
			var said strings.Builder
			err := setName(t.Context(), p, as, family.Machine{Hostname: "pooled", Addresses: map[string]string{app.AddressAccess: "192.0.2.1"}}, func(_ app.Stream, line string) { said.WriteString(line) })
			if app.CodeOf(err) != app.CodeOf(c.err) || !strings.Contains(said.String(), c.said) || c.said == "" && said.Len() > 0 {
				t.Errorf("%q, %v", said.String(), err)
			}
			if got := *p.named; c.named != (got.Hostname == c.host) || c.named && got.Tags[family.TagIntent] != "i-1" {
				t.Errorf("named %+v", got)
			}
		})
	}
	if err := setName(t.Context(), standing{}, &execution.Assignment{}, family.Machine{}, nil); err != nil {
		t.Errorf("a provider without names: %v", err)
	}
}
