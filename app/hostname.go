package app

import (
	"regexp"
	"strconv"
	"strings"
)

// DefaultDNSSuffix ends host names where neither request nor template say otherwise; "internal" is reserved for this.
const DefaultDNSSuffix = "internal"

// maxSlug leaves room for "-<number>-n<number>" within a DNS label of 63.
const maxSlug = 40

var (
	clusterName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,62}$`)
	dnsSuffix   = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)
	notInLabel  = regexp.MustCompile(`[^a-z0-9]+`)
)

// CheckClusterName refuses what cannot be the name of a cluster: EInvalid, field name.
func CheckClusterName(name string) error {
	if clusterName.MatchString(name) {
		return nil
	}
	return &Error{Code: EInvalid, Field: "name", Message: "A cluster name must start with a letter and have at most 63 letters, digits, '-', '_' and '.'.",
		Hint: "For example: web-1."}
}

func CheckDNSSuffix(s string) error {
	if len(s) <= 150 && dnsSuffix.MatchString(s) {
		return nil
	}
	return &Error{Code: EInvalid, Field: "dns_suffix", Message: "The DNS suffix isn't a valid lowercase domain name.", Hint: "For example: dev.example.com."}
}

// ClusterID makes an id that is unique by its number and can be part of a DNS label.
func ClusterID(name string, number int64) string {
	slug := strings.Trim(notInLabel.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(slug) > maxSlug {
		slug = strings.TrimRight(slug[:maxSlug], "-")
	}
	return slug + "-" + strconv.FormatInt(number, 10)
}

// Hostname is the full name of a node.
func Hostname(cluster, node, suffix string) string {
	return cluster + "-" + node + "." + strings.TrimPrefix(suffix, ".")
}

// CutLabel splits a host name after its first label.
func CutLabel(host string) (label, suffix string) {
	label, suffix, _ = strings.Cut(host, ".")
	return label, suffix
}
