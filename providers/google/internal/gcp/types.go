package gcp

import (
	"fmt"
	"strconv"
)

// Instance is a machine.
type Instance struct {
	ID                 uint64               `json:"id,omitempty,string"`
	Name               string               `json:"name,omitempty"`
	Description        string               `json:"description,omitempty"`
	Hostname           string               `json:"hostname,omitempty"`
	Zone               string               `json:"zone,omitempty"`
	MachineType        string               `json:"machineType,omitempty"`
	Status             string               `json:"status,omitempty"`
	CreationTimestamp  string               `json:"creationTimestamp,omitempty"`
	LastStartTimestamp string               `json:"lastStartTimestamp,omitempty"`
	Labels             map[string]string    `json:"labels,omitempty"`
	LabelFingerprint   string               `json:"labelFingerprint,omitempty"`
	Metadata           *Metadata            `json:"metadata,omitempty"`
	Tags               *Tags                `json:"tags,omitempty"`
	Disks              []*AttachedDisk      `json:"disks,omitempty"`
	NetworkInterfaces  []*NetworkInterface  `json:"networkInterfaces,omitempty"`
	Scheduling         *Scheduling          `json:"scheduling,omitempty"`
	ServiceAccounts    []*ServiceAccount    `json:"serviceAccounts,omitempty"`
	GuestAccelerators  []*AcceleratorConfig `json:"guestAccelerators,omitempty"`
}

// AcceleratorConfig is a number of GPUs that are attached to an instance, all of one model, which is named by its path.
type AcceleratorConfig struct {
	AcceleratorType  string `json:"acceleratorType,omitempty"`
	AcceleratorCount int64  `json:"acceleratorCount,omitempty"`
}

// Metadata is what programs on an instance can read of the metadata server.
type Metadata struct {
	Fingerprint string          `json:"fingerprint,omitempty"`
	Items       []*MetadataItem `json:"items,omitempty"`
}

// MetadataItem has a pointer to its value, since an empty one is sent too.
type MetadataItem struct {
	Key   string  `json:"key,omitempty"`
	Value *string `json:"value,omitempty"`
}

// Tags are network tags, which firewall rules name.
type Tags struct {
	Fingerprint string   `json:"fingerprint,omitempty"`
	Items       []string `json:"items,omitempty"`
}

// AttachedDisk is a disk of an instance.
type AttachedDisk struct {
	Boot             bool              `json:"boot,omitempty"`
	AutoDelete       bool              `json:"autoDelete,omitempty"`
	Type             string            `json:"type,omitempty"`
	Mode             string            `json:"mode,omitempty"`
	Source           string            `json:"source,omitempty"`
	DeviceName       string            `json:"deviceName,omitempty"`
	InitializeParams *InitializeParams `json:"initializeParams,omitempty"`
}

// Disk is a disk by itself.
type Disk struct {
	Name              string            `json:"name,omitempty"`
	Description       string            `json:"description,omitempty"`
	Zone              string            `json:"zone,omitempty"`
	Type              string            `json:"type,omitempty"`
	SizeGB            int64             `json:"sizeGb,omitempty,string"`
	Status            string            `json:"status,omitempty"`
	CreationTimestamp string            `json:"creationTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Users             []string          `json:"users,omitempty"`
	SourceSnapshot    string            `json:"sourceSnapshot,omitempty"`
}

// Snapshot is a copy of a disk.
type Snapshot struct {
	Name              string            `json:"name,omitempty"`
	Description       string            `json:"description,omitempty"`
	SourceDisk        string            `json:"sourceDisk,omitempty"`
	DiskSizeGB        int64             `json:"diskSizeGb,omitempty,string"`
	Status            string            `json:"status,omitempty"`
	CreationTimestamp string            `json:"creationTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
}

// SnapshotList is a page of snapshots.
type SnapshotList struct {
	Page
	Items   []*Snapshot `json:"items,omitempty"`
	Warning *Warning    `json:"warning,omitempty"`
}

// DiskAggregatedList is a page of disks of all zones, by scope.
type DiskAggregatedList struct {
	Page
	Items        map[string]DisksScopedList `json:"items,omitempty"`
	Unreachables []string                   `json:"unreachables,omitempty"`
	Warning      *Warning                   `json:"warning,omitempty"`
}

// DisksScopedList are the disks of one scope.
type DisksScopedList struct {
	Disks   []*Disk  `json:"disks,omitempty"`
	Warning *Warning `json:"warning,omitempty"`
}

// InitializeParams is how a disk is made together with its instance.
type InitializeParams struct {
	SourceImage string            `json:"sourceImage,omitempty"`
	DiskSizeGB  int64             `json:"diskSizeGb,omitempty,string"`
	DiskType    string            `json:"diskType,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
}

// NetworkInterface is how an instance is in a network.
type NetworkInterface struct {
	Network       string          `json:"network,omitempty"`
	Subnetwork    string          `json:"subnetwork,omitempty"`
	NetworkIP     string          `json:"networkIP,omitempty"`
	AccessConfigs []*AccessConfig `json:"accessConfigs,omitempty"`
}

// AccessConfig is an external address.
type AccessConfig struct {
	Name  string `json:"name,omitempty"`
	Type  string `json:"type,omitempty"`
	NatIP string `json:"natIP,omitempty"`
}

// Scheduling has a pointer to its switch, which is on unless false is sent.
type Scheduling struct {
	AutomaticRestart          *bool  `json:"automaticRestart,omitempty"`
	ProvisioningModel         string `json:"provisioningModel,omitempty"`
	InstanceTerminationAction string `json:"instanceTerminationAction,omitempty"`
	OnHostMaintenance         string `json:"onHostMaintenance,omitempty"`
}

// ServiceAccount is whom programs on an instance act as.
type ServiceAccount struct {
	Email  string   `json:"email,omitempty"`
	Scopes []string `json:"scopes,omitempty"`
}

// LabelsRequest asks for other labels.
type LabelsRequest struct {
	Labels           map[string]string `json:"labels,omitempty"`
	LabelFingerprint string            `json:"labelFingerprint,omitempty"`
}

// InstanceAggregatedList holds instances by the zone that they are in.
type InstanceAggregatedList struct {
	Page
	Items        map[string]InstancesScopedList `json:"items,omitempty"`
	Unreachables []string                       `json:"unreachables,omitempty"`
	Warning      *Warning                       `json:"warning,omitempty"`
}

// InstancesScopedList holds the instances of one zone.
type InstancesScopedList struct {
	Instances []*Instance `json:"instances,omitempty"`
	Warning   *Warning    `json:"warning,omitempty"`
}

// Warning says what is missing in a list.
type Warning struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Operation is a change that continues after the call that began it was answered.
type Operation struct {
	Name                string          `json:"name,omitempty"`
	Status              string          `json:"status,omitempty"`
	Zone                string          `json:"zone,omitempty"`
	Region              string          `json:"region,omitempty"`
	Error               *OperationError `json:"error,omitempty"`
	HTTPErrorStatusCode int64           `json:"httpErrorStatusCode,omitempty"`
	HTTPErrorMessage    string          `json:"httpErrorMessage,omitempty"`
}

// OperationError is why an operation failed.
type OperationError struct {
	Errors []*OperationErrorItem `json:"errors,omitempty"`
}

// OperationErrorItem is one of the reasons.
type OperationErrorItem struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
}

// Firewall is a firewall rule of a network.
type Firewall struct {
	Name              string             `json:"name,omitempty"`
	Description       string             `json:"description,omitempty"`
	Network           string             `json:"network,omitempty"`
	Direction         string             `json:"direction,omitempty"`
	Priority          int64              `json:"priority,omitempty"`
	Disabled          bool               `json:"disabled,omitempty"`
	SourceRanges      []string           `json:"sourceRanges,omitempty"`
	SourceTags        []string           `json:"sourceTags,omitempty"`
	TargetTags        []string           `json:"targetTags,omitempty"`
	Allowed           []*FirewallTraffic `json:"allowed,omitempty"`
	Denied            []*FirewallTraffic `json:"denied,omitempty"`
	CreationTimestamp string             `json:"creationTimestamp,omitempty"`
}

// FirewallTraffic is what a rule is about.
type FirewallTraffic struct {
	IPProtocol string   `json:"IPProtocol,omitempty"`
	Ports      []string `json:"ports,omitempty"`
}

// FirewallList is a page of firewall rules.
type FirewallList struct {
	Page
	Items   []*Firewall `json:"items,omitempty"`
	Warning *Warning    `json:"warning,omitempty"`
}

// Project is a project as Compute Engine sees it.
type Project struct {
	Name   string   `json:"name,omitempty"`
	Quotas []*Quota `json:"quotas,omitempty"`
}

// Region is a region.
type Region struct {
	Name   string   `json:"name,omitempty"`
	Quotas []*Quota `json:"quotas,omitempty"`
}

// Quota is how much of something there may be, and is.
type Quota struct {
	Metric string `json:"metric,omitempty"`
	Limit  Double `json:"limit,omitempty"`
	Usage  Double `json:"usage,omitempty"`
}

// Double is a number that may be written as "Infinity", "-Infinity" or "NaN", as Google's APIs do where JSON has no number for it.
type Double float64

// UnmarshalJSON takes both forms.
func (d *Double) UnmarshalJSON(b []byte) error {
	text := string(b)
	switch text {
	case "null":
		return nil
	case `"Infinity"`, `"-Infinity"`, `"NaN"`:
		text = text[1 : len(text)-1]
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%.40s isn't a number", text)
	}
	*d = Double(f)
	return nil
}

// Zone is a zone.
type Zone struct {
	Name   string `json:"name,omitempty"`
	Status string `json:"status,omitempty"`
}

// ZoneList is a page of zones.
type ZoneList struct {
	Page
	Items []*Zone `json:"items,omitempty"`
}

// MachineType is a size of machines.
type MachineType struct {
	Name         string `json:"name,omitempty"`
	Description  string `json:"description,omitempty"`
	GuestCPUs    int64  `json:"guestCpus,omitempty"`
	MemoryMB     int64  `json:"memoryMb,omitempty"`
	Architecture string `json:"architecture,omitempty"`
	// Accelerators are part of each machine of the type.
	Accelerators []*MachineTypeAccelerators `json:"accelerators,omitempty"`
	Deprecated   *Deprecation               `json:"deprecated,omitempty"`
}

// MachineTypeAccelerators is a number of GPUs of one model, by its name.
type MachineTypeAccelerators struct {
	Type  string `json:"guestAcceleratorType,omitempty"`
	Count int64  `json:"guestAcceleratorCount,omitempty"`
}

// MachineTypeList is a page of machine types.
type MachineTypeList struct {
	Page
	Items []*MachineType `json:"items,omitempty"`
}

// Deprecation says whether something is still offered.
type Deprecation struct {
	State string `json:"state,omitempty"`
}

// DiskType is a type of disk.
type DiskType struct {
	Name string `json:"name,omitempty"`
}

// Image is what a disk can be made of.
type Image struct {
	Name              string       `json:"name,omitempty"`
	Family            string       `json:"family,omitempty"`
	Description       string       `json:"description,omitempty"`
	Status            string       `json:"status,omitempty"`
	Architecture      string       `json:"architecture,omitempty"`
	DiskSizeGB        int64        `json:"diskSizeGb,omitempty,string"`
	CreationTimestamp string       `json:"creationTimestamp,omitempty"`
	Deprecated        *Deprecation `json:"deprecated,omitempty"`
	SourceDisk        string       `json:"sourceDisk,omitempty"`

	Labels map[string]string `json:"labels,omitempty"`
}

// ImageList is a page of images.
type ImageList struct {
	Page
	Items   []*Image `json:"items,omitempty"`
	Warning *Warning `json:"warning,omitempty"`
}

// Network is a VPC network.
type Network struct {
	Name                  string `json:"name,omitempty"`
	AutoCreateSubnetworks bool   `json:"autoCreateSubnetworks,omitempty"`
}

// Subnetwork is the part of a network that is in one region.
type Subnetwork struct {
	Name    string `json:"name,omitempty"`
	Network string `json:"network,omitempty"`
}

// Permissions is both what the Resource Manager is asked about and what it answers.
type Permissions struct {
	Permissions []string `json:"permissions,omitempty"`
}

// ManagedZone is a zone of Cloud DNS.
type ManagedZone struct {
	Name       string `json:"name,omitempty"`
	DNSName    string `json:"dnsName,omitempty"`
	Visibility string `json:"visibility,omitempty"`
}

// ManagedZoneList is a page of managed zones.
type ManagedZoneList struct {
	Page
	ManagedZones []*ManagedZone `json:"managedZones,omitempty"`
}

// RecordSet is the records that a name has of one type.
type RecordSet struct {
	Name string   `json:"name,omitempty"`
	Type string   `json:"type,omitempty"`
	TTL  int64    `json:"ttl,omitempty"`
	Data []string `json:"rrdatas,omitempty"`
}

// RecordSetList is a page of record sets.
type RecordSetList struct {
	Page
	Sets []*RecordSet `json:"rrsets,omitempty"`
}
