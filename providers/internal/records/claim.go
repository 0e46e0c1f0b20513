package records

import (
	"net/netip"
	"net/url"
	"strings"

	"muster/app"
	"muster/app/family"
)

// The types that are looked at. A name with a CNAME can have nothing else.
const (
	typeA     = "A"
	typeAAAA  = "AAAA"
	typeCNAME = "CNAME"
	typeTXT   = "TXT"
)

// Seconds is how long others may keep an answer: a machine's address may be another one after it slept.
const Seconds = 60

// claimPrefix comes before a name of the ownership record.
const claimPrefix = "_muster."

// longestText is the most that one text of a TXT record holds.
const longestText = 255

// claim writes whose the records of a name are.
func claim(tags map[string]string) (string, error) {
	v := url.Values{"heritage": {"muster"}}
	for _, name := range []string{family.TagInstallation, family.TagCluster, family.TagIntent} {
		v.Set(name, tags[name])
	}
	text := v.Encode()
	if len(text) > longestText {
		return "", app.Errorf(app.EInvalid, "The names of the installation, cluster and machine are too long together for a TXT record (at most %d characters).", longestText)
	}
	return text, nil
}

// readClaim reads what claim wrote, also in quotes; nil for other texts.
func readClaim(text string) map[string]string {
	v, err := url.ParseQuery(strings.Trim(text, `"`))
	if err != nil || v.Get("heritage") != "muster" || v.Get(family.TagInstallation) == "" || v.Get(family.TagIntent) == "" {
		return nil
	}
	return map[string]string{family.TagInstallation: v.Get(family.TagInstallation), family.TagCluster: v.Get(family.TagCluster), family.TagIntent: v.Get(family.TagIntent)}
}

// ours returns what a set claims, and for which name; nil where it is no claim.
func ours(s Set) (name string, tags map[string]string) {
	name, ok := strings.CutPrefix(s.Name, claimPrefix)
	if !ok || s.Type != typeTXT || s.Routed {
		return "", nil
	}
	for _, text := range s.Values {
		if tags := readClaim(text); tags != nil {
			return name, tags
		}
	}
	return "", nil
}

// Plain writes a name as it is compared: in small letters, and without the dot at its end.
func Plain(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// addresses are what a machine's name leads to, by the type of the record.
func addresses(m family.Machine) map[string]string {
	out := map[string]string{}
	for _, kind := range []string{"access_v6", app.AddressBind, app.AddressAccess} { // what comes last counts
		ip, err := netip.ParseAddr(m.Addresses[kind])
		switch {
		case err != nil:
		case ip.Is4():
			out[typeA] = ip.String()
		case ip.Zone() == "":
			out[typeAAAA] = ip.String()
		}
	}
	return out
}
