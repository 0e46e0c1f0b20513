package digitalocean

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"muster/app"
	"muster/app/family"
	"pgregory.net/rapid"
)

// A card that is written again counts when it is whole, and until then the one before it does.
func TestTagsAreRewritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fixed := map[string]string{family.TagIntent: "i", family.TagInstallation: "n"}
		draw := func(label string, turn int) (card, []string) {
			k := card{tags: rapid.MapOfN(rapid.StringN(1, 20, 60), rapid.StringN(0, 200, 240), 1, 8).Draw(t, label), volume: true, turn: turn}
			maps.Copy(k.tags, fixed)
			out, err := k.write()
			if err != nil {
				t.Fatal(err)
			}
			return k, slices.DeleteFunc(out, func(tag string) bool { return !strings.HasPrefix(tag, ownPrefix) })
		}
		turn := rapid.IntRange(0, len(pieces)-2).Draw(t, "turn")
		before, have := draw("before", turn)
		after, next := draw("after", turn+1)
		always := []string{tag(family.TagIntent, "i"), tag(family.TagInstallation, "n")}
		n := rapid.IntRange(0, len(next)).Draw(t, "written")
		all := slices.Concat(always, have, next[:n])
		want := before
		if n == len(next) {
			want = after
			all = slices.Concat(always, next, have[:rapid.IntRange(0, len(have)).Draw(t, "left")])
		}
		got := readCard(rapid.Permutation(all).Draw(t, "order"))
		if !maps.Equal(got.tags, want.tags) || got.turn != want.turn || !got.volume {
			t.Fatalf("%d of %d written: %+v, want %+v", n, len(next), got, want)
		}
	})
	if _, err := (card{tags: map[string]string{family.TagIntent: "i"}, turn: len(pieces)}).write(); app.CodeOf(err) != app.EConflict {
		t.Errorf("after the last turn: %v", err)
	}
}

// Whatever tags a machine has come back as they were, in letters that DigitalOcean takes, whose case does not matter, and in any order.
func TestTagsRoundTrip(t *testing.T) {
	const line = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
	rapid.Check(t, func(t *rapid.T) {
		k := card{
			tags:   rapid.MapOfN(rapid.StringN(0, 20, 60), rapid.StringN(0, 60, 240), 0, 8).Draw(t, "tags"),
			volume: rapid.Bool().Draw(t, "volume"),
			user:   rapid.SampledFrom([]string{"", "debian", "Jürgen_x"}).Draw(t, "user"),
			key:    rapid.SampledFrom([]string{"", line}).Draw(t, "key"),
		}
		k.tags[family.TagIntent] = rapid.StringN(1, 20, 40).Draw(t, "intent")
		k.tags[family.TagInstallation] = rapid.StringN(1, 20, 40).Draw(t, "installation")
		out, err := k.write()
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range out {
			if !simTag.MatchString(tag) || tag != strings.ToLower(tag) {
				t.Fatalf("%q cannot be a tag, or is another in small letters", tag)
			}
		}
		others := append([]string{"web", "env:prod", "muster", "muster-own", "muster-own:x", "muster-intent", firewallTag("i", "c")}, rapid.Permutation(out).Draw(t, "order")...)
		got := readCard(others)
		if !maps.Equal(got.tags, k.tags) || got.volume != k.volume || got.user != k.user || got.key != k.key {
			t.Fatalf("%+v comes back as %+v, by %q", k, got, out)
		}
	})
}

func TestLabelsAreTagsOfTheirOwn(t *testing.T) {
	tags := map[string]string{family.TagInstallation: "i", family.TagIntent: "one", family.TagOwner: "ada", "cost-centre": "R&D 7", "team": "Ünï"}
	want := []string{"cost-centre:r_d_7", "team:_n_"}
	if got := labelTags(tags); !slices.Equal(got, want) {
		t.Errorf("tags %q, want %q", got, want)
	}
	all, err := card{tags: tags}.write()
	if err != nil {
		t.Fatal(err)
	}
	if got := readCard(append(all, want...)).tags; !maps.Equal(got, tags) {
		t.Errorf("read as %v", got)
	}
	for _, one := range want { // others may carry them, too
		if slices.Contains(ownTags(append(all, want...)), one) {
			t.Errorf("%s goes with the droplet", one)
		}
	}
}

func TestForeignTagsAreIgnored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tail := rapid.StringMatching(`[a-z0-9:_-]{0,60}`)
		readCard([]string{ownPrefix + tail.Draw(t, "own"), family.TagIntent + ":" + tail.Draw(t, "intent"), tail.Draw(t, "any")})
		readFirewallTag(firewallPrefix + tail.Draw(t, "firewall"))
	})
}

func TestTagsThatDoNotFit(t *testing.T) {
	for name, tags := range map[string]map[string]string{
		"an intent":     {family.TagIntent: strings.Repeat("Ü", 50)},
		"all the rest":  {family.TagIntent: "i", "note": strings.Repeat("x", 9000)},
		"both together": {family.TagIntent: strings.Repeat("x", 300), "note": strings.Repeat("x", 9000)},
	} {
		if _, err := (card{tags: tags}).write(); app.CodeOf(err) != app.EInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFirewallTag(t *testing.T) {
	for _, c := range []string{"c1", "a:b", "Größe", ""} {
		tags, ok := readFirewallTag(firewallTag("my:inst", c))
		if !ok || tags[family.TagCluster] != c || tags[family.TagInstallation] != "my:inst" {
			t.Errorf("%q becomes %v", c, tags)
		}
	}
	if n := firewallName("Größe", strings.Repeat("long", 40)); !simFirewallName.MatchString(n) {
		t.Errorf("%q cannot be a firewall's name", n)
	}
}
