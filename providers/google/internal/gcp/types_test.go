package gcp

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// fields are the names and the forms that the reference of each API has for what is sent and read, written apart from the types: a name that is wrong in
// both the client and the simulated API of the tests would be seen by no other test.
var fields = map[string]string{
	"Instance": "creationTimestamp string, description string, disks []AttachedDisk, guestAccelerators []AcceleratorConfig, " +
		"hostname string, id uint64 in a string, " +
		"labelFingerprint string, labels map[string]string, lastStartTimestamp string, " +
		"machineType string, metadata Metadata, name string, networkInterfaces []NetworkInterface, scheduling Scheduling, " +
		"serviceAccounts []ServiceAccount, status string, tags Tags, zone string",
	"Metadata":     "fingerprint string, items []MetadataItem",
	"MetadataItem": "key string, value string",
	"Tags":         "fingerprint string, items []string",
	"AttachedDisk": "autoDelete bool, boot bool, deviceName string, initializeParams InitializeParams, mode string, source string, type string",
	"Disk": "creationTimestamp string, description string, labels map[string]string, name string, sizeGb int64 in a string, " +
		"sourceSnapshot string, status string, type string, users []string, zone string",
	"Snapshot": "creationTimestamp string, description string, diskSizeGb int64 in a string, labels map[string]string, name string, " +
		"sourceDisk string, status string",
	"SnapshotList":           "items []Snapshot, nextPageToken string, warning Warning",
	"DiskAggregatedList":     "items map[string]DisksScopedList, nextPageToken string, unreachables []string, warning Warning",
	"DisksScopedList":        "disks []Disk, warning Warning",
	"InitializeParams":       "diskSizeGb int64 in a string, diskType string, labels map[string]string, sourceImage string",
	"NetworkInterface":       "accessConfigs []AccessConfig, network string, networkIP string, subnetwork string",
	"AccessConfig":           "name string, natIP string, type string",
	"Scheduling":             "automaticRestart bool, instanceTerminationAction string, onHostMaintenance string, provisioningModel string",
	"ServiceAccount":         "email string, scopes []string",
	"LabelsRequest":          "labelFingerprint string, labels map[string]string",
	"InstanceAggregatedList": "items map[string]InstancesScopedList, nextPageToken string, unreachables []string, warning Warning",
	"InstancesScopedList":    "instances []Instance, warning Warning",
	"Warning":                "code string, message string",
	"Operation": "error OperationError, httpErrorMessage string, httpErrorStatusCode int64, name string, region string, status string, " +
		"zone string",
	"OperationError":     "errors []OperationErrorItem",
	"OperationErrorItem": "code string, message string",
	"Firewall": "allowed []FirewallTraffic, creationTimestamp string, denied []FirewallTraffic, description string, direction string, disabled bool, " +
		"name string, network string, priority int64, sourceRanges []string, sourceTags []string, targetTags []string",
	"FirewallTraffic":         "IPProtocol string, ports []string",
	"FirewallList":            "items []Firewall, nextPageToken string, warning Warning",
	"Project":                 "name string, quotas []Quota",
	"Region":                  "name string, quotas []Quota",
	"Quota":                   "limit float64, metric string, usage float64",
	"Zone":                    "name string, status string",
	"ZoneList":                "items []Zone, nextPageToken string",
	"AcceleratorConfig":       "acceleratorCount int64, acceleratorType string",
	"MachineTypeAccelerators": "guestAcceleratorCount int64, guestAcceleratorType string",
	"MachineType": "accelerators []MachineTypeAccelerators, architecture string, deprecated Deprecation, description string, " +
		"guestCpus int64, memoryMb int64, name string",
	"MachineTypeList": "items []MachineType, nextPageToken string",
	"Deprecation":     "state string",
	"DiskType":        "name string",
	"Image": "architecture string, creationTimestamp string, deprecated Deprecation, description string, diskSizeGb int64 in a string, " +
		"family string, labels map[string]string, name string, sourceDisk string, status string",
	"ImageList":       "items []Image, nextPageToken string, warning Warning",
	"Network":         "autoCreateSubnetworks bool, name string",
	"Subnetwork":      "name string, network string",
	"Permissions":     "permissions []string",
	"ManagedZone":     "dnsName string, name string, visibility string",
	"ManagedZoneList": "managedZones []ManagedZone, nextPageToken string",
	"RecordSet":       "name string, rrdatas []string, ttl int64, type string",
	"RecordSetList":   "nextPageToken string, rrsets []RecordSet",
}

func TestFieldNames(t *testing.T) {
	got := map[string]string{}
	for m := range reflect.TypeFor[*Client]().Methods() { // whatever calls take and return, callbacks' pages among it
		for in := range m.Type.Ins() {
			if in.Kind() == reflect.Func {
				in = in.In(0)
			}
			describe(got, in)
		}
		describe(got, m.Type.Out(0))
	}
	describe(got, reflect.TypeFor[Permissions]())
	delete(got, "Client")
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if got[name] != fields[name] {
			t.Errorf("%s has the fields\n%s, want\n%s", name, got[name], fields[name])
		}
	}
	if len(got) != len(fields) {
		t.Errorf("%d types are looked at, want %d", len(got), len(fields))
	}
}

// describe puts the fields of a type of ours, and of those it leads to, into the map.
func describe(into map[string]string, t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return describe(into, t.Elem())
	case reflect.Slice:
		return "[]" + describe(into, t.Elem())
	case reflect.Map:
		return "map[string]" + describe(into, t.Elem())
	case reflect.Struct:
		if _, done := into[t.Name()]; !done && t.PkgPath() == reflect.TypeFor[Client]().PkgPath() {
			into[t.Name()] = ""
			into[t.Name()] = strings.Join(slices.Sorted(slices.Values(fieldsOf(into, t))), ", ")
		}
		return t.Name()
	}
	return t.Kind().String()
}

func fieldsOf(into map[string]string, t reflect.Type) (out []string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous {
			out = append(out, fieldsOf(into, f.Type)...)
			continue
		}
		form := describe(into, f.Type)
		switch options {
		case "omitempty":
		case "omitempty,string":
			form += " in a string"
		default:
			form += fmt.Sprintf(" with the options %q", options)
		}
		out = append(out, name+" "+form)
	}
	return out
}
