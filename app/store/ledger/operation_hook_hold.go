package ledger

// What has become of a question that an operation waits for; ” where it waits for none.
const (
	HoldOpen = "open"
	HoldGo   = "go"
	HoldVeto = "veto"
	HoldMoot = "moot" // the operation has ended before there was an answer
)
