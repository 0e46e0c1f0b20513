package template

import "slices"

// ProviderField is a setting of a provider that users see when they create a cluster, and, with Override, set for it. What is empty is as the
// provider's type says.
type ProviderField struct {
	Name      string   `json:"name"`
	Label     string   `json:"label,omitempty"`
	Help      string   `json:"help,omitempty"`
	Type      string   `json:"type,omitempty"` // see family.FieldTypes
	Default   string   `json:"default,omitempty"`
	Override  bool     `json:"override,omitempty"`
	Required  bool     `json:"required,omitempty"`
	Sensitive bool     `json:"sensitive,omitempty"` // kept encrypted, and never shown
	Options   []string `json:"options,omitempty"`
	Pattern   string   `json:"pattern,omitempty"` // a regular expression for the whole value
	Min       *int     `json:"min,omitempty"`
	Max       *int     `json:"max,omitempty"`
}

// NeedsOwn reports whether the provider has no account by itself: its users must set something that it doesn't.
func (s *ProviderSpec) NeedsOwn() bool {
	return s.Own == nil && slices.ContainsFunc(s.Fields, func(f ProviderField) bool {
		v, set := s.Settings[f.Name]
		return f.Override && f.Required && (!set || v == nil || v == "")
	})
}

// LeavesOpen reports whether a setting is left to users, since the provider has no value for it.
func (s *ProviderSpec) LeavesOpen(name string) bool {
	v, set := s.Settings[name]
	return s.Own == nil && (!set || v == nil || v == "") && slices.ContainsFunc(s.Fields, func(f ProviderField) bool { return f.Override && f.Name == name })
}

// MostProviderFields is how many settings of a provider users may set.
const MostProviderFields = 50

// ProviderOwn says what of a provider's settings a cluster's users have set.
type ProviderOwn struct {
	Names []string `json:"names"` // of the settings, sorted
	// Cluster is the cluster whose account this is; "" where the values change its machines only, which are in the provider's own account.
	Cluster string `json:"cluster,omitempty"`
	// Credentials says that the account is opened with the users' credentials, and none of the provider's.
	Credentials bool `json:"credentials,omitempty"`
	// Broken is why the account can't be opened, such as that the values can't be decrypted; "" where it can.
	Broken string `json:"-"`
}

// ClusterAccountName names the account of one cluster.
func ClusterAccountName(tenant, provider, cluster string) string {
	return AccountName(tenant, provider) + "@" + cluster
}
