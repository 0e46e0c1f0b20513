package webhook

import "muster/portal/address"

// portalAt is a portal at an address, "" for one whose address is not known.
func portalAt(base string) Portal { return Portal{Base: base, Path: address.Of} }
