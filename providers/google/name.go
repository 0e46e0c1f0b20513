package google

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"muster/app/family"
	"muster/providers/internal/account"

	"github.com/google/uuid"
)

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}

// machineName is unique for an intent, so that a zone itself refuses a second machine for it: the host name, and a hash.
func machineName(spec family.MachineSpec) string {
	const most = 63
	hash := digest(spec.Tags[family.TagInstallation], spec.Intent)[:12]
	name := account.Name(spec.Hostname)
	if name[0] < 'a' {
		name = "n" + name
	}
	if room := most - 1 - len(hash); len(name) > room {
		name = strings.TrimRight(name[:room], "-")
	}
	return name + "-" + hash
}

// requestID has the cloud answer a call that comes again with the operation of the first one. Fresh makes one that was never used.
func requestID(parts ...string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(strings.Join(parts, "\x00"))).String()
}

func freshID() string { return uuid.NewString() }

// networkTag is what firewall rules know a cluster's machines by, and how the names of its rules begin.
func networkTag(tags map[string]string) string {
	return "muster-" + digest(tags[family.TagInstallation], tags[family.TagCluster])[:20]
}

var (
	plainValue = regexp.MustCompile(`^[a-z0-9_-]{0,63}$`)
	plainKey   = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,62}$`)
)

// hashed is how the label of a value begins that labels cannot hold.
const hashed = "x-"

// ours are the tags that machines are looked for by.
var ours = []string{family.TagInstallation, family.TagTenant, family.TagCluster, family.TagNode, family.TagIntent}

// labelValue returns a value as it is where a label can hold it, else a hash of it. Either way one value has one label.
func labelValue(v string) string {
	if plainValue.MatchString(v) && !strings.HasPrefix(v, hashed) {
		return v
	}
	return hashed + digest(v)[:40]
}

// plainText writes a value for bills and people as labels can hold it: small letters, - for other characters, and cut.
func plainText(v string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(v) {
		if r > unicode.MaxASCII || !plainValue.MatchString(string(r)) {
			r = '-'
		}
		b.WriteRune(r)
	}
	return b.String()[:min(b.Len(), 63)]
}

// labelsOf returns the labels of a machine: our own tags, and the others as far as labels can hold them, for bills and for people.
func labelsOf(tags map[string]string) map[string]string {
	const most = 60 // of 64, to leave room for what others add
	out := make(map[string]string, len(tags))
	for _, k := range ours {
		if v, ok := tags[k]; ok {
			out[k] = labelValue(v)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(tags)) {
		v := tags[k]
		if _, done := out[k]; !done && len(out) < most && plainKey.MatchString(k) {
			out[k] = plainText(v)
		}
	}
	return out
}

// filterOf is what the cloud is asked for: all that carries our own ones among the tags. Whether the others fit is for us to see.
func filterOf(tags map[string]string) string {
	var parts []string
	for _, k := range ours {
		if v := tags[k]; v != "" {
			parts = append(parts, fmt.Sprintf("(labels.%s = %q)", k, labelValue(v)))
		}
	}
	if len(parts) == 0 {
		return "labels." + family.TagInstallation + ":*"
	}
	return strings.Join(parts, " AND ")
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
