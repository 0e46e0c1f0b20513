//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The catalog of a run: four services that need each other, and templates with two to four of them.
var services = []struct {
	name     string
	requires string
	actions  string
}{
	{"store", "", "install configure initialize start stop remove"},
	{"cache", "store", "install configure start stop remove"},
	{"app", "store", "install configure start stop remove"},
	{"web", "app", "install start stop remove"},
}

var templates = []struct {
	name     string
	services string
	rules    string
}{
	{"pair", "store app", "{store: {max: 1}}"},
	{"trio", "store cache app", "{store: {max: 2}}"},
	{"site", "store cache app web", "{store: {max: 1}, web: {max: 2}}"},
}

// Sizes of clusters.
const (
	smallest = 2
	largest  = 8
)

// script does something that is not harmless to do twice, in the middle of some time that follows from the seed: the file
// of effects proves how often it was done, and in which order.
const script = `n=$(printf '%s' "$CONFIG_CHAOS_SEED $MUSTER_OPERATION $MUSTER_STEP" | cksum)
n=${n%% *}
nap() { if [ $((n % 6)) = 0 ]; then sleep "0.$((n / 6 % 90 + 10))"; else sleep "0.0$((n / 6 % 9))"; fi; }
dir=${CONFIG_CHAOS_EFFECTS:+$CONFIG_CHAOS_EFFECTS/$MUSTER_CLUSTER/$MUSTER_NODE}
dir=${dir:-$HOME}
[ -d "$dir" ] || mkdir -p "$dir"
echo "begun: $MUSTER_STEP"
[ ! -e "$CONFIG_CHAOS_FAIL" ] || { echo "made to fail" >&2; exit 3; }
nap
echo "$MUSTER_OPERATION|$MUSTER_STEP" >>"$dir/effects"
nap
echo "done: $MUSTER_STEP"`

// writeCatalog writes the catalog. Provider is the YAML of the account's type and settings; effects, where set, is the
// directory of the files of effects, which otherwise lie in each machine's home. While the file fail is there, scripts fail.
func writeCatalog(dir, provider, image, effects, fail string, seed uint64) error {
	var b strings.Builder
	fmt.Fprintf(&b, "kind: provider\nname: cloud\n%s\n", provider)
	fmt.Fprintf(&b, "---\nkind: hardware\nname: small\nproviders:\n  cloud: {flavor: small, cost_per_hour: 0.01}\n")
	fmt.Fprintf(&b, "---\nkind: image\nname: host\nproviders:\n  cloud: {image: %s, ssh_user: root}\n", image)
	for _, s := range services {
		fmt.Fprintf(&b, "---\nkind: service\nname: %s\n", s.name)
		if s.requires != "" {
			fmt.Fprintf(&b, "runtime:\n  requires: [%s]\n", s.requires)
		}
		b.WriteString("actions:\n")
		for _, a := range strings.Fields(s.actions) {
			fmt.Fprintf(&b, "  %s: |\n    %s\n", a, strings.ReplaceAll(script, "\n", "\n    "))
		}
	}
	for _, t := range templates {
		fmt.Fprintf(&b, "---\nkind: template\nname: %s\ndefaults:\n  services: [%s]\n  provider: cloud\n  hardware: small\n  image: host\n",
			t.name, strings.ReplaceAll(t.services, " ", ", "))
		fmt.Fprintf(&b, "  config:\n    chaos: {seed: \"%d\", effects: %q, fail: %q}\n", seed, effects, fail)
		fmt.Fprintf(&b, "constraints:\n  size: {min: %d, max: %d}\n  services: %s\nlease: {initial: 8h, max: 3d}\n", smallest, largest, t.rules)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(b.String()), 0o600)
}
