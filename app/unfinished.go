package app

// Unfinished is what an operation that did not end well has left undone, as far as it decides which ways lead on. It's of the same size
// however large the plan is.
type Unfinished struct {
	Failures []Step // the first that failed, in plan order, MostFailedSteps at most
	Failed   int    // how many failed
	Machines int    // nodes whose machines aren't created, set up or deleted to the end
	Other    bool   // something failed, or is left that belongs to no node: more is wrong than machines that are missing
	Stuck    bool   // something is left to do on a node whose machine is gone, other than to delete it
}
