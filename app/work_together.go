package app

// NodeKind is so many nodes of one kind.
type NodeKind struct {
	Hardware, Image, Zone string
	Count                 int
}

// Together is what an operation has to make at its provider, as the server counted it a moment ago: machines that are being made may be among them. Those that
// come from pools are not.
type Together struct {
	Machines []MachineNeed
	Standing int // nodes of the cluster that had a machine then
}
