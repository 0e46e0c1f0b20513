package azure

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"muster/app"
	"muster/app/family"
)

// Names of what is created. A machine's ID is the name of its VM; firewalls have names of their own form.
var (
	machineForm  = regexp.MustCompile(`^muster-[0-9a-f]{20}$`)
	partForm     = regexp.MustCompile(`^(muster-[0-9a-f]{20})-(nic|ip)$`)
	firewallForm = regexp.MustCompile(`^muster-fw-[0-9a-f]{20}$`)
)

func digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])[:20]
}

// machineName is the intent's: Resource Manager itself refuses a second machine of that name.
func machineName(tags map[string]string, intent string) string {
	return "muster-" + digest(tags[family.TagInstallation], intent)
}

func firewallName(tags map[string]string) string {
	return "muster-fw-" + digest(tags[family.TagInstallation], tags[family.TagCluster])
}

func cardName(machine string) string    { return machine + "-nic" }
func addressName(machine string) string { return machine + "-ip" }
func diskNames(machine string) []string { return []string{machine + "-os", machine + "-data"} }

// idOf is the resource ID of something in the resource group, of a type such as Microsoft.Network/networkInterfaces.
func (s settings) idOf(kind, name string) string {
	return "/subscriptions/" + s.subscription + "/resourceGroups/" + s.group + "/providers/" + kind + "/" + name
}

const (
	kindCard    = "Microsoft.Network/networkInterfaces"
	kindAddress = "Microsoft.Network/publicIPAddresses"
	kindWall    = "Microsoft.Network/networkSecurityGroups"
	kindMembers = "Microsoft.Network/applicationSecurityGroups"
)

// base is the last part of a resource's ID, in small letters: Azure doesn't keep the case of IDs.
func base(id *string) string {
	text := value(id)
	return strings.ToLower(text[strings.LastIndex(text, "/")+1:])
}

func ref[T any](v T) *T { return &v }

func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// Tags of Muster's own beside those of the contract. What they hold can't be read off a machine.
const (
	tagHostname = "muster-azure-hostname"
	tagUser     = "muster-azure-user"
	tagHostKey  = "muster-azure-host-key" // the public half
	tagMade     = "muster-azure-created"
	hiddenTags  = "muster-azure-"
)

// Limits of tags.
const (
	mostTags    = 50
	longestTag  = 512
	longestText = 256
)

// reservedTags are beginnings that Azure keeps for itself. A tag that begins so gets escapedTag before it, and so does one that begins with that.
var reservedTags = []string{"azure", "microsoft", "windows", escapedTag}

const escapedTag = "x-"

func tagsFor(tags map[string]string) (map[string]*string, error) {
	out := make(map[string]*string, len(tags)+4)
	for k, v := range tags {
		for _, begin := range reservedTags {
			if strings.HasPrefix(strings.ToLower(k), begin) {
				k = escapedTag + k
				break
			}
		}
		if k == "" || len(k) > longestTag || strings.ContainsAny(k, `<>%&\?/`) || len([]rune(v)) > longestText {
			e := app.Errorf(app.EInvalid, "Azure can't store the tag %.60q.", k)
			e.Hint = `A name must have at most 512 characters without <>%&\?/, a value at most 256.`
			return nil, e
		}
		out[k] = ref(v)
	}
	if len(out) > mostTags-4 { // ours
		return nil, app.Errorf(app.EInvalid, "A machine has %d tags; Azure allows %d.", len(out)+4, mostTags)
	}
	return out, nil
}

// tagsFrom returns a resource's tags without those that are hidden.
func tagsFrom(tags map[string]*string) map[string]string {
	out := make(map[string]string, len(tags))
	for k, v := range tags {
		if !strings.HasPrefix(k, hiddenTags) {
			out[strings.TrimPrefix(k, escapedTag)] = value(v)
		}
	}
	return out
}

func carries(has, wanted map[string]string) bool {
	for k, v := range wanted {
		if got, ok := has[k]; !ok || got != v {
			return false
		}
	}
	return true
}

// now is when something was made, as a tag.
func now() *string { return ref(time.Now().UTC().Format(time.RFC3339)) }

func when(tags map[string]*string) time.Time {
	t, _ := time.Parse(time.RFC3339, value(tags[tagMade]))
	return t
}
