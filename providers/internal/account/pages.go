package account

import "muster/app"

// MaxPages is how many pages of one list are read. Every list of a cloud ends long before; one that doesn't is a fault of the cloud, or of what
// is in between.
const MaxPages = 1000

// EndlessList is the error for a list that has more.
func EndlessList(cloud string) error {
	return app.Errorf(app.ETransient, "A list from %s has more than %d pages.", cloud, MaxPages)
}
