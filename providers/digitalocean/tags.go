package digitalocean

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"muster/app"
	"muster/app/family"
)

// Tags of droplets are flat: letters, digits, colons, hyphens and underscores, at most 255, and the case of letters does not tell two apart. A tag stays
// in the account when no one carries it any more. So a droplet of ours carries
//
//	muster-installation:<value>            one in the account for all machines of an installation
//	muster-intent:<value>                  its own, by which it is found, and which goes with it
//	muster-own:<hash>:<n>:<key>:<value>…   all the rest, cut into pieces where it is long; its own, since the hash is of its intent
//	muster-own:<hash>:<turn><n><last>:…    the same, written again later, as when it left a pool: the highest turn that has all its pieces counts
//	muster-firewall:<installation>:<cluster>  where it is behind a firewall, which is put on by this tag
//
// Names and values keep small letters, digits and hyphens; every other byte is written as _ and two hexadecimal digits.
const (
	ownPrefix      = "muster-own:"
	firewallPrefix = "muster-firewall:"
	longestTag     = 255
	pieces         = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// What we note of a machine beside its tags. None can be the name of a tag: an underscore is followed by two hexadecimal digits there.
const (
	noteVolume = "_volume" // it has a volume
	noteUser   = "_user"   // who is let in
	noteKey    = "_key"    // its host key, where that is of kind ed25519
)

// and, for bills and people, <key>:<value> for each label of its cluster, which is looked for by no one and shared with what else carries it.

// labelTags are the tags for a cluster's labels. They hold no other characters than letters of ASCII, digits, - and _.
func labelTags(tags map[string]string) (out []string) {
	labels := family.LabelsAmong(tags)
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		if labels[k] != "" {
			out = append(out, plain(k)+":"+plain(labels[k]))
		}
	}
	return out
}

// plain writes a text in small letters, with _ for what a tag can't hold.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, strings.ToLower(s))
}

// card is all that a droplet's tags say.
type card struct {
	tags   map[string]string
	volume bool
	user   string
	key    string // in authorized_keys form
	turn   int    // how often it was written again, since tags are put on one after the other
}

// write returns the tags of a droplet; EInvalid for more than they can hold.
func (k card) write() ([]string, error) {
	var out []string
	rest := make([]string, 0, 2*len(k.tags)+6)
	for _, name := range slices.Sorted(maps.Keys(k.tags)) {
		value := k.tags[name]
		if name != family.TagInstallation && name != family.TagIntent {
			rest = append(rest, escape(name), escape(value))
			continue
		}
		t := tag(name, value)
		if len(t) > longestTag {
			return nil, app.Errorf(app.EInvalid, "Tag %s is too long for DigitalOcean (at most %d characters).", name, longestTag)
		}
		out = append(out, t)
	}
	if k.volume {
		rest = append(rest, noteVolume, "1")
	}
	if k.user != "" && k.user != "root" {
		rest = append(rest, noteUser, escape(k.user))
	}
	if raw := rawKey(k.key); raw != "" {
		rest = append(rest, noteKey, raw)
	}
	text := strings.Join(rest, ":")
	prefix := ownPrefix + hash(k.tags[family.TagInstallation], k.tags[family.TagIntent]) + ":"
	if k.turn >= len(pieces) {
		return nil, app.Errorf(app.EConflict, "A droplet's tags can be rewritten at most %d times.", len(pieces)-1)
	}
	head := 1 // letters before a piece
	if k.turn > 0 {
		head = 3
	}
	size := longestTag - len(prefix) - head - 1
	last := (len(text)+size-1)/size - 1
	if last >= len(pieces) {
		return nil, app.Errorf(app.EInvalid, "The machine's tags are too long for DigitalOcean (at most %d characters).", longestTag)
	}
	for n := 0; text != ""; n++ {
		piece := text[:min(len(text), size)]
		text = text[len(piece):]
		mark := pieces[n : n+1]
		if k.turn > 0 {
			mark = pieces[k.turn:k.turn+1] + mark + pieces[last:last+1]
		}
		out = append(out, prefix+mark+":"+piece)
	}
	return out, nil
}

// turnOf reads which time of writing a piece is of, and how many it came with; 0 of those that Create wrote, all at once.
func turnOf(mark string) (turn, count int, ok bool) {
	if len(mark) != 3 {
		return 0, 0, len(mark) == 1
	}
	turn, last := strings.IndexByte(pieces, mark[0]), strings.IndexByte(pieces, mark[2])
	return turn, last + 1, turn > 0 && last >= 0 && strings.IndexByte(pieces, mark[1]) <= last
}

// readCard reads a droplet's tags; those of others are passed over.
func readCard(tags []string) card {
	k := card{tags: make(map[string]string, 5)}
	own := map[int][]string{}
	wants := map[int]int{}
	for _, t := range tags {
		if strings.HasPrefix(t, ownPrefix) {
			if parts := strings.SplitN(t, ":", 4); len(parts) == 4 {
				if turn, count, ok := turnOf(parts[2]); ok {
					own[turn], wants[turn] = append(own[turn], parts[2]+":"+parts[3]), count
				}
			}
			continue
		}
		if name, value, ok := strings.Cut(t, ":"); ok && (name == family.TagInstallation || name == family.TagIntent) {
			if v, ok := unescape(value); ok {
				k.tags[name] = v
			}
		}
	}
	for turn := range own {
		if turn > k.turn && len(own[turn]) == wants[turn] {
			k.turn = turn
		}
	}
	var text strings.Builder
	slices.Sort(own[k.turn])
	for _, t := range own[k.turn] {
		_, piece, _ := strings.Cut(t, ":")
		text.WriteString(piece)
	}
	if text.Len() == 0 {
		return k
	}
	parts := strings.Split(text.String(), ":")
	for i := 0; i+1 < len(parts); i += 2 {
		k.read(parts[i], parts[i+1])
	}
	return k
}

func (k *card) read(name, value string) {
	v, ok := unescape(value)
	switch {
	case !ok:
	case name == noteVolume:
		k.volume = true
	case name == noteUser:
		k.user = v
	case name == noteKey:
		k.key = keyLine(value)
	default:
		if n, ok := unescape(name); ok {
			k.tags[n] = v
		}
	}
}

// ownTags are those of a droplet's tags that nothing else carries.
func ownTags(tags []string) []string {
	var out []string
	for _, t := range tags {
		if strings.HasPrefix(t, ownPrefix) || strings.HasPrefix(t, family.TagIntent+":") {
			out = append(out, t)
		}
	}
	return out
}

// tag writes one tag that is looked for by its whole text.
func tag(name, value string) string { return escape(name) + ":" + escape(value) }

// firewallTag is carried by the machines behind a cluster's firewall, and by nothing else.
func firewallTag(installation, cluster string) string {
	return firewallPrefix + escape(installation) + ":" + escape(cluster)
}

// readFirewallTag returns the tags of a firewall's tag.
func readFirewallTag(t string) (map[string]string, bool) {
	rest, ok := strings.CutPrefix(t, firewallPrefix)
	installation, cluster, cut := strings.Cut(rest, ":")
	i, iOK := unescape(installation)
	c, cOK := unescape(cluster)
	if !ok || !cut || !iOK || !cOK {
		return nil, false
	}
	return map[string]string{family.TagInstallation: i, family.TagCluster: c}, true
}

func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-':
			b.WriteByte(c)
		default:
			b.WriteByte('_')
			b.WriteString(hex.EncodeToString([]byte{c}))
		}
	}
	return b.String()
}

func unescape(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '_' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		c, err := hex.DecodeString(s[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.Write(c)
		i += 2
	}
	return b.String(), true
}

// hash is short for a machine, among those of all installations.
func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// ed25519Head is what the binary form of such a public key begins with; 32 bytes follow.
const (
	ed25519Kind = "ssh-ed25519"
	ed25519Head = "\x00\x00\x00\x0b" + ed25519Kind + "\x00\x00\x00\x20"
)

// rawKey returns the key itself of a line of kind ed25519, in hexadecimal digits; "" for other kinds.
func rawKey(line string) string {
	fields := strings.Fields(line)
	if len(fields) < 2 || fields[0] != ed25519Kind {
		return ""
	}
	blob, err := base64.StdEncoding.DecodeString(fields[1])
	raw, ok := strings.CutPrefix(string(blob), ed25519Head)
	if err != nil || !ok || len(raw) != 32 {
		return ""
	}
	return hex.EncodeToString([]byte(raw))
}

func keyLine(raw string) string {
	b, err := hex.DecodeString(raw)
	if err != nil || len(b) != 32 {
		return ""
	}
	return ed25519Kind + " " + base64.StdEncoding.EncodeToString(append([]byte(ed25519Head), b...))
}
