package app

// Override is what the amendment wants otherwise than the template has it.
func (m Amendment) Override() Override {
	o := Override{Config: m.Config}
	if m.Kind == OperationAddServices || m.Kind == OperationRemoveServices {
		o.Parts = append(o.Parts, "services")
	}
	if m.Hardware != "" {
		o.Parts = append(o.Parts, "hardware")
	}
	if m.Image != "" {
		o.Parts = append(o.Parts, "image")
	}
	return o
}

// OwnConfig are what people asked for beside the template's own configuration. Clusters from before it was kept apart are
// taken to have asked for all of it.
func (d Definition) OwnConfig() map[string]any {
	if d.Overrides != nil {
		return d.Overrides
	}
	return d.Config
}
