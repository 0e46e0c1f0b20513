//go:build unix

package sandbox

import (
	"context"
	"maps"
	"strings"

	"golang.org/x/crypto/ssh"
	"muster/app/family"
)

var _ family.Adopter = (*Provider)(nil)

// Adopt has a machine carry other tags and another name. Who is let into a machine with files of its own is said there; into one that shares the host's, by us.
// A host name that the machine's kernel tells is changed from within.
func (p *Provider) Adopt(ctx context.Context, id string, spec family.MachineSpec) error {
	if _, _, _, rest, err := ssh.ParseAuthorizedKey([]byte(spec.AuthorizedKey)); err != nil || len(rest) > 0 {
		return invalid("authorized_key", "the authorized key must be one line in authorized_keys format")
	}
	r, unlock, err := p.hold(ctx, id)
	if err != nil {
		return err
	}
	defer unlock()
	if spec.Intent != r.Intent || spec.Tags[family.TagIntent] != r.Intent {
		return invalid("intent", "machine %s was created for another intent", id)
	}
	if r.Mode == ModeProcess {
		if err := writeFile(p.files.file(id, "authorized_key"), []byte(strings.TrimSpace(spec.AuthorizedKey)+"\n"), 0o600); err != nil {
			return err
		}
	}
	if r.Hostname == spec.Hostname && maps.Equal(r.Tags, spec.Tags) {
		return nil
	}
	r.Hostname, r.Tags = spec.Hostname, maps.Clone(spec.Tags)
	return p.files.save(r)
}
