package bake

// Use is which nodes of a cluster start from baked images.
type Use struct {
	Images map[string]Image  `json:"images"` // by key
	Nodes  map[string]string `json:"nodes"`  // the key of each node's image
}

// Image is a baked image as a cluster starts from it. The key is also in a file of the machine: where that is missing, the machine is of the base
// image, and its
// installs are yet to be run.
type Image struct {
	Key      string                    `json:"key"`
	Image    string                    `json:"image,omitempty"` // by the provider's name; "" while it is built
	Services []string                  `json:"services"`        // in the order in which they are installed
	Configs  map[string]map[string]any `json:"configs,omitempty"`
	// From is, of one that is built, the shorter one that its machine starts from; nil for the base image.
	From *Image `json:"from,omitempty"`
}

// Of returns the image that a node starts from; nil for none.
func (u *Use) Of(node string) *Image {
	i := u.Built(node)
	if i != nil && i.From != nil {
		return i.From
	}
	return i
}

// Built returns the image that is made of a node's machine, where one is.
func (u *Use) Built(node string) *Image {
	if u == nil {
		return nil
	}
	if i, ok := u.Images[u.Nodes[node]]; ok {
		return &i
	}
	return nil
}

// Add notes that a node starts from an image.
func (u *Use) Add(node string, i Image) {
	if u.Images == nil {
		u.Images, u.Nodes = map[string]Image{}, map[string]string{}
	}
	u.Images[i.Key], u.Nodes[node] = i, i.Key
}
