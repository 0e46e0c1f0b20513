//go:build real && openstack && linux

package openstackreal

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"muster/app"
	"muster/app/family"
	"muster/providers/providertest"
)

// ofIntent returns the ids of an intent's servers, by Nova's own word.
func ofIntent(t *testing.T, intent string) (ids []string) {
	t.Helper()
	all, err := cloud.list("admin", "compute", "/servers/detail?all_tenants=1", "servers")
	must(t, err)
	for _, s := range all {
		if metadata, _ := s["metadata"].(object); metadata[family.TagIntent] == intent && s["status"] != "DELETED" {
			ids = append(ids, s["id"].(string))
		}
	}
	return ids
}

// persist asks for a machine until there is one, each time for as long as an attempt of a step takes at least.
func persist(t *testing.T, p family.Provider, spec family.MachineSpec) family.Machine {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		m, err := p.Create(t.Context(), spec)
		if err == nil {
			return m
		}
		if app.CodeOf(err) != app.ETransient || time.Now().After(deadline) {
			t.Fatalf("create %s again: %v", spec.Intent, err)
		}
	}
}

// TestCreatesThatWereCutOff cancels creates at all moments, in the same and in other intents, and wants one server per intent in the end.
func TestCreatesThatWereCutOff(t *testing.T) {
	h := harness(t, nil)
	moments := []time.Duration{5, 20, 50, 100, 200, 300, 400, 600, 800, 1000, 1500, 2500}
	var intents []string
	p := h.Open(t)
	for i, first := range moments {
		spec, _ := h.Spec(t, fmt.Sprintf("cut-%d", i))
		intents = append(intents, spec.Intent)
		for _, after := range []time.Duration{first, first * 2, 20} {
			ctx, cancel := context.WithTimeout(t.Context(), after*time.Millisecond)
			_, err := p.Create(ctx, spec)
			cancel()
			if err == nil {
				break
			}
		}
		m := persist(t, p, spec)
		if again := persist(t, p, spec); again.ID != m.ID {
			t.Errorf("cut off after %d ms: two machines, %s and %s", first, m.ID, again.ID)
		}
	}
	for i, intent := range intents {
		if ids := ofIntent(t, intent); len(ids) != 1 {
			t.Errorf("cut off after %d ms: the intent has the servers %q", moments[i], ids)
		}
	}
}

// TestCreatesThatAreCarriedOutLate has Nova receive creates seconds after they were given up.
func TestCreatesThatAreCarriedOutLate(t *testing.T) {
	h := harness(t, nil)
	for _, late := range []time.Duration{2 * time.Second, 5500 * time.Millisecond, 9 * time.Second, 20 * time.Second} {
		t.Run(late.String(), func(t *testing.T) {
			p := h.Open(t)
			spec, _ := h.Spec(t, "late")
			cloud.front.delayCreates(late)
			defer cloud.front.delayCreates(0)
			before := cloud.front.faults.Created()
			sent := cloud.front.nth(1, posts("/servers"))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				select {
				case <-sent:
					cancel()
				case <-ctx.Done():
				}
			}()
			if _, err := p.Create(ctx, spec); err == nil {
				t.Fatal("the create wasn't given up")
			}
			m := persist(t, p, spec)
			cloud.front.pending.Wait()
			if ids := ofIntent(t, spec.Intent); len(ids) != 1 || ids[0] != m.ID {
				t.Errorf("the intent has the servers %q, and Create returned %s", ids, m.ID)
			}
			if n := cloud.front.faults.Created() - before; n != 1 {
				t.Errorf("%d calls created the machine of one intent", n)
			}
		})
	}
}

// TestStory is the suite's short form in other accounts: with an application credential, and with fixed addresses.
func TestStory(t *testing.T) {
	id, secret := credential(t)
	for name, changes := range map[string]map[string]any{
		"an application credential": {"username": "", "password": "", "project": "", "application_credential_id": id, "application_credential_secret": secret},
		"fixed addresses":           {"floating_network": "none", "networks": "second"},
		"two networks":              {"networks": "private, second", "config_drive": "false"},
	} {
		t.Run(name, func(t *testing.T) { providertest.RunStory(t, harness(t, changes)) })
	}
}

// credential creates an application credential of the user demo.
func credential(t *testing.T) (id, secret string) {
	t.Helper()
	who, err := cloud.call(demo, "GET", "identity", "/auth/tokens", nil)
	must(t, err)
	user := who["token"].(object)["user"].(object)["id"].(string)
	out, err := cloud.call(demo, "POST", "identity", "/users/"+user+"/application_credentials", object{"application_credential": object{"name": t.Name() + "-" + rand.Text()}})
	must(t, err)
	made := out["application_credential"].(object)
	return made["id"].(string), made["secret"].(string)
}
