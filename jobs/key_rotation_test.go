package jobs

import (
	"context"
	"testing"

	"muster/app"
	"muster/app/execution"
	"muster/app/family"
	"muster/app/template"
)

// standing is a provider whose machines stand; adopting returns err.
type standing struct {
	family.Provider
	err error
}

func (s standing) Adopt(context.Context, string, family.MachineSpec) error { return s.err }

// walling makes firewalls beside it.
type walling struct{ standing }

func (walling) Shared(context.Context, map[string]string) ([]family.SharedThing, error) {
	return nil, nil
}
func (walling) DeleteShared(context.Context, string) error { return nil }

// rigid makes firewalls, and cannot put them on an existing machine.
type rigid struct{ walling }

func (rigid) Has(power any) bool { _, adopts := power.(*family.Adopter); return !adopts }

// A machine of a pool is used with the tags that it had, but not without the firewall that its new cluster has.
func TestAdoptingMachinesOfPools(t *testing.T) {
	t.Parallel()
	refused := app.Errorf(app.EInvalid, "It cannot be done.")
	for name, c := range map[string]struct {
		p        family.Provider
		firewall *template.Firewall
		want     app.Code
		renamed  bool
	}{
		"adopted":                                         {p: standing{}, renamed: true},
		"adopted, behind the firewall":                    {p: walling{}, firewall: &template.Firewall{}, renamed: true},
		"refused, and no firewall":                        {p: walling{standing{err: refused}}},
		"refused, and no firewalls":                       {p: standing{err: refused}, firewall: &template.Firewall{}},
		"refused, so it is not behind it":                 {p: walling{standing{err: refused}}, firewall: &template.Firewall{}, want: app.EInvalid},
		"cannot be put behind it":                         {p: rigid{}, firewall: &template.Firewall{}, want: app.EInvalid},
		"cannot be put behind it, which there is none of": {p: rigid{}, renamed: true},
		"again later":                                     {p: standing{err: app.Errorf(app.ETransient, "Not now.")}, want: app.ETransient},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			as := &execution.Assignment{FromPool: &execution.FromPool{Pool: "warm"}, Machine: family.MachineSpec{Hostname: "n7", Firewall: c.firewall}}
			m := family.Machine{ID: "m-1", Hostname: "pooled", OwnRoot: true}
			err := adopt(t.Context(), c.p, as, &m, func(app.Stream, string) {})
			if (err != nil) != (c.want != "") || err != nil && app.CodeOf(err) != c.want || (m.Hostname == "n7") != c.renamed {
				t.Errorf("%v, and the machine is called %s", err, m.Hostname)
			}
		})
	}
}
